#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/compare_document.h"
#include "results/presentation/over_tasks_text.h"
#include "results/statistics/compared_tasks.h"

namespace posbench {
namespace {

/// Returns "mine is better than rope on flip_flop (ood_length: 0.42 against 0.16, p = 0.0079)."
std::string task_text(const Comparison& comparison, const ComparedTask& task) {
  const std::string one = candidate_name(comparison, task), &other = task.encoding;
  const std::string numbers =
      fmt::format("{} against {}{}", accuracy_text(task.after_mean), accuracy_text(task.before_mean),
                  task.p ? fmt::format(", p {}{}", *task.p < 0.0001 ? "" : "= ", p_text(task.p)) : "");
  if (task.verdict == Verdict::better || task.verdict == Verdict::worse)
    return fmt::format("{} is {} than {} on {} ({}: {}).", one, to_string(task.verdict), other, task.task,
                       some_names(task.splits, 2), numbers);
  const Count &one_learned = task.after_learned, &other_learned = task.before_learned;
  return fmt::format("{} and {} on {}: {} ({}{}).", one, other, task.task,
                     task.is_mixed ? "better on a split and worse on another" : to_string(task.verdict),
                     task.verdict != Verdict::not_learned
                         ? ""
                         : fmt::format("{} of {} and {} of {} seeds have; ", one_learned.correct,
                                       one_learned.total, other_learned.correct, other_learned.total),
                     numbers);
}

/// Returns "Over 7 tasks mine is better than rope on 3, worse on 1, undecided on 3." Runs are compared over
/// pairs of a task and an encoding.
std::string over_text(const ComparedOverTasks& over, bool of_runs) {
  const size_t count = over.better + over.worse + over.mixed + over.undecided;
  const std::string text =
      fmt::format("Over {}{} {} is better than {} on {}, worse on {}, {}undecided on {}",
                  counted(count, of_runs ? "pair" : "task"), of_runs ? " of task and encoding" : "", over.after,
                  over.before, over.better, over.worse,
                  over.mixed > 0 ? fmt::format("both by split on {}, ", over.mixed) : "", over.undecided);
  if (!over.after_is_better || over.both_learned < 2) return text + ".";
  return fmt::format("{}; on the {} that both have learned, a seed of {} is better with a probability of {}.",
                     text, over.both_learned, over.after, estimate_text(*over.after_is_better));
}

}  // namespace

std::string p_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", *p);
}

std::vector<std::string> conclusions(const Comparison& comparison) {
  std::vector<std::string> lines;
  const std::vector<ComparedTask> tasks = compared_tasks(comparison);
  for (const ComparedTask& task : tasks) {
    if (task.encoding != task.candidate_encoding) lines.push_back(task_text(comparison, task));
  }
  for (const ComparedOverTasks& over : compare_over_tasks(comparison, tasks))
    lines.push_back(over_text(over, over.before == comparison.baseline));
  return lines;
}

}  // namespace posbench
