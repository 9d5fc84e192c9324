#include "harness/commands/list_markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "encodings/aliases.h"
#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/check/certify.h"
#include "harness/commands/options_table.h"
#include "harness/console/facts.h"
#include "harness/console/split_text.h"
#include "harness/training/baselines.h"
#include "harness/training/task_setup.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

/// Escapes a text for a cell of a table.
std::string cell(const std::string& text) {
  std::string escaped;
  if (text.empty()) return "-";
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string header(const std::vector<std::string>& names) {
  return row(names) + "|" + fmt::format("{}", fmt::join(std::vector<std::string>(names.size(), "---|"), "")) +
         "\n";
}

std::string options_markdown(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "No options.\n\n";
  const Table table = options_table(options);
  const auto code = [](const Cell& value) { return value.text == "-" ? value.text : "`" + value.text + "`"; };
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.header);
  std::string text = header(names);
  for (const std::vector<Cell>& cells : table.rows)
    text += row({code(cells[0]), code(cells[1]), cell(cells[2].text), cell(cells[3].text)});
  return text + "\n";
}

std::string paragraph(const std::string& name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{}: {}\n\n", name, cell(text));
}

std::string task_section(const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, info.name);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text = fmt::format("### {}\n\n{}\n\n", info.name, cell(info.definition));
  text += paragraph("Requirement", info.requirement);
  text += paragraph("Aspects", aspects_text(info));
  text += paragraph("Learnability", learnability_text(info));
  text += fmt::format(
      "Family: {}. Models: {}. Lengths count {}. {}The vocabulary has {} tokens. The longest sequences have about {} tokens in training "
      "and {} in tests.\n\n",
      cell(info.family), info.causal_only ? "causal" : "causal and bidirectional", info.length_unit,
      info.distance_unit.empty() ? "" : fmt::format("Distances count {}. ", info.distance_unit),
      setup.model_config.vocabulary, setup.model_config.trained_length, setup.model_config.longest);
  text += options_markdown(entry.options);
  std::vector<std::string> columns{"split", "changes", "why", "chance"};
  for (const auto& [name, accuracy] : baseline.splits.front().trivial) columns.push_back(cell(name));
  text += header(columns);
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const TaskInfo::Split& split = setup.splits[i];
    std::vector<std::string> cells{cell(split.name), split_changes(info, split, "`"), cell(split.why),
                                   fmt::format("{:.3f}", baseline.splits[i].chance)};
    for (const auto& [name, accuracy] : baseline.splits[i].trivial)
      cells.push_back(fmt::format("{:.3f}", accuracy));
    text += row(cells);
  }
  return text + "\n";
}

std::string encoding_section(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  const Properties p = measure_properties(Spec{info.name, {}}).measured;
  std::string text = fmt::format("### {}\n\n    {}\n\n", info.name, indent_lines(info.equation, 4));
  text += paragraph("Also called", fmt::format("{}", fmt::join(aliases_of(info.name), ", ")));
  text += paragraph("Used in", fmt::format("{}", fmt::join(info.used_in, ", ")));
  text += paragraph("Source", info.source) + paragraph("Notes", info.notes);
  text += fmt::format(
      "Measured at a trained length of {}: {} of as many equal tokens are distinguished, and {} of {}; {} rows of "
      "parameters are reached only beyond this length.\n\n",
      p.trained, p.distinct, p.distinct_far, p.longest, p.untrained_rows);
  return text + options_markdown(entry.options);
}

/// Joins the sections of all names, which are made on all cores.
std::string sections(const std::vector<std::string>& names,
                     const std::function<std::string(const std::string&)>& section) {
  std::vector<std::string> texts(names.size());
  parallel_for(names.size(), count_hardware_threads(), [&](size_t n) { texts[n] = section(names[n]); });
  return fmt::format("{}", fmt::join(texts, ""));
}

