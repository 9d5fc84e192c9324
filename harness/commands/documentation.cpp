#include "harness/commands/documentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "encodings/registry.h"
#include "harness/training/task_setup.h"
#include "harness/verify/certify.h"

namespace posbench {
namespace {

/// Text for a cell of a table.
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

std::string options_table(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "No options.\n\n";
  std::string text = header({"option", "default", "meaning", "expected"});
  for (const OptionInfo& o : options)
    text += row({fmt::format("`{}`", o.name), o.value.empty() ? "-" : fmt::format("`{}`", o.value), cell(o.help),
                 cell(o.expected)});
  return text + "\n";
}

std::string paragraph(const std::string& name, const std::string& text) {
  return text.empty() ? "" : fmt::format("{}: {}\n\n", name, cell(text));
}

/// "`length=128` (4x)": the values at default options, and what they are relative to what is trained.
std::string changes(const TaskInfo& info, const TaskInfo::Split& split) {
  std::vector<std::string> pieces;
  const auto raw =
      std::find_if(info.splits.begin(), info.splits.end(), [&](const auto& s) { return s.name == split.name; });
  for (size_t n = 0; n < split.options.size(); ++n) {
    const auto& [option, value] = split.options[n];
    const std::string& relative = raw->options[n].second;
    pieces.push_back(fmt::format("`{}={}`{}", option, value, relative == value ? "" : " (" + relative + ")"));
  }
  return pieces.empty() ? "-" : fmt::format("{}", fmt::join(pieces, ", "));
}

std::string task_section(const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, info.name);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text = fmt::format("### {}\n\n{}\n\n", info.name, cell(info.definition));
  text += paragraph("What it takes", info.takes);
  text += fmt::format("{}; {}; lengths in {}{}; vocabulary {}; about {} tokens as trained, {} in any split.\n\n",
                      cell(info.family), info.causal_only ? "causal models" : "causal and bidirectional models",
                      info.length_unit,
                      info.distance_unit.empty() ? "" : fmt::format(", distances in {}", info.distance_unit),
                      setup.shape.vocabulary, setup.shape.trained_length, setup.shape.longest);
  text += options_table(entry.options);
  std::vector<std::string> columns{"split", "changes", "why", "chance"};
  for (const auto& [name, accuracy] : baseline.splits.front().trivial) columns.push_back(cell(name));
  text += header(columns);
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const TaskInfo::Split& split = setup.splits[i];
    std::vector<std::string> cells{cell(split.name), changes(info, split), cell(split.why),
                                   fmt::format("{:.3f}", baseline.splits[i].chance)};
    for (const auto& [name, accuracy] : baseline.splits[i].trivial)
      cells.push_back(fmt::format("{:.3f}", accuracy));
    text += row(cells);
  }
  return text + "\n";
}

std::string encoding_section(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  const auto properties = posbench_double::properties(info.name);
  const auto number = [&](const char* property, const char* key) { return properties[property][key].get<int>(); };
  std::string text = fmt::format("### {}\n\n    {}\n\n", info.name, info.equation);
  text += paragraph("Source", info.source) + paragraph("Notes", info.notes);
  text += fmt::format(
      "Measured at a trained length of {}: {} of so many equal tokens are distinguished, {} of {}; {} rows of "
      "parameters are first reached beyond it.\n\n",
      number("distinct", "of"), number("distinct", "positions"), number("distinct", "far"),
      number("distinct", "of_far"), number("extrapolates", "untrained_rows"));
  return text + options_table(entry.options);
}

std::string tasks_page() {
  std::string text =
      "# Tasks\n\n"
      "<!-- Written by `posbench list tasks --markdown > docs/tasks.md`; a test compares. -->\n\n"
      "## Published names and ours\n\n"
      "What a paper calls the task, how it uses it, and every deliberate difference of ours. Where a paper and "
      "its\n"
      "released code disagree, the default is the code's, which made the published numbers, and the paper's form "
      "is an\n"
      "option. Questions stand before their answers; a causal model reads it with teacher forcing, a bidirectional "
      "one\n"
      "empty slots (`evaluation.layout`).\n\n" +
      header({"task", "published as", "source", "published use, and what differs here"});
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    text += row(
        {fmt::format("[{0}](#{0})", name), cell(info.published_name), cell(info.source), cell(info.published)});
  }
  text +=
      "\nMAD's compression task is left out: it decodes all tokens from one position through a head of "
      "its\n"
      "own, which this model does not have. Of the length-generalization suite, parity is `parity_check`; SCAN "
      "and PCFG\n"
      "SET are left out, whose examples come from fixed sets of text.\n\n"
      "## Every task\n\n"
      "Each split changes some options of the task and so isolates one cause. The columns after `chance`, a "
      "uniform\n"
      "guess among the possible answers, are accuracies by token of trivial predictors, measured on 2000 samples: "
      "the\n"
      "most frequent answer of all (constant), of those after the same last token, at the same position of a "
      "question\n"
      "of the same length, and of questions with the same tokens in any order (bag\\_of\\_tokens).\n\n";
  for (const std::string& name : tasks().names()) text += task_section(tasks().find(name));
  text.pop_back();
  return text;
}

std::string encodings_page() {
  std::string text =
      "# Encodings\n\n"
      "<!-- Written by `posbench list encodings --markdown > docs/encodings.md`; a test compares. -->\n\n"
      "What each touches: E input embeddings; R rotates or scales queries and keys; B an additive bias of the "
      "score;\n"
      "Q a term of the score that depends on the query or key vector; L scores as input, possibly across heads; "
      "V\n"
      "values; P position indices. `posbench check NAME` measures four of these columns, and fails where they are "
      "not\n"
      "what is stated here:\n\n"
      "* distinct: in a sequence of equal tokens, the last query attends to no two positions alike;\n"
      "* extrapolates: beyond the trained length all parameters are trained, and no score exceeds the trained "
      "range\n"
      "  (yes); all are trained, but scores do exceed it (defined); there are untrained ones (no);\n"
      "* relative: the scores of equal tokens do not change when query and key move by the same distance;\n"
      "* distance decay: attention among equal tokens falls with distance in all heads, whatever is learned.\n\n" +
      header({"encoding", "family", "models", "touches", "learned", "content-dependent", "distinct",
              "extrapolates", "relative", "distance decay"});
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    text += row({fmt::format("[{0}](#{0})", name), cell(posbench::text(info.family)),
                 info.causal_only ? "causal" : "both", cell(info.touches), info.learned ? "yes" : "no",
                 cell(info.content_dependent), cell(posbench::text(info.distinct)),
                 cell(posbench::text(info.extrapolates)), cell(posbench::text(info.relative)),
                 cell(posbench::text(info.distance_decay))});
  }
  text += "\n## Every encoding\n\n";
  for (const std::string& name : encodings().names()) text += encoding_section(encodings().find(name));
  text.pop_back();
  return text;
}

}  // namespace

std::string page(const std::string& what) {
  if (what == "tasks") return tasks_page();
  if (what == "encodings") return encodings_page();
  throw std::invalid_argument(fmt::format("--markdown writes pages of tasks and of encodings, not of {}", what));
}

}  // namespace posbench
