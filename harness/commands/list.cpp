// `posbench list`: all names of one kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/presets.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/commands/list_markdown.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/console/command.h"
#include "harness/console/known_names.h"
#include "harness/console/lines.h"
#include "harness/console/status_line.h"
#include "results/document/wrap.h"
#include "results/json/json.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

struct ListRequest {
  std::string kind;  // tasks, encodings, profiles or settings
  bool json = false, markdown = false;
};

Json options_json(const std::vector<OptionInfo>& options) {
  Json list = Json::array();
  for (const OptionInfo& o : options) {
    list.push_back(
        {{"name", o.name}, {"type", o.type}, {"default", o.value}, {"expected", o.expected}, {"help", o.help}});
  }
  return list;
}

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

std::vector<Line> encoding_lines() {
  std::vector<Line> lines;
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    const std::vector<std::string> aliases = aliases_of(name);
    const std::string called = aliases.empty() ? "" : fmt::format("also {}; ", fmt::join(aliases, ", "));
    const std::string causal = info.causal_only ? "causal only; " : "";
    lines.push_back({to_string(info.family), name, causal + called + first_part(info.source, "; ")});
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

std::string list_text(const std::string& kind, int width) {
  if (kind == "tasks") return grouped_text(task_lines(), width);
  if (kind == "encodings")
    return grouped_text(encoding_lines(), width) + "\n" + grouped_text(preset_lines(), width);
  std::string text;
  if (kind == "profiles") {
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

Json tasks_json() {
  Json list = Json::array();
  for (const std::string& name : tasks().names()) {
    const auto& [info, options, canonical, make] = tasks().find(name);
    Json splits = Json::array();
    for (const TaskInfo::Split& split : info.splits) {
      Json changed = Json::object();
      for (const auto& [option, value] : split.options) changed[option] = value;
      splits.push_back({{"name", split.name}, {"options", changed}, {"why", split.why}});
    }
    list.push_back({{"id", name},
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
                    {"options", options_json(options)},
                    {"splits", splits}});
  }
  return list;
}

Json encodings_json() {
  Json list = Json::array();
  for (const std::string& name : encodings().names()) {
    const EncodingEntry& entry = encodings().find(name);
    const EncodingInfo& info = entry.info;
    list.push_back({{"id", name},
                    {"aliases", aliases_of(name)},
                    {"family", to_string(info.family)},
                    {"equation", info.equation},
                    {"source", info.source},
                    {"used_in", info.used_in},
                    {"notes", info.notes},
                    {"causal_only", info.causal_only},
                    {"learned", info.learned},
                    {"extrapolates", to_string(info.extrapolates)},
                    {"relative", to_string(info.relative)},
                    {"content_dependent", info.content_dependent},
                    {"distinct", to_string(info.distinct)},
                    {"distance_decay", to_string(info.distance_decay)},
                    {"variants", info.variants},
                    {"options", options_json(entry.options)}});
  }
  return list;
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

Json list_json(const std::string& kind) {
  if (kind == "encodings") return {{kind, encodings_json()}, {"presets", presets_json()}};
  return {{kind, kind == "tasks"      ? tasks_json()
                 : kind == "profiles" ? profiles_json()
                                      : options_json(all_settings())}};
}

void print_list(const ListRequest& request) {
  const StatusLine status("measuring");
  if (request.json) {
    fmt::print("{}\n", list_json(request.kind).dump(2));
  } else if (request.markdown) {
    fmt::print("{}", registry_page(request.kind));
  } else {
    fmt::print("{}", list_text(request.kind, list_width()));
  }
}

}  // namespace

void add_list(CommandLine& line) {
  const auto request = std::make_shared<ListRequest>();
  Command& command = line.add(kExplore, "list", "List tasks, encodings, profiles or settings");
  command.choice("kind", request->kind, {"tasks", "encodings", "profiles", "settings"}, "kind of names")
      .required();
  command.flag("--json", request->json, "output as JSON, with options and all properties");
  command
      .flag("--markdown", request->markdown,
            "Markdown page of the tasks or the encodings, with their measured properties")
      .excludes("--json");
  command.explain({{"posbench list encodings", "by family, with other names and the source"},
                   {"posbench list settings", "every setting of 'run --set' with its default and range"},
                   {"posbench list tasks --json", ""}});
  command.run([request] { print_list(*request); });
}

}  // namespace posbench
