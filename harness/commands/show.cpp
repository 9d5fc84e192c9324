// `posbench show`: everything that is registered or measured of one name.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/known_names.h"
#include "harness/console/output.h"
#include "harness/console/read_reports.h"
#include "harness/runs/claims.h"
#include "harness/training/make_model.h"
#include "harness/training/task_setup.h"
#include "results/presentation/encoding_card.h"
#include "results/statistics/claims.h"
#include "results/statistics/comparison.h"
#include "results/types/metric.h"

namespace posbench {
namespace {

/// Returns the spec of each layer, or nothing if all layers have the same.
std::vector<Spec> layer_specs(Spec spec, int layers) {
  std::optional<Spec> inner = spec;
  while (inner && !encodings().find(inner->name).of_layer) inner = wrapped(*inner);
  std::vector<Spec> specs;
  for (int layer = 0; inner && layer < layers; ++layer)
    specs.push_back(encodings().find(inner->name).of_layer(*inner, layer, layers));
  return specs;
}

/// Returns the encodings of the layers. Adjacent layers with the same share a row.
Table layers_table(const std::vector<Spec>& specs) {
  Table table{{{"layers"}, {"encoding"}}, {}};
  for (size_t first = 0, next = 0; first < specs.size(); first = next) {
    while (next < specs.size() && specs[next].text() == specs[first].text()) ++next;
    table.rows.push_back({next - first == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, next - 1),
                          specs[first].text()});
  }
  return table;
}

/// Throws InputError if a causal and a bidirectional model with this encoding are both refused.
void check_layers(const Spec& spec, int layers) {
  const auto refusal = [&](bool causal) -> std::optional<std::string> {
    ExperimentOptions options;
    options.model.layers = layers;
    options.model.causal = causal;
    try {
      make_model(spec, make_task_setup(options, "flip_flop").model_config);
      return std::nullopt;
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::optional<std::string> causal = refusal(/*causal=*/true);
  if (causal && refusal(/*causal=*/false)) throw InputError(*causal);
}

/// Describes a split: the tasks that have it, its options and its purpose. Nothing if no task has it.
std::optional<Document> split_document(const std::string& name) {
  Document document{.title = fmt::format("{} (split)", name), .blocks = {}};
  if (name == kShift || name == kPacked) {
    document.blocks = {Facts{
        {{"meaning",
          name == kShift
              ? "the test samples in distribution, whose positions begin at a number from 1 to evaluation.shift "
                "times the trained length; every task has it if evaluation.shift is set"
              : "the test samples in distribution, training.pack of them in each sequence as in training; "
                "every task has it if training.pack is 2 or more"}}}};
    return document;
  }
  Table table{{{"task", Align::left, Names::tasks}, {"changes, and purpose"}}, {}};
  for (const std::string& task : tasks().names()) {
    const TaskSetup setup = make_task_setup(ExperimentOptions{}, task);
    for (const TaskInfo::Split& split : setup.splits) {
      if (split.name != name) continue;
      table.rows.push_back(
          {task, fmt::format("{}; {}", split_changes(tasks().find(task).info, split), split.why)});
    }
  }
  if (table.rows.empty()) return std::nullopt;
  document.blocks = {std::move(table)};
  return document;
}

/// Finds a setting by its name with or without the section. Several sections may have it.
std::optional<Document> setting_document(const std::string& name) {
  Document document;
  for (const OptionInfo& o : all_settings()) {
    if (o.name != name && !o.name.ends_with("." + name)) continue;
    document.title = fmt::format("{} (setting)", document.blocks.empty() ? o.name : name);
    document.blocks.insert(
        document.blocks.end(),
        {Heading{o.name}, Facts{{{"meaning", o.help},
                                 {"expected", o.expected},
                                 {"default", o.value.empty() ? "none" : o.value},
                                 {"example", fmt::format("posbench run --set {}=VALUE", o.name)}}}});
  }
  if (document.blocks.empty()) return std::nullopt;
  if (document.blocks.size() == 2) document.blocks.erase(document.blocks.begin());
  document.blocks.emplace_back(
      Note{"A profile may have another default; 'posbench show quick' prints its values."});
  return document;
}

std::optional<Document> metric_document(const std::string& name) {
  for (const MetricInfo& metric : metrics()) {
    if (metric.name != name) continue;
    return Document{
        .title = fmt::format("{} (metric)", metric.name),
        .blocks = {Facts{{{"meaning", metric.title},
                          {"definition", metric.definition},
                          {"better", metric.lower_is_better ? "lower" : "higher"},
                          {"example", fmt::format("posbench compare before after --metric {}", metric.name)}}}}};
  }
  return std::nullopt;
}

std::optional<Document> show_claim(const std::string& name) {
  const auto found = std::ranges::find(claim_files(), name, [](const ClaimFile& file) { return file.claim.name; });
  if (found == claim_files().end()) return std::nullopt;
  return claim_document(*found);
}

/// Describes the encodings that a model uses, regardless of case.
std::optional<Document> model_document(const std::string& name) {
  Document document;
  for (const std::string& encoding : encodings().names()) {
    const EncodingEntry& entry = encodings().find(encoding);
    for (const std::string& model : entry.info.used_in) {
      if (strcasecmp(model.c_str(), name.c_str()) != 0) continue;
      document.title = fmt::format("{} (model)", model);
      document.blocks.push_back(Heading{fmt::format("{} (encoding, {})", encoding, to_string(entry.info.family))});
      for (const auto part : {definition, properties})
        std::ranges::move(part(entry), std::back_inserter(document.blocks));
    }
  }
  if (document.blocks.empty()) return std::nullopt;
  return document;
}

/// Returns "not run", given "Not_run".
std::string in_words(const std::string& text) {
  std::string words = lower_case(text);
  std::ranges::replace(words, '_', ' ');
  return words;
}

/// Describes a verdict on a claim or of a comparison, given "weaker" or "not_run".
std::optional<Document> verdict_document(const std::string& text) {
  const std::string called = in_words(text);
  Document document{.title = fmt::format("{} (verdict)", called), .blocks = {}};
  for (const Verdict verdict : kComparisonVerdicts) {
    if (called != to_string(verdict)) continue;
    document.blocks.push_back(
        Facts{{{"meaning", meaning(verdict)}, {"example", "posbench compare before after"}}});
  }
  for (const Verdict verdict : kClaimVerdicts) {
    if (called != to_string(verdict)) continue;
    if (document.blocks.empty()) document.blocks.push_back(Facts{{{"meaning", meaning(verdict)}}});
    std::vector<const ClaimFile*> files;
    for (const ClaimFile& file : claim_files()) {
      const auto has_it = [&](ClaimSize size) { return stored_result(file, size).verdict == verdict; };
      if (has_it(ClaimSize::reduced) || has_it(ClaimSize::confirmation)) files.push_back(&file);
    }
    document.blocks.push_back(claims_table(files));
  }
  if (document.blocks.empty()) return std::nullopt;
  return document;
}

/// Explains a term of the documents, regardless of case.
std::optional<Document> term_document(const std::string& text) {
  const std::string given = in_words(text);
  for (const Term& term : glossary()) {
    const auto is_alias = [&](const std::string& alias) { return given == alias || lower_case(text) == alias; };
    if (given != term.name && std::ranges::none_of(term.aliases, is_alias)) continue;
    return Document{.title = fmt::format("{} (term)", term.name),
                    .blocks = {Facts{{{"meaning", term.meaning},
                                      {"commands", fmt::format("{}", fmt::join(term.commands, "\n"))}}}}};
  }
  return std::nullopt;
}

struct ShowRequest {
  std::string name;
  std::optional<int> layers;  // of the model whose encodings are printed
  AddedReports reports;
  Output output;
};

/// Adds the encoding of each layer, if they differ. Throws InputError if --layers is given and they do not.
void add_layers(const Spec& spec, std::optional<int> layers, Document& document) {
  constexpr int kLayers = 6;  // the longest period of a preset
  const int count = layers.value_or(kLayers);
  const std::vector<Spec> specs = layer_specs(spec, count);
  if (specs.empty() && layers) {
    throw InputError(fmt::format(
        "--layers: all layers have '{}'; expected a preset or the encoding layers, such as layers:of=(rope,none)",
        spec.text()));
  }
  if (specs.empty()) return;
  check_layers(spec, count);
  for (auto* blocks : {&document.blocks, &document.brief}) {
    blocks->push_back(Text{fmt::format("Encodings of a model with {} layers:", count)});
    blocks->push_back(layers_table(specs));
  }
}

/// Describes an aspect, given "state tracking" or "aspect:state_tracking", and its tasks.
std::optional<Document> aspect_document(const std::string& text) {
  const std::string given = in_words(text), name = given.substr(given.find(':') + 1);
  const std::optional<Aspect> aspect = names_of(Aspect{}).find(name);
  if (!aspect || (given != name && given != "aspect:" + name)) return std::nullopt;
  std::string item = "aspect:" + name;
  std::ranges::replace(item, ' ', '_');
  return Document{
      .title = fmt::format("{} (aspect)", name),
      .blocks = {Facts{{{"meaning", meaning(*aspect)},
                        {"tasks", fmt::format("{}", fmt::join(texts(select_tasks(item)), ", ")), Names::tasks},
                        {"example", fmt::format("posbench run -e mine,none -t {}", item)}}}}};
}

/// Adds the results of the user's reports, which the board names "rope (runs/mine)".
void add_users(const std::string& encoding, const BoardResults& results, Document& document) {
  std::set<std::string> names;
  for (const ExperimentId& experiment : results.all.user_experiments) {
    if (experiment.encoding.starts_with(encoding + " (")) names.insert(experiment.encoding);
  }
  for (const std::string& name : names) {
    const EncodingCard card = make_card(name, results.all, results.board, results.aspects);
    for (auto* blocks : {&document.blocks, &document.brief}) {
      blocks->push_back(Heading{name});
      std::ranges::move(card_summary(card), std::back_inserter(*blocks));
    }
    std::ranges::move(card_details(card), std::back_inserter(document.blocks));
  }
}

/// Writes the document of an encoding, given its name on the board. Returns false if it is neither registered nor
/// in a report of the user. A screen needs its own results alone, which are read in a fraction of the time. `none`
/// has run all tasks of the board.
bool write_encoding(const ShowRequest& request, const std::string& name) {
  std::vector<std::string> read;
  if (is_brief(request.output) && request.reports.paths.empty()) read = {name, "none"};
  const BoardResults results = make_board_results(read_board(request.reports, read));
  const bool is_registered = encodings().contains(spec_name(name));
  const auto is_it = [&](const ExperimentId& experiment) { return experiment.encoding == name; };
  if (!is_registered && std::ranges::none_of(results.all.user_experiments, is_it)) return false;
  Document document = encoding_document(name, results);
  add_users(name, results, document);
  if (is_registered) add_layers(Spec::parse(name), request.layers, document);
  write_document(request.output, document);
  return true;
}

/// Writes the document of an encoding, a preset or a task. Returns false if the name is none of these.
bool write_registered(const ShowRequest& request) {
  const std::string& text = request.name;
  const Spec given = Spec::parse(text);
  const bool is_encoding = encodings().contains(encoding_name(given.name));
  if (!is_encoding && request.layers)
    throw InputError(fmt::format("--layers: '{}' is not an encoding or a preset; leave out --layers", text));
  if (!is_encoding && !tasks().contains(task_name(given.name))) return false;
  if (is_encoding) return write_encoding(request, read_encoding(text).text());
  const bool shows_results = !is_brief(request.output) || !request.reports.paths.empty();
  std::vector<std::string> read;
  if (!shows_results) read = {"none"};
  const BoardResults results = make_board_results(read_board(request.reports, read));
  Document document = task_document(read_task(text).text(), results, /*measures=*/shows_results);
  if (shows_results) document.brief.clear();
  write_document(request.output, document);
  return true;
}

/// Throws InputError if nothing has this name.
void show(const ShowRequest& request) {
  const std::string& text = request.name;
  if (const std::optional<Document> term = term_document(text)) return write_document(request.output, *term);
  if (!read_aspect(text)) {
    if (write_registered(request)) return;
    if (!request.reports.paths.empty() && write_encoding(request, text)) return;
    if (profiles().contains(text)) return write_output(request.output, profiles().at(text));
  }
  for (const auto find : {show_claim, split_document, setting_document, metric_document, model_document,
                          aspect_document, verdict_document}) {
    if (const std::optional<Document> document = find(text)) return write_document(request.output, *document);
  }
  refuse_unknown_name(Spec::parse(text).name);
}

}  // namespace

void add_show(CommandLine& line) {
  const auto request = std::make_shared<ShowRequest>();
  Command& command =
      line.add(kExplore, "show",
               "Show one name with its definition and its results: an encoding, a task, claim, profile, split, "
               "setting, metric, aspect such as recall, verdict such as weaker, or model such as llama");
  command
      .name(
          "name", request->name, ValueKind::explained,
          "task or encoding, with or without options; or a profile, split, setting, metric, claim, aspect, verdict "
          "or model")
      .required();
  add_reports(command, request->reports);
  command
      .number("--layers", request->layers, 1, 64,
              "number of layers of the model whose encodings are printed, for presets and 'layers'")
      .default_text("6");
  add_output(command, request->output);
  add_full(command, request->output.full);
  command.explain(
      {{"posbench show cope", "equation and source; where it holds and where it fails, and at what cost"},
       {"posbench show cope -o cope.html", "a page with plots"},
       {"posbench show mine runs/mine", "an encoding of your own run"},
       {"posbench show llama4 --layers 8", "pattern of a model, and the encoding of each layer"},
       {"posbench show flip_flop", "definition, options and splits; --full: all encodings on it"},
       {"posbench show ood_far4", "tasks with a split, and what it changes"},
       {"posbench show training.steps", "meaning, range and default of a setting"},
       {"posbench show standard > mine.json", "settings of a profile, to change for 'run --config'"}});
  command.run([request] { show(*request); });
}

}  // namespace posbench
