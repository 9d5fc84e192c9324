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
#include <vector>

#include "base/error.h"
#include "encodings/aliases.h"
#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/options_table.h"
#include "harness/commands/show_claim.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/command.h"
#include "harness/console/facts.h"
#include "harness/console/known_names.h"
#include "harness/console/lines.h"
#include "harness/console/split_text.h"
#include "harness/training/baselines.h"
#include "harness/training/make_model.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "results/document/wrap.h"
#include "results/presentation/claims_text.h"
#include "results/statistics/claims.h"
#include "results/statistics/comparison.h"
#include "results/types/metric.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

std::string options_text(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "options: none\n";
  std::string text = "options:\n";
  for (const std::vector<Cell>& row : options_table(options).rows) {
    text += two_columns(fmt::format("  {:<16} {:<12} ", row[0].text, row[1].text),
                        row[2].text + "; " + row[3].text, list_width());
  }
  return text;
}

/// Returns the columns of a split: `left`, a name and the changes, is wrapped if it is wider than the terminal.
std::string split_line(const std::string& left, const std::string& why) {
  const int width = list_width();
  const size_t end = left.find_last_not_of(' ') + 1;
  return two_columns(static_cast<int>(end) > width ? wrapped_lines(left.substr(0, end), 0, width) : left, why,
                     width);
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
         fact_line("also called", fmt::format("{}", fmt::join(aliases_of(info.name), ", "))) +
         fact_line("equation", equation_lines(info.equation)) + fact_line("source", info.source) +
         fact_line("used in", fmt::format("{}", fmt::join(info.used_in, ", "))) +
         fact_lines(encoding_facts(info)) + "\n" + options_text(entry.options);
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
  return fmt::format("{} (preset)\n\n", preset.name) + fact_line("spec", preset.spec) +
         fact_line("models", preset.model) + fact_line("source", preset.source) +
         fact_line("pattern", preset.pattern) + fact_line("here", preset.scaling);
}

std::string show_task(const std::string& spec, const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, spec);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text =
      fmt::format("{} (task, {}, version {})\n\n", info.name, info.family, info.version) +
      fact_lines(task_facts(info)) + fact_line("vocabulary", fmt::format("{}", setup.model_config.vocabulary)) +
      fact_line("longest", fmt::format("about {} tokens in training, {} in tests",
                                       setup.model_config.trained_length, setup.model_config.longest));
  text += "\n" + options_text(entry.options) + "\nsplits:\n";
  for (const TaskInfo::Split& split : setup.splits) {
    text += split_line(fmt::format("  {:<20} {:<36} ", split.name, split_changes(info, split)), split.why);
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
         fact_line("meaning",
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
      text += split_line(fmt::format("  {:<28} {:<32} ", task, split_changes(tasks().find(task).info, split)),
                         split.why);
    }
  }
  return text.empty() ? ""
                      : fmt::format("{} (split)\n\ntasks, with what the split changes and why:\n{}", name, text);
}

/// Returns the description of a setting. Empty if there is none.
std::string show_setting(const std::string& name) {
  for (const OptionInfo& o : all_settings()) {
    if (o.name != name) continue;
    return fmt::format("{} (setting)\n\n", o.name) + fact_line("meaning", o.help) +
           fact_line("expected", o.expected) + fact_line("default", o.value.empty() ? "none" : o.value) +
           fact_line("example", fmt::format("posbench run --set {}=VALUE", o.name)) +
           "\nA profile may have another default; 'posbench show quick' prints its values.\n";
  }
  return "";
}

/// Returns the description of a metric. Empty if there is none.
std::string show_metric(const std::string& name) {
  for (const MetricInfo& metric : metrics()) {
    if (metric.name != name) continue;
    return fmt::format("{} (metric)\n\n", metric.name) + fact_line("meaning", metric.title) +
           fact_line("definition", metric.definition) +
           fact_line("better", metric.lower_is_better ? "lower" : "higher") +
           fact_line("example", fmt::format("posbench compare before after --metric {}", metric.name));
  }
  return "";
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
    shown = fmt::format("{} (verdict on a claim)\n\n", called) + fact_line("meaning", meaning(verdict)) +
            fact_line("claims", fmt::format("posbench reproduce --list --verdict {}", word_of(verdict)));
  }
  for (const Verdict verdict : kVerdicts) {
    if (called != to_string(verdict)) continue;
    shown += fmt::format("{}{} (verdict of compare)\n\n", shown.empty() ? "" : "\n", called) +
             fact_line("meaning", meaning(verdict)) + fact_line("example", "posbench compare before after");
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
    return fmt::format("{} (aspect)\n\n", name) + fact_line("meaning", meaning(aspect)) +
           fact_line("tasks", fmt::format("{}", fmt::join(texts(select_tasks(item)), ", "))) +
           fact_line("example", fmt::format("posbench run -e mine,none -t {}", item));
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
  refuse_recurrent_block(spec.name);
  refuse_unknown_name(spec.name);
}

}  // namespace

void add_show(CommandLine& line) {
  const auto request = std::make_shared<ShowRequest>();
  Command& command =
      line.add(kExplore, "show",
               "Show one name: a task, an encoding with its equation, a profile, split, setting, metric, claim, "
               "aspect such as recall, verdict such as weaker, or model such as llama");
  command
      .name(
          "name", request->name, ValueKind::explained,
          "task or encoding, with or without options; or a profile, split, setting, metric, claim, aspect, verdict "
          "or model")
      .required();
  command
      .number("--layers", request->layers, 1, 64,
              "number of layers of the model whose encodings are printed, for presets and 'layers'")
      .default_text("6");
  command.explain(
      {{"posbench show cope", "equation, source, options, properties"},
       {"posbench show llama4 --layers 8", "pattern of a model, and the encoding of each layer"},
       {"posbench show flip_flop:length=64", "definition, options, splits, chance, trivial predictors"},
       {"posbench show ood_far4", "tasks with a split, and what it changes"},
       {"posbench show training.steps", "meaning, range and default of a setting"},
       {"posbench show standard > mine.json", "settings of a profile, to change for 'run --config'"}});
  command.run([request] { std::fputs(show_text(*request).c_str(), stdout); });
}

}  // namespace posbench
