// `posbench show`: everything that is registered or measured of one name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/help.h"
#include "harness/console/known_names.h"
#include "harness/console/terminal.h"
#include "harness/training/baselines.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

std::string options_text(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "options: none\n";
  std::string text = "options:\n";
  for (const OptionInfo& o : options) {
    text += fmt::format("  {:<16} {:<12} {}; {}\n", o.name, o.value.empty() ? "-" : o.value, o.help, o.expected);
  }
  return text;
}

std::string field(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<15} {}\n", name + ":", indent_lines(value, 16));
}

/// Returns "length=128 (4x)": the value, and how it relates to that of training.
std::string changes(const TaskInfo& info, const TaskInfo::Split& split) {
  std::vector<std::string> pieces;
  for (size_t n = 0; n < split.options.size(); ++n) {
    const auto& [option, value] = split.options[n];
    const auto raw =
        std::find_if(info.splits.begin(), info.splits.end(), [&](const auto& s) { return s.name == split.name; });
    const std::string& relative = raw->options[n].second;
    pieces.push_back(option + "=" + value + (relative == value ? "" : " (" + relative + ")"));
  }
  return pieces.empty() ? "-" : fmt::format("{}", fmt::join(pieces, ", "));
}

std::string show_encoding(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  return fmt::format("{} (encoding, {})\n\n", info.name, to_string(info.family)) +
         field("equation", info.equation) + field("source", info.source) + field("notes", info.notes) +
         field("models", info.causal_only ? "causal" : "causal, bidirectional") +
         field("learned", info.learned ? "yes" : "no") + field("relative", to_string(info.relative)) +
         field("content", info.content_dependent) + field("extrapolates", to_string(info.extrapolates)) +
         field("distinct", to_string(info.distinct)) + field("distance decay", to_string(info.distance_decay)) +
         "\n" + options_text(entry.options);
}

std::string show_task(const std::string& spec, const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, spec);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text = fmt::format("{} (task, {}, version {})\n\n", info.name, info.family, info.version) +
                     field("definition", info.definition) + field("what it takes", info.requirement) +
                     field("source", info.source) + field("published as", info.published_name) +
                     field("published use", info.published) +
                     field("models", info.causal_only ? "causal" : "causal, bidirectional (answer slots)") +
                     field("length unit", info.length_unit) + field("distance unit", info.distance_unit) +
                     field("vocabulary", fmt::format("{}", setup.shape.vocabulary)) +
                     field("longest", fmt::format("about {} tokens as trained, {} in any split",
                                                  setup.shape.trained_length, setup.shape.longest));
  text += "\n" + options_text(entry.options) + "\nsplits:\n";
  for (const TaskInfo::Split& split : setup.splits) {
    text += fmt::format("  {:<20} {:<36} {}\n", split.name, changes(info, split), split.why);
  }
  for (const std::string& split : setup.skipped_splits) text += "  skipped: " + split + "\n";
  text += "\naccuracy by token without reading the question (measured on 2000 samples each):\n";
  for (const SplitBaseline& split : baseline.splits) {
    text += fmt::format("  {:<20} chance {:.3f}", split.name, split.chance);
    for (const auto& [name, accuracy] : split.trivial) text += fmt::format(", {} {:.3f}", name, accuracy);
    if (split.entropy) text += fmt::format("; entropy {:.4f} nats, the smallest possible loss", *split.entropy);
    text += "\n";
  }
  return text;
}

/// Throws InputError if there is no such task, encoding or profile.
std::string show_text(const std::string& text) {
  const Spec spec = Spec::parse(text);
  if (encodings().contains(encoding_name(spec.name)))
    return show_encoding(encodings().find(encoding_name(spec.name)));
  if (tasks().contains(task_name(spec.name)))
    return show_task(read_task(text).task.text(), tasks().find(task_name(spec.name)));
  if (profiles().count(text) > 0) return profiles().at(text);
  refuse_unknown_name(spec.name);
}

}  // namespace

void add_show(CLI::App& app, Invocation&) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand(
             "show",
             "Show one name: a task with its splits and trivial predictors, an encoding with its equation, a profile")
          ->group(kExplore);
  command->add_option("name", *name, "task or encoding, with or without options; or a profile")->required();
  set_footer(*command,
             {{"posbench show cope", "equation, source, options, properties"},
              {"posbench show flip_flop:length=64", "definition, options, splits, chance, trivial predictors"},
              {"posbench show standard > mine.json", "settings of a profile, to change for 'run --config'"}});
  command->callback([name] { std::fputs(show_text(*name).c_str(), stdout); });
}

}  // namespace posbench
