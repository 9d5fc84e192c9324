// `posbench recommend`: the encodings of the board that are best on chosen aspects at a cost.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/config/embedded_data.h"
#include "harness/console/help.h"
#include "harness/console/output.h"
#include "harness/console/read_board.h"
#include "harness/console/terminal.h"
#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"

namespace posbench {
namespace {

struct RecommendRequest {
  std::string aspects;
  std::optional<double> cost;
  Output output;
};

struct Recommendation {
  std::string encoding;
  std::vector<AspectScore> scores;  // in the order of the chosen aspects
  std::optional<double> cost;

  double mean() const {
    double sum = 0;
    for (const AspectScore& score : scores) sum += score.mean;
    return sum / static_cast<double>(scores.size());
  }
};

/// Returns the chosen aspects with their tasks. Throws InputError if one is unknown.
std::vector<AspectTasks> choose_aspects(const std::string& list, const std::vector<AspectTasks>& known) {
  std::vector<std::string> names;
  for (const AspectTasks& aspect : known) names.push_back(aspect.aspect);
  std::vector<AspectTasks> chosen;
  for (std::string name : split_list(list, ',')) {
    std::ranges::replace(name, '_', ' ');
    const auto found = std::ranges::find(known, name, &AspectTasks::aspect);
    if (found == known.end()) {
      throw InputError(fmt::format("unknown aspect '{}'{} (aspects: {})", name, did_you_mean(name, names),
                                   fmt::join(names, ", ")));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

/// Returns the encodings that ran every task of the aspects, the best mean score first.
std::vector<Recommendation> recommend(const BoardReport& all, const std::vector<AspectTasks>& aspects,
                                      std::optional<double> greatest_cost) {
  std::set<std::string> encodings;
  for (const ExperimentResult& experiment : all.report.experiments) encodings.insert(experiment.id.encoding);
  std::vector<Recommendation> found;
  for (const std::string& encoding : encodings) {
    const auto cost = all.costs.find(encoding);
    Recommendation one{.encoding = encoding,
                       .scores = score_aspects(all.report, encoding, aspects),
                       .cost = cost == all.costs.end() ? std::nullopt : std::optional(cost->second)};
    const bool complete = std::ranges::equal(one.scores, aspects, [](const auto& score, const auto& aspect) {
      return score.aspect == aspect.aspect && score.tasks == static_cast<int>(aspect.tasks.size());
    });
    if (complete && (!greatest_cost || (one.cost && *one.cost <= *greatest_cost))) found.push_back(std::move(one));
  }
  std::ranges::stable_sort(found, std::greater<>(), &Recommendation::mean);
  return found;
}

Table make_table(const std::vector<Recommendation>& found, const std::vector<AspectTasks>& aspects) {
  Table table{{{"encoding"}}, {}};
  for (const AspectTasks& aspect : aspects) table.columns.push_back({aspect.aspect, Align::right});
  table.columns.push_back({"cost", Align::right});
  for (const Recommendation& one : found) {
    std::vector<Cell> cells{one.encoding};
    for (const AspectScore& score : one.scores) {
      cells.emplace_back(fmt::format("{} ({:.2f} to {:.2f})", accuracy_text(score.mean), score.interval.low,
                                     score.interval.high));
    }
    cells.emplace_back(one.cost ? fmt::format("{:.1f}x", *one.cost) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> make_notes(const std::vector<AspectTasks>& aspects) {
  std::vector<std::string> notes{
      "Score: token accuracy out of distribution, rescaled so that the best trivial predictor has 0 and the right answers "
      "have 1, mean over tasks; in brackets, 95 % by bootstrap over tasks and seeds. Encodings are sorted by the mean of "
      "the scores. Encodings that did not run every task are left out.",
      "Cost: core time of a training step, plain attention is 1."};
  for (const AspectTasks& aspect : aspects)
    notes.push_back(fmt::format("{}: {}", aspect.aspect, fmt::join(aspect.tasks, ", ")));
  return notes;
}

Json to_json(const std::vector<Recommendation>& found, const std::vector<AspectTasks>& aspects) {
  Json json;
  json["aspects"] = write_list(aspects, [](const AspectTasks& aspect) {
    return Json{{"aspect", aspect.aspect}, {"tasks", aspect.tasks}};
  });
  json["encodings"] = write_list(found, [](const Recommendation& one) {
    Json scores = write_list(one.scores, [](const AspectScore& score) {
      return Json{{"score", score.mean},
                  {"low", score.interval.low},
                  {"high", score.interval.high},
                  {"learned", score.learned}};
    });
    return Json{
        {"encoding", one.encoding}, {"cost", one.cost ? Json(*one.cost) : Json(nullptr)}, {"scores", scores}};
  });
  return json;
}

void print_recommendations(const RecommendRequest& request) {
  const Format chosen = output_format(request.output);
  if (chosen == Format::html) throw InputError("recommend needs --format console, markdown, csv or json");
  const BoardReport all = read_board();
  const std::vector<AspectTasks> aspects = choose_aspects(request.aspects, tasks_by_aspect(all.report));
  const std::vector<Recommendation> found = recommend(all, aspects, request.cost);
  if (found.empty())
    throw InputError(
        "no encoding of the board ran every task of these aspects at this cost; choose fewer or raise --cost");
  if (chosen == Format::json) return write_output(request.output, to_indented_json(to_json(found, aspects)));
  const Table table = make_table(found, aspects);
  if (chosen == Format::csv) return write_output(request.output, to_csv(table));
  const ConsoleStyle style = console_style(request.output);
  std::string text = (chosen == Format::markdown ? to_markdown(table) : to_console_text(table, style)) + "\n";
  for (const std::string& note : make_notes(aspects)) {
    text += (chosen == Format::markdown
                 ? escape_markdown(note) + "\n"
                 : wrap_text(to_printable(note), 2, style.width == 0 ? kPipedWidth : style.width)) +
            "\n";
  }
  write_output(request.output, text);
}

}  // namespace

void add_recommend(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<RecommendRequest>();
  CLI::App* command =
      app.add_subcommand("recommend", "List the encodings of the board that are best on chosen aspects")
          ->group(kResults);
  command
      ->add_option(
          "--aspects", request->aspects,
          "comma-separated: recall, counting, copying, order, state tracking, arithmetic, hierarchy, aggregation")
      ->required();
  command->add_option("--cost", request->cost, "greatest cost of a training step; plain attention has 1")
      ->check(CLI::PositiveNumber)
      ->default_str("any");
  add_output(*command, request->output);
  set_footer(*command,
             {{"posbench recommend --aspects counting", "the encodings that count best out of distribution"},
              {"posbench recommend --aspects counting,recall --cost 1.3",
               "two abilities, almost as fast as plain attention"}});
  command->callback([request] { print_recommendations(*request); });
}

}  // namespace posbench