std::string tasks_page() {
  std::string text =
      "# Tasks\n\n"
      "<!-- Written by `posbench list tasks --markdown > docs/tasks.md`; a test compares. -->\n\n"
      "This page defines every task, for readers who choose tasks or interpret their results.\n\n"
      "## Published names\n\n"
      "The table has the published name of each task, its published use, and every deliberate difference. If a paper and\n"
      "its released code disagree, the default is that of the code, which made the published numbers, and the form of the\n"
      "paper is an option. Questions precede their answers. A causal model reads the answers with teacher forcing, a\n"
      "bidirectional model reads empty slots (`evaluation.layout`).\n\n" +
      header({"task", "published as", "source", "published use, and what differs here"});
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    text += row(
        {fmt::format("[{0}](#{0})", name), cell(info.published_name), cell(info.source), cell(info.published)});
  }
  text += fmt::format(
      "\nMAD's compression task is omitted: it decodes all tokens from one position through a separate head, which this\n"
      "model does not have. In the length-generalization suite, parity is `parity_check`; SCAN and PCFG SET are omitted,\n"
      "since their examples come from fixed sets of text.\n\n"
      "## Every task\n\n"
      "Each split changes some options of the task and so isolates one cause. The column `chance` is a uniform guess among\n"
      "the possible answers. The columns after it are accuracies by token of trivial predictors, measured on {}\n"
      "samples: the most frequent answer of all (constant), of those after the same last token, at the same position of a\n"
      "question of the same length, and of questions with the same tokens in any order (bag\\_of\\_tokens).\n\n",
      kBaselineSamples / 2);
  text += sections(tasks().names(), [](const std::string& name) { return task_section(tasks().find(name)); });
  text.pop_back();
  return text;
}

std::string encodings_page() {
  std::string text =
      "# Encodings\n\n"
      "<!-- Written by `posbench list encodings --markdown > docs/encodings.md`; a test compares. -->\n\n"
      "This page defines every encoding, for readers who choose one. `posbench check NAME` measures five of these columns\n"
      "and fails if they differ from this table:\n\n"
      "* learned: the encoding has parameters besides those of the encodings that it wraps;\n"
      "* distinct: in a sequence of equal tokens, the last query has a different score for each position;\n"
      "* extrapolates: beyond the trained length all parameters are trained and no score exceeds the trained range (yes);\n"
      "  all are trained but scores exceed it (defined); some are untrained (no);\n"
      "* relative: the scores of equal tokens do not change when query and key move by the same distance;\n"
      "* distance decay: attention among equal tokens falls with distance in all heads, for any learned parameters.\n\n" +
      header({"encoding", "family", "models", "learned", "content-dependent", "distinct", "extrapolates",
              "relative", "distance decay"});
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    text += row({fmt::format("[{0}](#{0})", name), cell(to_string(info.family)),
                 info.causal_only ? "causal" : "both", info.learned ? "yes" : "no", cell(info.content_dependent),
                 cell(to_string(info.distinct)), cell(to_string(info.extrapolates)),
                 cell(to_string(info.relative)), cell(to_string(info.distance_decay))});
  }
  text +=
      "\n## Presets\n\n"
      "A preset is a name for a spec with the pattern of a published model. It takes the place of an encoding\n"
      "(`posbench run -e llama4`). `posbench show llama4 --layers 8` prints the encoding of each layer.\n\n" +
      header({"preset", "models", "pattern", "here", "spec", "source"});
  for (const Preset& p : presets())
    text += row({p.name, cell(p.model), cell(p.pattern), cell(p.scaling), "`" + p.spec + "`", cell(p.source)});
  text += "\n## Every encoding\n\n";
  text += sections(encodings().names(),
                   [](const std::string& name) { return encoding_section(encodings().find(name)); });
  text.pop_back();
  return text;
}

}  // namespace

std::string registry_page(const std::string& kind) {
  if (kind == "tasks") return tasks_page();
  if (kind == "encodings") return encodings_page();
  throw InputError(fmt::format("--markdown has no page of {}, expected tasks or encodings", kind));
}

}  // namespace posbench
