// `posbench board`: all encodings on all tasks in tiers with their costs, and the user's own among them.
#include "results/statistics/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"
#include "harness/console/help.h"
#include "harness/console/output.h"
#include "harness/console/read_board.h"
#include "harness/console/terminal.h"
#include "harness/runs/page_options.h"
#include "results/document/wrap.h"
#include "results/presentation/board_page.h"
#include "results/presentation/board_text.h"
#include "results/presentation/encoding_overview.h"
#include "results/presentation/over_tasks_text.h"
#include "results/statistics/over_tasks.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

struct BoardRequest {
  AddedReports reports;
  std::optional<std::string> tasks, encodings;
  std::string family;
  BoardOptions options;
  bool only_users = false, summary = false, by_task = false;
  Output output;
};

/// Selects the tasks and encodings that are shown.
class BoardSelection {
 public:
  BoardSelection(const BoardRequest& request, const Board& board) : family_(request.family) {
    for (const BoardTask& task : board.tasks) {
      add(task.task, tasks_);
      for (const BoardRow& row : task.rows) add(row.encoding, encodings_);
      for (const BoardRow& row : task.recurrent) add(row.encoding, encodings_);
    }
    select(request.tasks, "task", tasks_);
    std::vector<std::string> families;
    for (const std::string& encoding : encodings_) add(family_of(encoding), families);
    if (!family_.empty() && std::find(families.begin(), families.end(), family_) == families.end()) {
      throw InputError(fmt::format("the board has no family '{}'{} (families: {})", family_,
                                   did_you_mean(family_, families), fmt::join(families, ", ")));
    }
    select(request.encodings, "encoding", encodings_);
  }

  bool has_task(const std::string& name) const { return has(tasks_, name); }
  bool has_encoding(const std::string& name) const {
    return has(encodings_, name) && (family_.empty() || family_of(name) == family_);
  }

 private:
  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  static void add(const std::string& name, std::vector<std::string>& names) {
    if (!has(names, name)) names.push_back(name);
  }

  /// Keeps the names that are in the list: specs, names without options, or patterns.
  static void select(const std::optional<std::string>& list, const char* kind, std::vector<std::string>& names) {
    if (!list) return;
    std::vector<std::string> chosen, known;
    for (const std::string& name : names) add(spec_name(name), known);
    for (const std::string& given : split_specs(*list)) {
      const std::string item = std::string_view(kind) == "encoding" ? encoding_name(given) : given;
      const auto is_selected = [&](const std::string& name) { return selects(item, name); };
      if (std::ranges::none_of(names, is_selected)) {
        const bool is_encoding = std::string_view(kind) == "encoding";
        if (is_encoding ? encodings().contains(item) : tasks().contains(spec_name(item))) {
          throw InputError(fmt::format("the board has no result of '{}'; 'posbench run -{} {}' makes some", item,
                                       is_encoding ? 'e' : 't', item));
        }
        throw InputError(fmt::format("the board has no {} '{}'{} ('posbench board --summary' shows all)", kind,
                                     item, did_you_mean(item, known)));
      }
      for (const std::string& name : names) {
        if (is_selected(name)) add(name, chosen);
      }
    }
    names = std::move(chosen);
  }

  std::vector<std::string> tasks_, encodings_;
  std::string family_;
};

/// Returns the definition of a task and what it requires of attention.
std::string about(const std::string& spec) {
  const std::string name = spec_name(spec);
  if (!tasks().contains(name)) return "";
  const TaskInfo& info = tasks().find(name).info;
  return info.requirement.empty() ? info.definition : info.definition + " " + info.requirement;
}

/// Returns the purpose of a split, or an empty text.
std::string why(const std::string& spec, const std::string& split) {
  const std::string name = spec_name(spec);
  if (!tasks().contains(name)) return "";
  for (const TaskInfo::Split& of_task : tasks().find(name).info.splits) {
    if (of_task.name == split) return fmt::format("{}: {}.", split, of_task.why);
  }
  return "";
}

