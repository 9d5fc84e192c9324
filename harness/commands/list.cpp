// `posbench list`: all names of one kind.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "encodings/presets.h"
#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/config/embedded_data.h"
#include "harness/console/known_names.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "results/document/wrap.h"
#include "results/json/json.h"

namespace posbench {
namespace {

const EnumNames<ValueKind> kListed{{ValueKind::task, "tasks"},
                                   {ValueKind::encoding, "encodings"},
                                   {ValueKind::profile, "profiles"},
                                   {ValueKind::setting, "settings"}};

struct ListRequest {
  std::optional<ValueKind> kind;
  bool json = false, markdown = false;
};

/// The end of docs/tasks.md.
constexpr const char* kAboutTasks =
    "\n## Published forms\n\n"
    "If a paper and its released code disagree, the default is that of the code, which made the published numbers, and the\n"
    "form of the paper is an option. Questions precede their answers. A causal model reads the answers with teacher forcing,\n"
    "a bidirectional model reads empty slots (`evaluation.layout`).\n\n"
    "MAD's compression task is omitted: it decodes all tokens from one position through a separate head, which this model does\n"
    "not have. In the length-generalization suite, parity is `parity_check`; SCAN and PCFG SET are omitted, since their\n"
    "examples come from fixed sets of text.\n";

struct Line {
  std::string family, name, text;
};

/// Returns the text before the first separator.
std::string first_part(const std::string& text, const char* separator) {
  return text.substr(0, text.find(separator));
}

std::vector<Line> task_lines() {
  std::vector<Line> lines;
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    lines.push_back({info.family, name, first_part(info.definition + " ", ". ")});
  }
  return lines;
}

/// Returns a line for each encoding; `with_kernel` begins its text with the kernel that it needs.
std::vector<Line> encoding_lines(bool with_kernel) {
  std::vector<Line> lines;
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    const std::string kernel =
        with_kernel ? fmt::format("kernel {}; ", to_string(kernel_of({name, {}}))) : std::string();
    lines.push_back({to_string(info.family), name, kernel + in_short(info)});
  }
  return lines;
}

std::vector<Line> preset_lines() {
  std::vector<Line> lines;
  for (const Preset& preset : presets())
    lines.push_back({"preset", preset.name, preset.model + ": " + first_part(preset.pattern + " ", ". ")});
  return lines;
}

/// Returns the lines of each family under its name.
std::string grouped_text(std::vector<Line> lines, int width) {
  std::ranges::stable_sort(lines, {}, &Line::family);
  size_t widest = 0;
  for (const Line& line : lines) widest = std::max(widest, line.name.size());
  std::string text, family;
  for (const Line& line : lines) {
    if (line.family != family) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", line.family);
    family = line.family;
    text += two_columns(fmt::format("  {:<{}}  ", line.name, widest), line.text, width);
  }
  return text;
}

std::string list_text(ValueKind kind, int width) {
  if (kind == ValueKind::task) return grouped_text(task_lines(), width);
  if (kind == ValueKind::encoding)
    return grouped_text(encoding_lines(/*with_kernel=*/true), width) + "\n" + grouped_text(preset_lines(), width);
  std::string text;
  if (kind == ValueKind::profile) {
    for (const auto& [name, json] : profiles()) {
      text += two_columns(fmt::format("{:<12} ", name), Json::parse(json).value("description", ""), width);
    }
  } else {
    for (const OptionInfo& o : all_settings()) {
      text += two_columns(fmt::format("{:<32} {:<14} ", o.name, o.value),
                          fmt::format("{}; {}", o.help, o.expected), width);
    }
  }
  return text;
}

/// Returns the entries of a registry.
template <class Registry>
Json entries_json(const Registry& registry) {
  return write_list(registry.names(), [&](const std::string& name) { return to_json(registry.find(name)); });
}

Json presets_json() {
  Json list = Json::array();
  for (const Preset& preset : presets()) {
    list.push_back({{"id", preset.name},
                    {"spec", preset.spec},
                    {"model", preset.model},
                    {"source", preset.source},
                    {"pattern", preset.pattern},
                    {"scaling", preset.scaling}});
  }
  return list;
}

