#include "results/statistics/compared_tasks.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/statistics/statistics.h"

namespace posbench {
namespace {

Verdict verdict_of(const std::vector<const ComparisonRow*>& rows) {
  const auto has = [&](Verdict verdict) {
    return std::ranges::any_of(rows, [&](const ComparisonRow* row) { return row->verdict == verdict; });
  };
  if (has(Verdict::better) != has(Verdict::worse)) return has(Verdict::better) ? Verdict::better : Verdict::worse;
  for (const Verdict verdict :
       {Verdict::better, Verdict::not_learned, Verdict::too_few_seeds, Verdict::inconclusive}) {
    if (has(verdict)) return verdict == Verdict::better ? Verdict::inconclusive : verdict;
  }
  return Verdict::same;
}

/// Returns the mean over the rows of each seed's value.
std::vector<double> mean_of_seeds(const std::vector<const ComparisonRow*>& rows,
                                  ComparisonSide ComparisonRow::*side) {
  std::vector<double> means((rows.front()->*side).values.size());
  for (const ComparisonRow* row : rows) {
    for (size_t n = 0; n < means.size(); ++n)
      means[n] += (row->*side).values[n] / static_cast<double>(rows.size());
  }
  return means;
}

ComparedTask summarize(const std::vector<const ComparisonRow*>& rows) {
  const ComparisonRow& first = *rows.front();
  ComparedTask task{
      .candidate = first.candidate,
      .task = first.task,
      .encoding = first.encoding,
      .candidate_encoding = first.candidate_encoding,
      .verdict = verdict_of(rows),
      .before_learned = first.before.learned.seeds,
      .after_learned = first.after.learned.seeds,
      .have_learned = first.before.learned.by_half_the_seeds() && first.after.learned.by_half_the_seeds()};
  std::vector<const ComparisonRow*> far;
  bool is_better = false, is_worse = false;
  for (const ComparisonRow* row : rows) {
    is_better = is_better || row->verdict == Verdict::better;
    is_worse = is_worse || row->verdict == Verdict::worse;
    if (row->kind == SplitKind::out_of_distribution) far.push_back(row);
  }
  task.is_mixed = is_better && is_worse;
  const auto decides = [&](const ComparisonRow* row) { return row->verdict == task.verdict; };
  if (is_better != is_worse) {
    for (const ComparisonRow* row : rows) {
      if (decides(row) && row->p_corrected && (!task.p || *row->p_corrected < *task.p)) task.p = row->p_corrected;
    }
  }
  std::vector<const ComparisonRow*> deciding;
  std::ranges::copy_if(std::ranges::any_of(far, decides) ? far : rows, std::back_inserter(deciding), decides);
  for (const ComparisonRow* row : deciding) task.splits.push_back(row->split);
  if (is_better != is_worse && std::ranges::none_of(far, decides)) far = deciding;
  task.before = mean_of_seeds(far.empty() ? rows : far, &ComparisonRow::before);
  task.after = mean_of_seeds(far.empty() ? rows : far, &ComparisonRow::after);
  const std::vector<const ComparisonRow*>& shown = is_better != is_worse ? deciding : far.empty() ? rows : far;
  task.before_mean = mean(mean_of_seeds(shown, &ComparisonRow::before));
  task.after_mean = mean(mean_of_seeds(shown, &ComparisonRow::after));
  return task;
}

}  // namespace

std::vector<ComparedTask> compared_tasks(const Comparison& comparison) {
  std::vector<std::vector<const ComparisonRow*>> groups;
  const auto key = [](const ComparisonRow& row) {
    return std::tie(row.candidate, row.task, row.encoding, row.candidate_encoding);
  };
  for (const ComparisonRow& row : comparison.rows) {
    const auto same = [&](const auto& group) { return key(*group.front()) == key(row); };
    const auto found = std::ranges::find_if(groups, same);
    (found == groups.end() ? groups.emplace_back() : *found).push_back(&row);
  }
  std::vector<ComparedTask> tasks;
  for (const auto& group : groups) tasks.push_back(summarize(group));
  return tasks;
}

std::string candidate_name(const Comparison& comparison, const ComparedTask& task) {
  if (comparison.candidates.size() == 1) return task.candidate_encoding;
  return task.candidate_encoding + " of " + comparison.candidates[task.candidate];
}

std::vector<ComparedOverTasks> compare_over_tasks(const Comparison& comparison,
                                                  const std::vector<ComparedTask>& tasks) {
  struct Pair {
    ComparedOverTasks over;
    TaskScores before, after;
  };
  std::vector<Pair> pairs;
  for (const ComparedTask& task : tasks) {
    const bool is_same = task.encoding == task.candidate_encoding;
    const std::string before = is_same ? comparison.baseline : task.encoding,
                      after = is_same ? comparison.candidates[task.candidate] : candidate_name(comparison, task);
    auto found = std::ranges::find_if(
        pairs, [&](const Pair& pair) { return pair.over.before == before && pair.over.after == after; });
    if (found == pairs.end()) {
      found =
          pairs.insert(pairs.end(), Pair{.over = {.before = before, .after = after}, .before = {}, .after = {}});
    }
    found->over.better += task.verdict == Verdict::better;
    found->over.worse += task.verdict == Verdict::worse;
    found->over.mixed += task.is_mixed;
    found->over.undecided += !task.is_mixed && task.verdict != Verdict::better && task.verdict != Verdict::worse;
    if (!task.have_learned) continue;
    found->before.push_back(task.before);
    found->after.push_back(task.after);
  }
  std::vector<ComparedOverTasks> all;
  for (Pair& pair : pairs) {
    const bool lower_is_better = metric_info(comparison.options.metric).lower_is_better;
    if (lower_is_better) std::swap(pair.before, pair.after);
    pair.over.both_learned = pair.before.size();
    if (!pair.before.empty())
      pair.over.after_is_better = estimate_probability_of_improvement(pair.after, pair.before);
    all.push_back(std::move(pair.over));
  }
  return all;
}

}  // namespace posbench