/// Returns the splits of the selected tasks.
std::vector<std::string> split_names(const BoardRequest& request, const Report& report) {
  std::vector<std::string> names{"in_distribution", "out_of_distribution"};
  const std::vector<std::string> items = split_specs(request.tasks.value_or("all"));
  for (const TaskBaseline& task : report.tasks) {
    if (std::ranges::none_of(items, [&](const std::string& item) { return selects(item, task.task); })) continue;
    for (const SplitBaseline& split : task.splits) {
      if (std::find(names.begin(), names.end(), split.name) == names.end()) names.push_back(split.name);
    }
  }
  return names;
}

/// Throws InputError if a selected task is on the board, but does not have the selected split.
void check_split(const BoardRequest& request, const BoardReport& all, const Board& board) {
  if (!request.tasks) return;
  for (const std::string& item : split_specs(*request.tasks)) {
    const auto is_selected = [&](const auto& task) { return selects(item, task.task); };
    if (std::ranges::any_of(board.tasks, is_selected)) continue;
    const auto found = std::ranges::find_if(all.report.tasks, is_selected);
    if (found == all.report.tasks.end()) continue;
    std::vector<std::string> names;
    for (const SplitBaseline& of_task : found->splits) names.push_back(of_task.name);
    throw InputError(fmt::format("task '{}' has no split '{}' (its splits: {})", found->task,
                                 request.options.split, fmt::join(names, ", ")));
  }
}

/// Returns a table for a single task, or tiers for several tasks.
std::string console_text(const Board& board, const BoardTexts& words, const ConsoleStyle& style) {
  const int width = style.width == 0 ? kPipedWidth : style.width;
  std::string text;
  for (const BoardTask& task : board.tasks) {
    text += to_printable(fmt::format("{}, {}", task.task, split_title(task))) + "\n";
    const std::string definition = words.about(task.task);
    if (!definition.empty()) text += wrap_text(to_printable(definition), 0, width) + "\n";
    for (const std::string& split : task.splits) {
      const std::string reason = why(task.task, split);
      if (!reason.empty()) text += wrap_text(to_printable(reason), 2, width) + "\n";
    }
    text += wrap_text(to_printable(task_summary_text(task, board.options)), 0, width) + "\n\n";
    if (board.tasks.size() == 1) {
      text += to_console_text(board_table(task), style);
    } else {
      for (const std::string& line : tier_lines(task))
        text += "  " + wrap_text(to_printable(line), 6, width - 2) + "\n";
    }
    text += '\n';
  }
  return text;
}

std::string markdown_page(const Board& board, const BoardTexts& words) {
  std::string text;
  for (const BoardTask& task : board.tasks) {
    text += fmt::format("### {}, {}\n\n{} {}\n\n{}\n", escape_markdown(task.task),
                        escape_markdown(split_title(task)), escape_markdown(words.about(task.task)),
                        escape_markdown(task_summary_text(task, board.options)), to_markdown(board_table(task)));
  }
  return text;
}

std::string latex_tables(const Board& board, const BoardTexts& words) {
  std::string text;
  for (const BoardTask& task : board.tasks) {
    const std::string caption = fmt::format("{}, {}: {} {}", task.task, split_title(task), words.about(task.task),
                                            task_summary_text(task, board.options));
    text += line_text(caption, Format::latex, {}) + "\n" + table_text(board_table(task), Format::latex, {}) + "\n";
  }
  return text;
}

constexpr const char* kAboutByTask = "The flag --by-task prints every task with its definition and tiers.";

/// Returns the tables of one encoding, or recurrent model, on several tasks.
std::string encoding_text(const Board& board, Format format, const ConsoleStyle& style) {
  std::string text = line_text(overview_text(board), format, style) + "\n\n";
  for (const OverviewTable& part : overview_tables(board, /*with_lengths=*/format != Format::console))
    text += line_text(part.title, format, style) + "\n\n" + table_text(part.table, format, style) + "\n";
  if (!board.tasks.front().rows.empty()) text += line_text(kAboutInterquartileMean, format, style) + "\n\n";
  return text + line_text(kAboutByTask, format, style) + "\n\n";
}

std::string notes_text(const std::vector<std::string>& notes, Format format, const ConsoleStyle& style) {
  std::string text;
  for (const std::string& note : notes)
    text += line_text(note, format, style, 2) + (format == Format::markdown ? "\n\n" : "\n");
  return text;
}

