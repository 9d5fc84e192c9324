// `posbench show`: everything that is registered or measured of one name.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "encodings/aliases.h"
#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/facts.h"
#include "harness/console/help.h"
#include "harness/console/known_names.h"
#include "harness/console/lines.h"
#include "harness/console/split_text.h"
#include "harness/console/terminal.h"
#include "harness/runs/claims.h"
#include "harness/training/baselines.h"
#include "harness/training/make_model.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_text.h"
#include "results/statistics/claims.h"
#include "results/statistics/comparison.h"
#include "results/statistics/statistics.h"
#include "results/types/metric.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

std::string options_text(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "options: none\n";
  std::string text = "options:\n";
  for (const OptionInfo& o : options) {
    text += two_columns(fmt::format("  {:<16} {:<12} ", o.name, o.value.empty() ? "-" : o.value),
                        o.help + "; " + o.expected, list_width());
  }
  return text;
}

std::string field(const std::string& name, const std::string& value) {
  constexpr size_t kColumn = 16;
  return value.empty() ? "" : fmt::format("{:<15} {}\n", name + ":", wrapped_lines(value, kColumn, list_width()));
}

std::string fields(const std::vector<SiteFact>& facts) {
  std::string text;
  for (const SiteFact& fact : facts) text += field(fact.name, fact.text);
  return text;
}

/// Returns the equation with each of its definitions on its own line.
std::string equation_lines(std::string equation) {
  constexpr std::string_view kGap = ",   ";
  for (size_t at = equation.find(kGap); at != equation.npos; at = equation.find(kGap, at))
    equation.replace(at, kGap.size(), ",\n");
  return equation;
}

std::string show_encoding(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  return fmt::format("{} (encoding, {})\n\n", info.name, to_string(info.family)) +
         field("also called", fmt::format("{}", fmt::join(aliases_of(info.name), ", "))) +
         field("equation", equation_lines(info.equation)) + field("source", info.source) +
         field("used in", fmt::format("{}", fmt::join(info.used_in, ", "))) + fields(encoding_facts(info)) + "\n" +
         options_text(entry.options);
}

/// Returns the spec of each layer, or nothing if all layers have the same.
std::vector<Spec> layer_specs(Spec spec, int layers) {
  std::optional<Spec> inner = spec;
  while (inner && !encodings().find(inner->name).of_layer) inner = wrapped(*inner);
  std::vector<Spec> specs;
  for (int layer = 0; inner && layer < layers; ++layer)
    specs.push_back(encodings().find(inner->name).of_layer(*inner, layer, layers));
  return specs;
}

/// Returns the encodings of the layers. Adjacent layers with the same share a line.
std::string layers_text(const Spec& spec, int layers) {
  const std::vector<Spec> specs = layer_specs(spec, layers);
  if (specs.empty()) return "";
  std::string text = fmt::format("\nencodings of a model with {} layers:\n", layers);
  for (size_t first = 0, next = 0; first < specs.size(); first = next) {
    while (next < specs.size() && specs[next].text() == specs[first].text()) ++next;
    const std::string range = next - first == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, next - 1);
    text += two_columns(fmt::format("  {:<7} ", range), specs[first].text(), list_width());
  }
  return text;
}

