#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "harness/commands/describe.h"
#include "harness/runs/page_options.h"
#include "harness/training/baselines.h"
#include "harness/training/task_setup.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_document.h"
#include "results/presentation/report_page.h"

namespace posbench {
namespace {

Facts task_facts(const TaskInfo& info, const TaskSetup& setup) {
  const bool is_marked = info.learnability != Learnability::learnable;
  return {{{"definition", info.definition},
           {"requirement", info.requirement},
           {"aspects", aspects_text(info)},
           {"learnability", is_marked ? fmt::format("{}, with the default options: {}",
                                                    to_string(info.learnability), info.learnability_note)
                                      : ""},
           {"source", info.source},
           {"published as", info.published_name},
           {"published use", info.published},
           {"models", info.causal_only ? "causal" : "causal, bidirectional (answer slots)"},
           {"length unit", info.length_unit},
           {"distance unit", info.distance_unit},
           {"vocabulary", fmt::format("{}", setup.model_config.vocabulary)},
           {"longest", fmt::format("about {} tokens in training, {} in tests", setup.model_config.trained_length,
                                   setup.model_config.longest)}}};
}

Table splits_table(const TaskSetup& setup) {
  Table table{{{"split"}, {"changes, and purpose"}}, {}};
  for (const TaskInfo::Split& split : setup.splits)
    table.rows.push_back({split.name, fmt::format("{}; {}", split_changes(*setup.info, split), split.why)});
  return table;
}

void add_baseline(const TaskBaseline& baseline, Document& document) {
  document.blocks.push_back(Heading{"Without reading the question"});
  document.blocks.push_back(baseline_table(baseline));
  document.blocks.push_back(
      Note{fmt::format("Accuracy by token of a guess (chance) and of predictors that ignore most of the question, "
                       "measured on {} samples each. seen in training: the fraction of the test samples that also "
                       "occur in {} training samples. entropy: the smallest possible loss.",
                       kBaselineSamples / 2, baseline.training_samples.value_or(0))});
}

/// Returns the form of the task in which the evidence is uniformly anywhere.
std::string far_text(const TaskInfo::Far& far) {
  std::vector<std::string> options;
  for (const auto& [name, value] : far.options) options.push_back(name + "=" + value);
  return fmt::format("far evidence, of the effective length: {}",
                     options.empty() ? "as in training" : fmt::format("{}", fmt::join(options, ", ")));
}

/// Adds the definition, the options and the splits of a registered task.
void add_definition(const TaskEntry& entry, const std::string& spec, const TaskBaseline* stored, bool measures,
                    Document& document) {
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, spec);
  document.blocks = {task_facts(entry.info, setup)};
  if (!entry.options.empty()) document.blocks.push_back(options_table(entry.options));
  document.blocks.push_back(Heading{"Splits"});
  document.blocks.push_back(splits_table(setup));
  if (entry.info.far) document.blocks.push_back(Note{far_text(*entry.info.far)});
  for (const std::string& split : setup.skipped_splits) document.blocks.push_back(Note{"skipped: " + split});
  document.brief = document.blocks;
  document.rest =
      "predictors that do not read the question, and the encodings of the board and claims if there are any";
  if (stored != nullptr) {
    add_baseline(*stored, document);
  } else if (measures) {
    add_baseline(measure_baselines(setup), document);
  }
}

/// Adds the encodings of the board on the task.
void add_results(const BoardTask& task, const BoardResults& results, Document& document) {
  document.blocks.push_back(Heading{fmt::format("Encodings on {}", task.task), "encodings"});
  document.blocks.push_back(Text{task_summary_text(task, results.board.options)});
  Table table = board_table(task, results.texts);
  table.columns.front().names = Names::encodings;
  document.blocks.push_back(std::move(table));
  const Board board{.options = results.board.options, .tasks = {task}};
  for (const std::string& note : board_length_notes(board)) document.blocks.push_back(Note{note});
  for (const std::string& note : board_notes(board)) document.blocks.push_back(Note{note});
}

/// Returns plots of the seeds, and of all results on the task.
Page task_page(const BoardResults& results, const TaskBaseline& task) {
  Page page{.sections = {{"Seeds", "A dot is a seed, and a bar the mean. The cost is at the right of a row.",
                          seed_plots(results.all, task, results.board.options)}}};
  Report one{.tasks = {task}};
  for (const ExperimentResult& experiment : results.all.report.experiments) {
    if (experiment.id.task == task.task) one.experiments.push_back(experiment);
  }
  add_report_plots(one, page_options(), AddedSections::task, page);
  return page;
}

}  // namespace