/// Returns the table of a few encodings on several tasks, the best over all tasks first, and their means over the
/// tasks.
std::string few_text(const Board& board, std::vector<std::string> encodings, Format format,
                     const ConsoleStyle& style) {
  const OverTasks over = summarize_over_tasks(board);
  std::ranges::stable_sort(encodings, {}, [&](const std::string& encoding) {
    return std::ranges::find(over.rows, encoding, &OverTasksRow::encoding) - over.rows.begin();
  });
  std::string text = line_text(side_by_side_text(board, encodings), format, style) + "\n\n" +
                     table_text(side_by_side_table(board, encodings), format, style) + "\n";
  if (!over.rows.empty()) text += table_text(over_tasks_table(over), format, style) + "\n";
  std::vector<std::string> notes = over_tasks_notes(over, board.options);
  if (!over.tasks.empty())
    notes.front() = fmt::format("Over {} tasks that an encoding has learned.", over.tasks.size());
  return text + notes_text(notes, format, style) + line_text(kAboutByTask, format, style) + "\n\n";
}

/// Returns a row for each task; then, for several tasks, a row for each encoding over all of them.
std::string summary_text(const Board& board, Format format, const ConsoleStyle& style) {
  std::string text = table_text(board_summary(board, /*with_names=*/format == Format::markdown), format, style) +
                     "\n" + notes_text(board_summary_notes(board), format, style);
  if (board.tasks.size() < 2) return text;
  const OverTasks over = summarize_over_tasks(board);
  if (over.rows.empty() && over.incomplete.empty() && !over.tasks.empty()) return text;  // only recurrent models
  if (format == Format::console) text += '\n';
  if (!over.rows.empty()) text += table_text(over_tasks_table(over), format, style) + "\n";
  return text + notes_text(over_tasks_notes(over, board.options), format, style);
}

/// Returns what the format and the flags select, with notes.
std::string tables_text(const BoardRequest& request, const Board& board, const BoardTexts& words) {
  const Format format = output_format(request.output);
  const ConsoleStyle style = console_style(request.output);
  if (request.summary) return summary_text(board, format, style);
  const std::string notes = notes_text(board_notes(board, words), format, style);
  const bool is_overview = !request.by_task && board.tasks.size() > 1 && has_one_encoding(board);
  // On the console only the table of a single task has effective lengths: others would not fit into 80 columns.
  const std::string length_notes = format == Format::console && board.tasks.size() > 1
                                       ? ""
                                       : notes_text(board_length_notes(board), format, style);
  if (is_overview) return encoding_text(board, format, style) + length_notes + notes;
  const std::vector<std::string> few =
      request.by_task || board.tasks.size() == 1 ? std::vector<std::string>() : few_encodings(board);
  if (!few.empty())
    return few_text(board, few, format, style) + notes_text(side_by_side_notes(board), format, style);
  if (format == Format::console) return console_text(board, words, style) + length_notes + notes;
  return (format == Format::markdown ? markdown_page(board, words) : latex_tables(board, words)) + length_notes +
         notes;
}

