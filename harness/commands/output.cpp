#include "harness/commands/output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "harness/runs/files.h"

namespace posbench {
namespace {

const std::map<std::string, Format> kFormats{{"console", Format::console},
                                             {"markdown", Format::markdown},
                                             {"csv", Format::csv},
                                             {"json", Format::json},
                                             {"html", Format::html}};

}  // namespace

void add_configuration(CLI::App& command, ConfigRequest& config) {
  command.add_option("--profile", config.profile, "named settings ('posbench list profiles'); quick without it");
  command.add_option("--config", config.file, "a configuration file, or a report, whose configuration is repeated");
  command
      .add_option("--set", config.settings,
                  "one setting, as in --set model.width=128 ('posbench list settings')")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_color(CLI::App& command, std::string& color) {
  command.add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_metric(CLI::App& command, Metric& metric) {
  std::map<std::string, Metric> by_name;
  std::string names;
  for (const MetricInfo& each : metrics()) {
    by_name[each.name] = each.metric;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  command.add_option("--metric", metric, names)->transform(CLI::CheckedTransformer(by_name));
}

void add_output(CLI::App& command, Output& output) {
  command.add_option("-o,--output", output.file, "a file; its ending tells the format: .html, .md, .csv, .json");
  command.add_option("--format", output.format, "console, markdown, csv, json or html")
      ->transform(CLI::CheckedTransformer(kFormats));
  add_color(command, output.color);
}

bool wants_color(const std::string& color) {
  if (color != "auto") return color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) == 1;
}

Format format(const Output& output) {
  if (output.format) return *output.format;
  static const std::map<std::string, Format> formats{
      {".html", Format::html}, {".md", Format::markdown}, {".csv", Format::csv}, {".json", Format::json}};
  const auto found = formats.find(output.file ? output.file->extension().string() : "");
  return found == formats.end() ? Format::console : found->second;
}

void write(const Output& output, const std::string& text) {
  if (output.file) return write_file(*output.file, text);
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace posbench
