// `posbench board`: every encoding on every task, in tiers, with costs; and where one's own stand.
#include "results/statistics/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/printable.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/output.h"
#include "harness/commands/read_reports.h"
#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"
#include "harness/runs/board_files.h"
#include "harness/runs/names.h"
#include "harness/runs/page_options.h"
#include "results/presentation/board_page.h"
#include "results/presentation/board_text.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

struct BoardRequest {
  std::vector<std::filesystem::path> own;  // reports, or run directories
  std::optional<std::string> tasks, encodings;
  std::string family;
  BoardOptions options;
  bool allow_different_budget = false, only_own = false, summary = false;
  Output output;
};

/// What is shown, of everything that is on the board.
class Shown {
 public:
  Shown(const BoardRequest& request, const Board& board) : family_(request.family) {
    for (const BoardTask& task : board.tasks) {
      add(task.task, tasks_);
      for (const BoardRow& row : task.rows) add(row.encoding, encodings_);
    }
    select(request.tasks, "task", tasks_);
    std::vector<std::string> families;
    for (const std::string& encoding : encodings_) add(family_of(encoding), families);
    if (!family_.empty() && std::find(families.begin(), families.end(), family_) == families.end()) {
      throw std::invalid_argument(fmt::format("the board has no family '{}'{} (families: {})", family_,
                                              did_you_mean(family_, families), fmt::join(families, ", ")));
    }
    select(request.encodings, "encoding", encodings_);
  }

  bool task(const std::string& name) const { return has(tasks_, name); }
  bool encoding(const std::string& name) const {
    return has(encodings_, name) && (family_.empty() || family_of(name) == family_);
  }

 private:
  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static void add(const std::string& name, std::vector<std::string>& names) {
    if (!has(names, name)) names.push_back(name);
  }

  /// Keeps the names that the list names: specs, names without options, or patterns.
  static void select(const std::optional<std::string>& list, const char* kind, std::vector<std::string>& names) {
    if (!list) return;
    std::vector<std::string> chosen, known;
    for (const std::string& name : names) add(spec_name(name), known);
    for (const std::string& item : split(*list, ',')) {
      const size_t before = chosen.size();
      for (const std::string& name : names) {
        if (item == "all" || !matching(item, {name, spec_name(name)}).empty()) add(name, chosen);
      }
      if (chosen.size() == before && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
            return !matching(item, {name, spec_name(name)}).empty();
          })) {
        throw std::invalid_argument(fmt::format("the board has no {} '{}'{} ('posbench board' shows all)", kind,
                                                item, did_you_mean(item, known)));
      }
    }
    names = std::move(chosen);
  }

  std::vector<std::string> tasks_, encodings_;
  std::string family_;
};

/// "Reads items ..., and answers the payload of the most recent X. Attention has to find ...."
std::string about(const std::string& spec) {
  const std::string name = spec_name(spec);
  if (!tasks().contains(name)) return "";
  const TaskInfo& info = tasks().find(name).info;
  return info.takes.empty() ? info.definition : info.definition + " " + info.takes;
}

/// Why the split is there, where the task says so.
std::string why(const std::string& spec, const std::string& split) {
  const std::string name = spec_name(spec);
  if (!tasks().contains(name)) return "";
  for (const TaskInfo::Split& of_task : tasks().find(name).info.splits) {
    if (of_task.name == split) return fmt::format("{}: {}.", split, of_task.why);
  }
  return "";
}

std::vector<std::string> split_names(const Report& report) {
  std::vector<std::string> names{"in_distribution", "out_of_distribution"};
  for (const TaskBaseline& task : report.tasks) {
    for (const SplitBaseline& split : task.splits) {
      if (std::find(names.begin(), names.end(), split.name) == names.end()) names.push_back(split.name);
    }
  }
  return names;
}