/// Throws InputError if a causal and a bidirectional model with this encoding are both refused.
void check_layers(const Spec& spec, int layers) {
  const auto refusal = [&](Attention attention) -> std::optional<std::string> {
    ExperimentOptions options;
    options.model.layers = layers;
    options.model.attention = attention;
    try {
      make_model(spec, make_task_setup(options, "flip_flop").model_config);
      return std::nullopt;
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::optional<std::string> causal = refusal(Attention::causal);
  if (causal && refusal(Attention::bidirectional)) throw InputError(*causal);
}

std::string show_preset(const Preset& preset) {
  return fmt::format("{} (preset)\n\n", preset.name) + field("spec", preset.spec) + field("models", preset.model) +
         field("source", preset.source) + field("pattern", preset.pattern) + field("here", preset.scaling);
}

std::string show_task(const std::string& spec, const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, spec);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text = fmt::format("{} (task, {}, version {})\n\n", info.name, info.family, info.version) +
                     fields(task_facts(info)) +
                     field("vocabulary", fmt::format("{}", setup.model_config.vocabulary)) +
                     field("longest", fmt::format("about {} tokens in training, {} in tests",
                                                  setup.model_config.trained_length, setup.model_config.longest));
  text += "\n" + options_text(entry.options) + "\nsplits:\n";
  for (const TaskInfo::Split& split : setup.splits) {
    text += two_columns(fmt::format("  {:<20} {:<36} ", split.name, split_changes(info, split)), split.why,
                        list_width());
  }
  for (const std::string& split : setup.skipped_splits)
    text += "  " + wrap_text("skipped: " + split, 4, list_width()) + "\n";
  text += fmt::format("\naccuracy by token without reading the question (measured on {} samples each):\n",
                      kBaselineSamples / 2);
  for (const SplitBaseline& split : baseline.splits) {
    std::string accuracies = fmt::format("chance {:.3f}", split.chance);
    for (const auto& [name, accuracy] : split.trivial) accuracies += fmt::format(", {} {:.3f}", name, accuracy);
    if (split.entropy)
      accuracies += fmt::format("; entropy {:.4f} nats, the smallest possible loss", *split.entropy);
    text += two_columns(fmt::format("  {:<20} ", split.name), accuracies, list_width());
  }
  text += fmt::format("\nfraction of test samples that also occur in {} training samples:\n",
                      baseline.training_samples.value_or(0));
  for (const SplitBaseline& split : baseline.splits)
    text += fmt::format("  {:<20} {:.3f}\n", split.name, split.seen_in_training.value_or(0));
  return text;
}

std::string show_shift() {
  return "shift (split)\n\n" +
         field("meaning",
               "the test samples in distribution, whose positions begin at a number from 1 to "
               "evaluation.shift times the trained length; every task has it if evaluation.shift is set");
}

/// Returns the tasks that have a split, with its options and its purpose. Empty if no task has it.
std::string show_split(const std::string& name) {
  if (name == kShift) return show_shift();
  std::string text;
  for (const std::string& task : tasks().names()) {
    const TaskSetup setup = make_task_setup(ExperimentOptions{}, task);
    for (const TaskInfo::Split& split : setup.splits) {
      if (split.name != name) continue;
      text += two_columns(fmt::format("  {:<28} {:<32} ", task, split_changes(tasks().find(task).info, split)),
                          split.why, list_width());
    }
  }
  return text.empty() ? ""
                      : fmt::format("{} (split)\n\ntasks, with what the split changes and why:\n{}", name, text);
}

/// Returns the description of a setting. Empty if there is none.
std::string show_setting(const std::string& name) {
  for (const OptionInfo& o : all_settings()) {
    if (o.name != name) continue;
    return fmt::format("{} (setting)\n\n", o.name) + field("meaning", o.help) + field("expected", o.expected) +
           field("default", o.value.empty() ? "none" : o.value) +
           field("example", fmt::format("posbench run --set {}=VALUE", o.name)) +
           "\nA profile may have another default; 'posbench show quick' prints its values.\n";
  }
  return "";
}

/// Returns the description of a metric. Empty if there is none.
std::string show_metric(const std::string& name) {
  for (const MetricInfo& metric : metrics()) {
    if (metric.name != name) continue;
    return fmt::format("{} (metric)\n\n", metric.name) + field("meaning", metric.title) +
           field("definition", metric.definition) + field("better", metric.lower_is_better ? "lower" : "higher") +
           field("example", fmt::format("posbench compare before after --metric {}", metric.name));
  }
  return "";
}

/// Returns the means over seeds that an order rule compares. Empty if the evidence lacks one of them.
std::string means_line(const OrderRule& order, Metric metric, const AllEvidence& all) {
  std::vector<std::string> means;
  for (const ClaimCell* cell : {&order.high, &order.low}) {
    const auto found = all.find(evidence_key(*cell, metric));
    if (found == all.end()) return "";
    const std::vector<double>& values = found->second.values;
    means.push_back(
        fmt::format("{} {} ({} seeds)", cell->encoding, accuracy_text(mean(values), 3), values.size()));
  }
  return field("means", fmt::format("{}", fmt::join(means, ", ")));
}

/// Returns the result of a rule: the difference or the number of seeds, and the reason. `title` begins the line.
/// Empty if the claim was not run.
std::string found_line(const std::string& title, const Rule& rule, const RuleResult& result) {
  if (result.verdict == ClaimVerdict::not_run) return "";
  std::string text = found_text(result);
  if (result.reason.starts_with(text)) return field(title, result.reason);
  const bool weaker = result.verdict == ClaimVerdict::weaker;
  const bool contradicted = result.verdict == ClaimVerdict::contradicted;
  const std::optional<double> p = weaker         ? result.p_below_least
                                  : contradicted ? result.p_below_zero
                                                 : result.p_above_least;
  const auto* order = std::get_if<OrderRule>(&rule);
  if (order && p && result.verdict != ClaimVerdict::inconclusive) {
    text +=
        fmt::format("; p {} for a difference {}, corrected for all claims",
                    *p < 0.001 ? "< 0.001" : fmt::format("= {:.3f}", *p),
                    contradicted ? "below 0" : fmt::format("{} {:.4g}", weaker ? "below" : "above", order->least));
  }
  return field(title, text + (result.reason.empty() ? "" : ": " + result.reason));
}

/// Returns a claim with its rules and the verdict of the stored runs.
std::string claim_text(const ClaimFile& file) {
  const Claim claim = plan_claims({file.claim.name}, ClaimSize::reduced).claims.front();
  const ClaimResult reduced = stored_result(file, ClaimSize::reduced), full = stored_result(file, ClaimSize::full);
  std::string text = fmt::format("{} (claim, {})\n\n", claim.name, claim.family) +
                     field("statement", claim.statement) + field("source", claim.source) +
                     field("kind", to_string(claim.kind)) +
                     field("source read", fmt::format("{}: {}", claim.read_from, claim.read_where));
  int seeds = 0;  // that would decide the claim; 0 if more seeds would not
  for (size_t n = 0; n < claim.rules.size(); ++n) {
    const Rule& rule = claim.rules[n];
    const auto* order = std::get_if<OrderRule>(&rule);
    std::string line = rule_text(rule);
    if (order) line += fmt::format("; by more than {:.4g}", order->least);
    for (const ClaimCell* cell : cells_of(rule)) {
      if (cell->learned_from)
        line +=
            fmt::format("; a seed of {} has learned the task at {} or more", cell->encoding, *cell->learned_from);
    }
    text += field("rule", line);
    if (order) text += means_line(*order, claim.metric, stored_claims(ClaimSize::reduced).evidence);
    text += found_line("found", rule, reduced.rules.at(n)) + found_line("found, full", rule, full.rules.at(n));
    seeds = std::max(seeds, reduced.rules.at(n).seeds_needed.value_or(0));
  }
  for (const Published& number : claim.published)
    text += field("published", fmt::format("{}: {} {}", number.encoding, number.value, number.what));
  text += field("differs", file.settings.at(ClaimSize::reduced).differs) +
          (file.has_one_size ? "" : field("differs, full", file.settings.at(ClaimSize::full).differs)) +
          field("predicted", claim.expected) + field("verdict", to_string(reduced.verdict)) +
          field("at full size", to_string(full.verdict));
  const bool is_reduced = file.settings.at(ClaimSize::reduced).comparable;
  if (!is_reduced && !file.settings.at(ClaimSize::full).comparable) return text;
  return text + fmt::format("\n'posbench reproduce {}{}{}' trains its runs and judges it.\n", claim.name,
                            is_reduced ? "" : " --full", seeds > 0 ? fmt::format(" -s {}", seeds) : "");
}

/// Returns the text of the claim with this name. Empty if there is none.
std::string show_claim(const std::string& name) {
  const auto found = std::ranges::find(claim_files(), name, [](const ClaimFile& file) { return file.claim.name; });
  return found == claim_files().end() ? "" : claim_text(*found);
}

/// Returns the encodings that a model uses, regardless of case. Empty if the model is not known.
std::string show_model(const std::string& name) {
  std::string text;
  for (const std::string& encoding : encodings().names()) {
    const EncodingEntry& entry = encodings().find(encoding);
    for (const std::string& model : entry.info.used_in) {
      if (strcasecmp(model.c_str(), name.c_str()) == 0)
        text += fmt::format("{} (model) uses this encoding:\n\n{}", model, show_encoding(entry));
    }
  }
  return text;
}

/// Returns the meaning of a verdict on a claim or of a comparison, given "weaker" or "not_run". Empty if there is
/// no such verdict.
std::string show_verdict(const std::string& text) {
  std::string shown, called = lower_case(text);
  std::ranges::replace(called, '_', ' ');
  for (const ClaimVerdict verdict : kClaimVerdicts) {
    if (called != to_string(verdict)) continue;
    shown = fmt::format("{} (verdict on a claim)\n\n", called) + field("meaning", meaning(verdict)) +
            field("claims", fmt::format("posbench reproduce --list --verdict {}", word_of(verdict)));
  }
  for (const Verdict verdict : kVerdicts) {
    if (called != to_string(verdict)) continue;
    shown += fmt::format("{}{} (verdict of compare)\n\n", shown.empty() ? "" : "\n", called) +
             field("meaning", meaning(verdict)) + field("example", "posbench compare before after");
  }
  return shown;
}

struct ShowRequest {
  std::string name;
  std::optional<int> layers;  // of the model whose encodings are printed
};

std::string show_encoding(const ShowRequest& request) {
  constexpr int kLayers = 6;  // the longest period of a preset
  const Spec spec = read_encoding(request.name);
  const Preset* preset = find_preset(spec.name);
  const std::string about = preset != nullptr ? show_preset(*preset) : show_encoding(encodings().find(spec.name));
  const int count = request.layers.value_or(kLayers);
  const std::string layers = layers_text(spec, count);
  if (!layers.empty()) check_layers(spec, count);
  if (layers.empty() && request.layers) {
    throw InputError(fmt::format(
        "--layers: all layers have '{}'; expected a preset or the encoding layers, such as layers:of=(rope,none)",
        spec.text()));
  }
  return about + layers;
}

/// Returns the meaning of an aspect, given "state tracking" or "aspect:state_tracking", and its tasks. Empty if
/// there is none.
std::string show_aspect(const std::string& text) {
  std::string given = lower_case(text);
  std::ranges::replace(given, ' ', '_');
  for (const Aspect aspect : kAspects) {
    const std::string name = to_string(aspect);
    std::string item = "aspect:" + name;
    std::ranges::replace(item, ' ', '_');
    if (given != item && given != item.substr(item.find(':') + 1)) continue;
    return fmt::format("{} (aspect)\n\n", name) + field("meaning", meaning(aspect)) +
           field("tasks", fmt::format("{}", fmt::join(select(item, "task"), ", "))) +
           field("example", fmt::format("posbench run -e mine,none -t {}", item));
  }
  return "";
}

/// Throws InputError if nothing has this name.
std::string show_text(const ShowRequest& request) {
  const std::string& text = request.name;
  if (read_aspect(text)) return show_aspect(text);
  const Spec spec = Spec::parse(text);
  if (encodings().contains(encoding_name(spec.name))) return show_encoding(request);
  if (request.layers)
    throw InputError(fmt::format("--layers: '{}' is not an encoding or a preset; leave out --layers", text));
  if (tasks().contains(task_name(spec.name)))
    return show_task(read_task(text).task.text(), tasks().find(task_name(spec.name)));
  if (profiles().contains(text)) return profiles().at(text);
  for (const auto show :
       {show_split, show_setting, show_metric, show_claim, show_model, show_aspect, show_verdict}) {
    const std::string shown = show(text);
    if (!shown.empty()) return shown;
  }
  refuse_unknown_name(spec.name);
}

}  // namespace

void add_show(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<ShowRequest>();
  CLI::App* command =
      app.add_subcommand(
             "show",
             "Show one name: a task, an encoding with its equation, a profile, split, setting, metric, claim, "
             "aspect such as recall, verdict such as weaker, or model such as llama")
          ->group(kExplore);
  command
      ->add_option(
          "name", request->name,
          "task or encoding, with or without options; or a profile, split, setting, metric, claim, aspect, verdict "
          "or model")
      ->required();
  command
      ->add_option("--layers", request->layers,
                   "number of layers of the model whose encodings are printed, for presets and 'layers'")
      ->default_str("6")
      ->check(in_range({1, 64}));
  set_footer(*command,
             {{"posbench show cope", "equation, source, options, properties"},
              {"posbench show llama4 --layers 8", "pattern of a model, and the encoding of each layer"},
              {"posbench show flip_flop:length=64", "definition, options, splits, chance, trivial predictors"},
              {"posbench show ood_far4", "tasks with a split, and what it changes"},
              {"posbench show training.steps", "meaning, range and default of a setting"},
              {"posbench show standard > mine.json", "settings of a profile, to change for 'run --config'"}});
  command->callback([request] { std::fputs(show_text(*request).c_str(), stdout); });
}

}  // namespace posbench