Json profiles_json() {
  Json list = Json::array();
  for (const auto& [name, json] : profiles()) {
    Json profile{{"id", name}};
    profile.update(Json::parse(json));
    list.push_back(profile);
  }
  return list;
}

Json list_json(ValueKind kind) {
  if (kind == ValueKind::encoding)
    return {{kListed.name(kind), entries_json(encodings())}, {"presets", presets_json()}};
  return {{kListed.name(kind), kind == ValueKind::task      ? entries_json(tasks())
                               : kind == ValueKind::profile ? profiles_json()
                                                            : to_json(all_settings())}};
}

/// Returns a line for each name, grouped by family, with a link from docs/ to the source file.
std::string index_lines(std::vector<Line> lines, const std::string& folder) {
  std::ranges::stable_sort(lines, {}, &Line::family);
  std::string text, family;
  for (const Line& line : lines) {
    if (line.family != family) text += fmt::format("\n## {}\n\n", line.family);
    family = line.family;
    std::string top = family.substr(0, family.find('/'));
    std::ranges::replace_if(
        top, [](char c) { return c == ' ' || c == '-'; }, '_');
    text += fmt::format("* [{0}](../{1}/{2}/{0}.cpp): {3}\n", line.name, folder, top, escape_markdown(line.text));
  }
  return text;
}

/// Returns docs/tasks.md or docs/encodings.md. Throws InputError for another kind.
std::string index_page(ValueKind kind) {
  const bool is_tasks = kind == ValueKind::task;
  if (!is_tasks && kind != ValueKind::encoding)
    throw InputError(fmt::format("--markdown has no page of {}, expected tasks or encodings", kListed.name(kind)));
  std::string text = fmt::format(
      "# {0}\n\n"
      "<!-- Written by `posbench list {1} --markdown > docs/{1}.md`; a test compares. -->\n\n"
      "This page lists every {2} with its source file, for readers who choose one. `posbench show NAME --full` prints\n"
      "{3}.\n"
      "It also has the results on the [board](board.md). `posbench site` makes a page of each.\n",
      is_tasks ? "Tasks" : "Encodings", kListed.name(kind), is_tasks ? "task" : "encoding",
      is_tasks
          ? "the definition, the source, the published use with every deliberate difference, options and splits"
          : "the equation, the source, the models that use it, options and measured properties");
  if (is_tasks) return text + index_lines(task_lines(), "tasks") + kAboutTasks;
  text += index_lines(encoding_lines(/*with_kernel=*/false), "encodings");
  text +=
      "\n## Presets\n\n"
      "A preset is a name for a spec with the pattern of a published model. It takes the place of an encoding\n"
      "(`posbench run -e llama4`). `posbench show llama4 --layers 8` prints the encoding of each layer.\n\n";
  for (const Line& line : preset_lines()) text += fmt::format("* {}: {}\n", line.name, escape_markdown(line.text));
  return text;
}

void print_list(const ListRequest& request) {
  if (request.json) {
    fmt::print("{}\n", list_json(*request.kind).dump(2));
  } else if (request.markdown) {
    print_text("{}", index_page(*request.kind));
  } else {
    constexpr int kNoLimit = std::numeric_limits<int>::max();  // other programs read a list by line
    print_text("{}", list_text(*request.kind, is_terminal() ? console_width() : kNoLimit));
  }
}

}  // namespace

void add_list(CommandLine& line) {
  const auto request = std::make_shared<ListRequest>();
  Command& command = line.add(kExplore, "list", "List tasks, encodings, profiles or settings");
  command.choice("kind", request->kind, kListed.rows(), "kind of names").required();
  command.flag("--json", request->json, "output as JSON, with options and all properties");
  command
      .flag("--markdown", request->markdown,
            "Markdown page of the tasks or the encodings, with their measured properties")
      .excludes("--json");
  command.explain(
      {{"posbench list encodings", "by family, with the kernel that each needs, other names and the source"},
       {"posbench list settings", "every setting of 'run --set' with its default and range"},
       {"posbench list tasks --json", ""}});
  command.run([request] { print_list(*request); });
}

}  // namespace posbench