Table baseline_table(const TaskBaseline& baseline) {
  Table table{{{"split"}, {"chance", Align::right}}, {}};
  for (const auto& [name, accuracy] : baseline.splits.front().trivial)
    table.columns.push_back({name, Align::right});
  const auto is_known = [](const SplitBaseline& split) { return split.seen_in_training.has_value(); };
  const bool has_seen = std::ranges::any_of(baseline.splits, is_known);
  if (has_seen) table.columns.push_back({"seen in training", Align::right});
  const bool has_entropy =
      std::ranges::any_of(baseline.splits, [](const SplitBaseline& split) { return split.entropy.has_value(); });
  if (has_entropy) table.columns.push_back({"entropy in nats", Align::right});
  for (const SplitBaseline& split : baseline.splits) {
    std::vector<Cell> cells{split.name, fmt::format("{:.3f}", split.chance)};
    for (const auto& [name, accuracy] : split.trivial) cells.emplace_back(fmt::format("{:.3f}", accuracy));
    if (has_seen)
      cells.emplace_back(split.seen_in_training ? fmt::format("{:.3f}", *split.seen_in_training) : "-");
    if (has_entropy) cells.emplace_back(split.entropy ? fmt::format("{:.4f}", *split.entropy) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table options_table(const std::vector<OptionInfo>& options) {
  Table table{{{"option"}, {"meaning, and expected value"}}, {}};
  for (const OptionInfo& o : options)
    table.rows.push_back({fmt::format("{}={}", o.name, o.value), fmt::format("{}; {}", o.help, o.expected)});
  return table;
}

std::string split_changes(const TaskInfo& info, const TaskInfo::Split& split) {
  const auto raw = std::ranges::find(info.splits, split.name, &TaskInfo::Split::name);
  std::vector<std::string> pieces;
  for (size_t n = 0; n < split.options.size(); ++n) {
    const auto& [option, value] = split.options[n];
    const std::string& relative = raw->options[n].second;
    pieces.push_back(fmt::format("{}={}{}", option, value, relative == value ? "" : " (" + relative + ")"));
  }
  return pieces.empty() ? "-" : fmt::format("{}", fmt::join(pieces, ", "));
}

std::string aspects_text(const TaskInfo& info) {
  std::vector<std::string> names;
  for (const Aspect aspect : info.aspects) names.push_back(to_string(aspect));
  return fmt::format("{}", fmt::join(names, ", "));
}

Document task_document(const std::string& spec, const BoardResults& results, bool measures) {
  const std::string name = spec_name(spec);
  const TaskEntry* entry = tasks().contains(name) ? &tasks().find(name) : nullptr;
  const std::vector<TaskBaseline>& measured = results.all.report.tasks;
  const auto baseline = std::ranges::find(measured, spec, &TaskBaseline::task);
  const TaskBaseline* stored = baseline == measured.end() ? nullptr : &*baseline;
  Document document{.title = entry == nullptr ? fmt::format("{} (task, of a report)", spec)
                                              : fmt::format("{} (task, {}, version {})", spec, entry->info.family,
                                                            entry->info.version),
                    .blocks = {}};
  if (entry != nullptr) add_definition(*entry, spec, stored, measures, document);
  const auto found = std::ranges::find(results.board.tasks, spec, &BoardTask::task);
  std::optional<BoardTask> task;
  if (found != results.board.tasks.end()) {
    task = *found;
    add_results(*found, results, document);
    document.page = [&results, stored] { return task_page(results, *stored); };
  } else {
    document.blocks.push_back(Heading{"Encodings", "encodings"});
    document.blocks.push_back(
        Text{fmt::format("The board has no result of it. 'posbench run -t {}' makes some.", for_shell(spec))});
  }
  add_claims(claims_about(name, tasks_of), document);
  document.json = [&results, entry, task] {
    Json json = entry == nullptr ? Json::object() : to_json(*entry);
    if (task)
      json["board"] = to_json(Board{.options = results.board.options, .tasks = {*task}}, results.texts, {});
    return json;
  };
  return document;
}

Json to_json(const std::vector<OptionInfo>& options) {
  return write_list(options, [](const OptionInfo& o) {
    const std::string& type = to_string(o.type);
    return Json{
        {"name", o.name}, {"type", type}, {"default", o.value}, {"expected", o.expected}, {"help", o.help}};
  });
}

Json to_json(const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  Json splits = Json::array();
  for (const TaskInfo::Split& split : info.splits) {
    Json changed = Json::object();
    for (const auto& [option, value] : split.options) changed[option] = value;
    splits.push_back({{"name", split.name}, {"options", changed}, {"why", split.why}});
  }
  return {{"id", info.name},
          {"family", info.family},
          {"version", info.version},
          {"definition", info.definition},
          {"requirement", info.requirement},
          {"aspects", write_list(info.aspects, [](Aspect aspect) { return Json(to_string(aspect)); })},
          {"learnability", to_string(info.learnability)},
          {"learnability_note", info.learnability_note},
          {"source", info.source},
          {"published_name", info.published_name},
          {"published", info.published},
          {"causal_only", info.causal_only},
          {"length_unit", info.length_unit},
          {"distance_unit", info.distance_unit},
          {"options", to_json(entry.options)},
          {"splits", splits}};
}

}  // namespace posbench