/// Tables for one task, or lines of tiers for several.
std::string console_text(const Board& board, const BoardWords& words, const ConsoleStyle& style) {
  const int width = style.width == 0 ? kPipedWidth : style.width;
  std::string text;
  for (const BoardTask& task : board.tasks) {
    text += printable(fmt::format("{}, {}", task.task, split_title(task))) + "\n";
    const std::string definition = words.about(task.task);
    if (!definition.empty()) text += wrapped(printable(definition), 0, width) + "\n";
    for (const std::string& split : task.splits) {
      const std::string reason = why(task.task, split);
      if (!reason.empty()) text += wrapped(printable(reason), 2, width) + "\n";
    }
    text += wrapped(printable(who_has_it(task, board.options)), 0, width) + "\n\n";
    if (board.tasks.size() == 1) {
      text += console(board_table(task), style);
    } else {
      for (const std::string& line : tier_lines(task))
        text += "  " + wrapped(printable(line), 6, width - 2) + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string markdown_page(const Board& board, const BoardWords& words) {
  std::string text;
  for (const BoardTask& task : board.tasks) {
    text += fmt::format("### {}, {}\n\n{} {}\n\n{}\n", markdown_text(task.task), markdown_text(split_title(task)),
                        markdown_text(words.about(task.task)), markdown_text(who_has_it(task, board.options)),
                        markdown(board_table(task)));
  }
  return text;
}

std::string board_text(const BoardRequest& request, const BoardReport& all, const BoardWords& words) {
  const Format chosen = format(request.output);
  Board board = make_board(all, request.options);
  if (board.tasks.empty()) {
    const std::vector<std::string> known = split_names(all.report);
    throw std::invalid_argument(fmt::format("no task of the board has a split '{}'{} (splits: {})",
                                            request.options.split, did_you_mean(request.options.split, known),
                                            fmt::join(known, ", ")));
  }
  const Shown shown(request, board);
  if (chosen == Format::html) {
    return board_page(all, request.options, words, [&](const std::string& task, const std::string& encoding) {
      return shown.task(task) && shown.encoding(encoding);
    });
  }
  for (BoardTask& task : board.tasks) {
    std::erase_if(task.rows, [&](const BoardRow& row) {
      return !shown.encoding(row.encoding) || (request.only_own && !row.own);
    });
  }
  std::erase_if(board.tasks, [&](const BoardTask& task) { return !shown.task(task.task) || task.rows.empty(); });
  if (board.tasks.empty())
    throw std::invalid_argument("nothing on the board is of these tasks, encodings and family");
  if (chosen == Format::csv) return csv(board_csv(board, words));
  if (chosen == Format::json) return pretty(to_json(board, words, all.warnings));
  std::string text;
  if (request.summary) {
    text = chosen == Format::markdown
               ? markdown(board_summary(board, /*with_names=*/true)) + "\n"
               : console(board_summary(board, /*with_names=*/false), console_style(request.output)) + "\n";
  } else {
    text = chosen == Format::markdown ? markdown_page(board, words)
                                      : console_text(board, words, console_style(request.output));
  }
  std::vector<std::string> notes = request.summary ? board_summary_notes(board) : board_notes(board, words);
  notes.insert(notes.end(), all.warnings.begin(), all.warnings.end());
  const ConsoleStyle style = console_style(request.output);
  for (const std::string& note : notes) {
    text += (chosen == Format::markdown ? markdown_text(note) + "\n" : wrapped(printable(note), 2, style.width)) +
            "\n";
  }
  return text;
}

void board(const BoardRequest& request) {
  const Format chosen = format(request.output);  // refuses what cannot be written before anything is read
  if (request.summary && chosen != Format::console && chosen != Format::markdown)
    throw std::invalid_argument("--summary has the formats console and markdown; JSON has its numbers without it");
  const std::vector<Report> own = read_given(request.own);
  const std::vector<KeptReport> kept = [] {
    const Waiting waiting("reading the board");
    return board_reports();
  }();
  std::vector<NamedReport> named_kept;
  for (const KeptReport& one : kept) named_kept.push_back({one.name, one.report});
  const MeasuredCosts& costs = board_costs();
  const BoardWords words{.about = about, .family = family_of, .cost_source = costs.source};
  const BoardReport all = as_input([&] {
    return merge_board(named_kept, named(request.own, own), costs.costs, request.allow_different_budget);
  });
  if (request.only_own && all.own.empty())
    throw std::invalid_argument("--only-own needs a report: posbench board runs/mine --only-own");
  write(request.output, as_input([&] { return board_text(request, all, words); }));
}

}  // namespace

void add_board(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<BoardRequest>();
  CLI::App* command = app.add_subcommand(
      "board", "Which encodings solve which task, in tiers, and what they cost; with your own among them");
  command->add_option("reports", request->own, "your reports, or run directories; they are added to the board");
  add_list_option(*command, "-t,--tasks", request->tasks, "comma-separated names, specs and globs")
      ->default_str("all of the board");
  add_list_option(*command, "-e,--encodings", request->encodings, "the same for encodings")
      ->default_str("all of the board");
  command->add_option("--family", request->family, "encodings of one family ('posbench list encodings' shows it)")
      ->default_str("all");
  command->add_option("--split", request->options.split,
                      "a split by its name, or the mean over a kind: in_distribution or out_of_distribution");
  add_choice<Metric, Metric>(*command, "--metric", request->options.metric,
                             {{"sequence", Metric::sequence}, {"token", Metric::token}},
                             "accuracy of sequences or of tokens");
  command->add_flag(
      "--summary", request->summary,
      "a row for each task: the steps of training, how many encodings learn it, how many have 0.90 or more, and the "
      "best");
  command->add_flag("--only-own", request->only_own, "show the rows of your reports only; the tiers are of all");
  command->add_flag("--allow-different-budget", request->allow_different_budget,
                    "add reports although their model or training settings differ from the board's");
  add_output(*command, request->output);
  command->footer(
      "Examples:\n"
      "  posbench board                                         the tiers on every task\n"
      "  posbench board -t last_x_retrieval --split ood_far4    who keeps last-x at four times the distance, at what cost\n"
      "  posbench board --summary                               every task in a row\n"
      "  posbench board -t flip_flop --family rotary\n"
      "  posbench board runs/mine --only-own                    where one's own encodings stand\n"
      "  posbench board -o board.html                           a page with filters and plots");
  command->callback([request] { board(*request); });
}

}  // namespace posbench
