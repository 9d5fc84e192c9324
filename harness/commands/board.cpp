// `posbench board`: all encodings on all tasks in tiers with their costs, or ranked by aspects, and the user's
// among them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/config/names.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/runs/page_options.h"
#include "results/presentation/board_document.h"

namespace posbench {
namespace {

struct BoardRequest {
  AddedReports reports;
  std::optional<std::string> tasks, encodings, aspects;
  std::optional<double> length;
  std::optional<Family> family;
  std::optional<Kernel> kernel;
  BoardOptions options;
  bool only_users = false;
  Output output;
};

/// Returns the names that are in a list of specs, names without options, and patterns; without a list, all. A note
/// names what has no result, and if nothing has one, throws InputError.
std::set<std::string> select_shown(const std::optional<std::string>& list, ValueKind kind,
                                   const std::set<std::string>& names) {
  if (!list) return names;
  std::set<std::string> chosen;
  std::vector<std::string> missing;
  for (const std::string& given : split_specs(*list)) {
    const bool is_encoding = kind == ValueKind::encoding;
    const std::string item = is_encoding ? encoding_name(given) : given;
    std::set<std::string> found;
    std::ranges::copy_if(names, std::inserter(found, found.end()),
                         [&](const std::string& name) { return selects(item, name); });
    chosen.insert(found.begin(), found.end());
    if (!found.empty()) continue;
    if (is_encoding ? encodings().contains(item) : tasks().contains(spec_name(item))) {
      missing.push_back(fmt::format("the board has no result of '{}'; 'posbench run -{} {}' makes some", item,
                                    is_encoding ? 'e' : 't', for_shell(item)));
      continue;
    }
    std::set<std::string> known;
    for (const std::string& name : names) known.insert(spec_name(name));
    throw InputError(fmt::format("the board has no {0} '{1}'{2} ('posbench list {0}s' shows all)",
                                 is_encoding ? "encoding" : "task", item,
                                 did_you_mean(item, {known.begin(), known.end()})));
  }
  if (chosen.empty() && !missing.empty()) throw InputError(missing.front());
  for (const std::string& note : missing) write_note(note);
  return chosen;
}

/// The tasks and encodings that are shown.
struct BoardSelection {
  std::set<std::string> tasks, encodings;
};

BoardSelection select_rows(const BoardRequest& request, const BoardReport& all) {
  BoardSelection of_all;
  for (const Report* report : {&all.report, &all.other_models}) {
    for (const ExperimentResult& experiment : report->experiments) {
      of_all.tasks.insert(experiment.id.task);
      of_all.encodings.insert(experiment.id.encoding);
    }
  }
  BoardSelection selection{select_shown(request.tasks, ValueKind::task, of_all.tasks),
                           select_shown(request.encodings, ValueKind::encoding, of_all.encodings)};
  if (request.kernel) {
    std::erase_if(selection.encodings, [&, text = board_texts().kernel](const std::string& row) {
      return text(row) != to_string(*request.kernel);
    });
  }
  if (request.family) {
    std::erase_if(selection.encodings,
                  [&](const std::string& encoding) { return family_of(encoding) != to_string(*request.family); });
  }
  return selection;
}

/// Throws InputError if the tasks that an item of the list selects do not have the selected split.
void check_split(const BoardRequest& request, const BoardReport& all, const Board& board) {
  for (const std::string& item : split_specs(request.tasks.value_or("all"))) {
    const auto is_selected = [&](const auto& task) { return selects(item, task.task); };
    if (std::ranges::any_of(board.tasks, is_selected)) continue;
    std::set<std::string> splits{"in_distribution", "out_of_distribution"};
    std::set<std::string> of_tasks;
    for (const TaskBaseline& task : all.report.tasks) {
      if (!is_selected(task)) continue;
      of_tasks.insert(task.task);
      for (const SplitBaseline& split : task.splits) splits.insert(split.name);
    }
    if (of_tasks.empty()) continue;  // only other models ran it
    const std::string& split = request.options.split;
    throw InputError(fmt::format("{} split '{}'{} (splits: {})",
                                 of_tasks.size() == 1 ? fmt::format("task '{}' has no", *of_tasks.begin())
                                 : request.tasks      ? fmt::format("no task of '{}' has a", item)
                                                      : "no task of the board has a",
                                 split, did_you_mean(split, {splits.begin(), splits.end()}),
                                 fmt::join(splits, ", ")));
  }
}

Document make_board_document(const BoardRequest& request, const BoardReport& all) {
  const BoardSelection selection = select_rows(request, all);
  const Board board = make_board(all, request.options);
  check_split(request, all, board);
  const ShowsRow shows = [=, &all](const std::string& task, const std::string& encoding) {
    const auto is_it = [&](const ExperimentId& id) { return id.task == task && id.encoding == encoding; };
    return selection.tasks.contains(task) && selection.encodings.contains(encoding) &&
           (!request.only_users || std::ranges::any_of(all.user_experiments, is_it));
  };
  return posbench::make_board_document(all, board, board_texts(), shows);
}

/// Returns the chosen aspects with their tasks. Throws InputError if one is unknown.
std::vector<AspectTasks> choose_aspects(const std::string& list, const std::vector<AspectTasks>& known) {
  std::vector<std::string> names;
  for (const AspectTasks& aspect : known) names.push_back(aspect.aspect);
  std::vector<AspectTasks> chosen;
  for (const std::string& given : split_list(list, ',')) {
    std::string name = lower_case(given);
    std::ranges::replace(name, '_', ' ');
    const auto found = std::ranges::find(known, name, &AspectTasks::aspect);
    if (found == known.end())
      throw InputError(fmt::format("unknown aspect '{}'{} (aspects: {})", name, did_you_mean(name, names),
                                   fmt::join(names, ", ")));
    if (std::ranges::find(chosen, name, &AspectTasks::aspect) == chosen.end()) chosen.push_back(*found);
  }
  if (chosen.empty())
    throw InputError(fmt::format("--aspects is empty, expected names from {}", fmt::join(names, ", ")));
  return chosen;
}

/// Reads "4x" or "4".
double parse_length(std::string text) {
  const std::string given = text;
  if (text.ends_with('x')) text.pop_back();
  double length = 0;
  if (!parse_number(text, length) || !(length >= 1 && length <= 1000)) {
    throw InputError(fmt::format(
        "--length is '{}', expected a multiple of the trained length from 1 to 1000, as in --length 4x", given));
  }
  return length;
}

Document make_ranking_document(const BoardRequest& request, const BoardReport& all) {
  AspectRanking ranking =
      rank_by_aspects(all, choose_aspects(*request.aspects, tasks_by_aspect(all)), request.length);
  const BoardSelection selection = select_rows(request, all);
  std::erase_if(ranking.rows, [&](const AspectRow& row) {
    return !selection.encodings.contains(row.encoding) || (request.only_users && !row.is_users);
  });
  std::erase_if(ranking.incomplete, [&](const std::string& one) { return !selection.encodings.contains(one); });
  return make_document(ranking);
}

void board(const BoardRequest& request) {
  output_format(request.output);  // refuses an invalid format before anything is read
  const BoardReport all = read_board(request.reports);
  if (request.only_users && all.user_experiments.empty())
    throw InputError("--only-own needs a report, as in posbench board runs/mine --only-own");
  write_document(request.output,
                 request.aspects ? make_ranking_document(request, all) : make_board_document(request, all));
}

}  // namespace

void add_board(CommandLine& line) {
  const auto request = std::make_shared<BoardRequest>();
  Command& command = line.add(kResults, "board",
                              "Rank all encodings on each task in tiers with their costs, and yours among them");
  add_reports(command, request->reports);
  command
      .list("-t,--tasks", request->tasks, ValueKind::task,
            "comma-separated tasks: names, specs, globs and aspects (aspect:recall)")
      .default_text("all of the board");
  command
      .list("-e,--encodings", request->encodings, ValueKind::encoding,
            "comma-separated encodings in the same form")
      .default_text("all of the board");
  command
      .choice<std::optional<Family>, Family>("--family", request->family, names_of(Family{}).rows(),
                                             "family of encodings")
      .default_text("all");
  command
      .choice<std::optional<Kernel>, Kernel>(
          "--kernel", request->kernel,
          {{"any", Kernel::any},
           {"bias", Kernel::bias},
           {"score_modifier", Kernel::score_modifier},
           {"own", Kernel::own}},
          "kernel that encodings need: any, one that adds a bias by distance, one that modifies scores, or their own")
      .default_text("all");
  command.name("--split", request->options.split, ValueKind::split,
               "split, or in_distribution or out_of_distribution for the mean over that kind");
  command.choice<Metric, Metric>("--metric", request->options.metric,
                                 {{"sequence", Metric::sequence}, {"token", Metric::token}},
                                 "metric: accuracy by sequence or by token");
  command
      .name(
          "--aspects", request->aspects, ValueKind::aspect,
          "comma-separated aspects, whose tasks rank the encodings in one table: recall, counting, copying, order, "
          "state tracking, arithmetic, hierarchy, aggregation")
      .default_text("none")
      .excludes("--tasks")
      .excludes("--split")
      .excludes("--metric");
  command
      .text(
          "--length", [request](const std::string& text) { request->length = parse_length(text); },
          "multiple of the trained length, as in 4x: with --aspects, rank by the tasks on which at least half of the "
          "seeds have 0.90 of the sequences right there")
      .default_text("none")
      .needs("--aspects");
  command.flag("--only-own", request->only_users,
               "show only the rows of the added reports; tiers are those of all");
  add_output(command, request->output);
  add_full(command, request->output.full);
  command.explain({{"posbench board", "encodings over all tasks; --full: also a row for each task"},
                   {"posbench board -t flip_flop --full", "all encodings on one task, with their costs"},
                   {"posbench board -t last_x_retrieval --split ood_far4", "at four times the trained distance"},
                   {"posbench board -e cope", "one encoding on all tasks; 'show cope' has more"},
                   {"posbench board -e rope,alibi --full", "two encodings on all tasks, side by side"},
                   {"posbench board -t flip_flop --family rotary", "one family"},
                   {"posbench board --kernel any", "the encodings that run with every kernel of attention"},
                   {"posbench board --aspects recall --length 2x",
                    "by the tasks that need recall and are kept at twice the length"},
                   {"posbench board runs/mine --only-own", "the ranks of your encodings"},
                   {"posbench board -o board.html", "a page with filters and plots"}});
  command.run([request] { board(*request); });
}

}  // namespace posbench