std::string board_text(const BoardRequest& request, const BoardReport& all, const BoardTexts& words) {
  const Format chosen = output_format(request.output);
  Board board = make_board(all, request.options);
  if (board.tasks.empty()) {
    // Refuses names that the board does not have.
    [[maybe_unused]] const BoardSelection selection(request, make_board(all, BoardOptions{}));
    const std::vector<std::string> known = split_names(request, all.report);
    throw InputError(fmt::format("no task of the board has a split '{}'{} (splits of {}: {})",
                                 request.options.split, did_you_mean(request.options.split, known),
                                 request.tasks.value_or("all tasks"), fmt::join(known, ", ")));
  }
  check_split(request, all, board);
  const BoardSelection selection(request, board);
  if (chosen == Format::html) {
    return make_board_page(all, request.options, words, [&](const std::string& task, const std::string& encoding) {
      const auto is_it = [&](const ExperimentId& id) { return id.task == task && id.encoding == encoding; };
      return selection.has_task(task) && selection.has_encoding(encoding) &&
             (!request.only_users || std::ranges::any_of(all.user_experiments, is_it));
    });
  }
  for (BoardTask& task : board.tasks) {
    const auto is_hidden = [&](const BoardRow& row) {
      return !selection.has_encoding(row.encoding) || (request.only_users && !row.is_users);
    };
    std::erase_if(task.rows, is_hidden);
    std::erase_if(task.recurrent, is_hidden);
  }
  std::erase_if(board.tasks,
                [&](const BoardTask& task) { return !selection.has_task(task.task) || all_rows(task).empty(); });
  if (board.tasks.empty())
    throw InputError(fmt::format("the board has no result of these tasks, encodings and family; select others{}",
                                 all.warnings.empty() ? "" : fmt::format(" ({})", fmt::join(all.warnings, "; "))));
  if (chosen == Format::csv) return to_csv(board_csv(board, words));
  if (chosen == Format::json) {
    Json json = to_json(board, words, all.warnings);
    if (board.tasks.size() > 1) json["over_tasks"] = to_json(summarize_over_tasks(board));
    return to_indented_json(json);
  }
  return tables_text(request, board, words) + notes_text(all.warnings, chosen, console_style(request.output));
}

void board(const BoardRequest& request) {
  const Format chosen = output_format(request.output);  // refuses an invalid format before anything is read
  if (request.summary && request.by_task)
    throw InputError("--summary and --by-task exclude each other; give one of them");
  if (request.by_task && !is_text(chosen))
    throw InputError(
        "--by-task needs --format console, markdown or latex; csv, json and html have every task without it");
  if (request.summary && !is_text(chosen))
    throw InputError("--summary needs --format console, markdown or latex; JSON has its numbers without it");
  const BoardTexts words{
      .about = about, .family = family_of, .style = style_of, .cost_source = board_costs().source};
  const BoardReport all = read_board(request.reports);
  if (request.only_users && all.user_experiments.empty())
    throw InputError("--only-own needs a report, as in posbench board runs/mine --only-own");
  write_output(request.output, read_user_files([&] { return board_text(request, all, words); }));
}

}  // namespace

void add_board(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<BoardRequest>();
  CLI::App* command =
      app.add_subcommand("board",
                         "Rank all encodings on each task in tiers with their costs, and yours among them")
          ->group(kResults);
  add_reports(*command, request->reports);
  add_list_option(*command, "-t,--tasks", request->tasks,
                  "comma-separated tasks: names, specs, globs and aspects (aspect:recall)")
      ->default_str("all of the board");
  add_list_option(*command, "-e,--encodings", request->encodings, "comma-separated encodings in the same form")
      ->default_str("all of the board");
  command->add_option("--family", request->family, "family of encodings, as 'posbench list encodings' shows it")
      ->default_str("all");
  command->add_option("--split", request->options.split,
                      "split, or in_distribution or out_of_distribution for the mean over that kind");
  add_choice<Metric, Metric>(*command, "--metric", request->options.metric,
                             {{"sequence", Metric::sequence}, {"token", Metric::token}},
                             "metric: accuracy by sequence or by token");
  command->add_flag(
      "--summary", request->summary,
      "a row for each task (steps, encodings that learn it, encodings with at least 0.90, the best), and a row for "
      "each encoding that ran all tasks");
  command->add_flag(
      "--by-task", request->by_task,
      "print every task in full if at most four encodings are selected, instead of one row for each task");
  command->add_flag("--only-own", request->only_users,
                    "show only the rows of the added reports; tiers are those of all");
  add_output(*command, request->output);
  set_footer(*command,
             {{"posbench board --summary", "every task in one row, and encodings over all tasks"},
              {"posbench board -t flip_flop", "all encodings on one task, with their costs"},
              {"posbench board -t last_x_retrieval --split ood_far4", "at four times the trained distance"},
              {"posbench board -e cope", "one encoding on all tasks, in one row for each"},
              {"posbench board -e rope,alibi", "two encodings on all tasks, side by side"},
              {"posbench board -t flip_flop --family rotary", "one family"},
              {"posbench board runs/mine --only-own", "the ranks of your encodings"},
              {"posbench board -o board.html", "a page with filters and plots"}});
  command->callback([request] { board(*request); });
}

}  // namespace posbench
