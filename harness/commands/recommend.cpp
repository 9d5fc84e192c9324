// `posbench recommend`: the encodings of the board that are best on chosen aspects, at a length and a cost.
#include "results/statistics/recommend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/console/help.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/read_board.h"
#include "results/json/json.h"
#include "results/presentation/recommendation_text.h"

namespace posbench {
namespace {

struct RecommendRequest {
  AddedReports reports;
  std::string aspects;
  Need need;
  Output output;
};

/// Returns the chosen aspects with their tasks. Throws InputError if one is unknown.
std::vector<AspectTasks> choose_aspects(const std::string& list, const std::vector<AspectTasks>& known) {
  std::vector<std::string> names;
  for (const AspectTasks& aspect : known) names.push_back(aspect.aspect);
  std::vector<AspectTasks> chosen;
  for (const std::string& given : split_list(list, ',')) {
    std::string name = lower_case(given);
    std::ranges::replace(name, '_', ' ');
    const auto found = std::ranges::find(known, name, &AspectTasks::aspect);
    if (found == known.end()) {
      throw InputError(fmt::format("unknown aspect '{}'{} (aspects: {})", name, did_you_mean(name, names),
                                   fmt::join(names, ", ")));
    }
    if (std::ranges::find(chosen, name, &AspectTasks::aspect) != chosen.end())
      throw InputError(fmt::format("--aspects has '{}' twice; name it once", name));
    chosen.push_back(*found);
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

/// Returns the exit code: 1 if no encoding meets the need.
int print_recommendations(const RecommendRequest& request) {
  const Format chosen = output_format(request.output);
  if (chosen == Format::html)
    throw InputError("recommend writes no page; use -o with .md, .csv, .json, .tex or .txt");
  const BoardReport all = read_board(request.reports);
  Need need = request.need;
  need.aspects = choose_aspects(request.aspects, tasks_by_aspect(all));
  const Recommendations found = recommend(all, need);
  if (found.encodings.empty() || !found.encodings.front().keeps_length) {
    write_error(no_recommendation_text(found, need));
    return 1;
  }
  if (chosen == Format::json) {
    write_output(request.output, to_indented_json(to_json(found, need)));
    return 0;
  }
  const ConsoleStyle style = console_style(request.output);
  std::string text = table_text(recommendation_table(found, need), chosen, style);
  if (chosen == Format::csv) {
    write_output(request.output, text);
    return 0;
  }
  text += '\n';
  for (const std::string& note : recommendation_notes(found, need))
    text += line_text(note, chosen, style, 2) + (chosen == Format::markdown ? "\n\n" : "\n");
  write_output(request.output, text);
  return 0;
}

}  // namespace

void add_recommend(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<RecommendRequest>();
  CLI::App* command =
      app.add_subcommand("recommend", "List the encodings of the board that are best on chosen aspects")
          ->group(kResults);
  add_reports(*command, request->reports);
  command
      ->add_option(
          "--aspects", request->aspects,
          "comma-separated: recall, counting, copying, order, state tracking, arithmetic, hierarchy, aggregation")
      ->required();
  command
      ->add_option_function<std::string>(
          "--length", [request](const std::string& text) { request->need.length = parse_length(text); },
          "multiple of the trained length, as in 4x, at which more than half of the seeds must have 0.90 of the sequences right")
      ->default_str("any");
  command
      ->add_option("--share", request->need.share,
                   "fraction of the tasks of each aspect on which the length is kept; needs --length")
      ->check(in_range({0.0, 1.0}))
      ->needs("--length");
  command
      ->add_option("--cost", request->need.cost,
                   "greatest cost of a training step, as tables show it with one decimal; plain attention has 1")
      ->check(in_range({0.0, 1000.0}))
      ->default_str("any");
  add_output(*command, request->output, false);
  set_footer(*command,
             {{"posbench recommend --aspects counting", "the encodings that count best out of distribution"},
              {"posbench recommend --aspects counting,recall --cost 1.3",
               "two abilities, almost as fast as plain attention"},
              {"posbench recommend --aspects recall --length 2x", "that recall at twice the trained length"},
              {"posbench recommend runs/mine --aspects recall", "your encoding among them"}});
  command->callback([request, &invocation] { invocation.exit_code = print_recommendations(*request); });
}

}  // namespace posbench
