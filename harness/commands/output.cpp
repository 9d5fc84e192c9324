#include "harness/commands/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "harness/commands/help.h"
#include "harness/commands/terminal.h"
#include "harness/runs/files.h"

namespace posbench {

void add_configuration(CLI::App& command, ConfigRequest& config) {
  command.add_option("--profile", config.profile, "named settings ('posbench list profiles')")->default_str("quick");
  command.add_option("--config", config.file, "a configuration file, or a report, whose configuration is repeated")
      ->default_str("none");
  command
      .add_option("--set", config.settings,
                  "one setting, as in --set model.width=128 ('posbench list settings'); may be repeated")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->default_str("as the profile has it");
}

void add_color(CLI::App& command, std::string& color) {
  add_choice(command, "--color", color, {"auto", "always", "never"}, "colors on the console; auto: on a terminal");
  command.add_flag_callback("--no-color", [&color] { color = "never"; }, "the same as --color never, or NO_COLOR=1");
}

void add_metric(CLI::App& command, Metric& metric) {
  std::vector<std::pair<std::string, Metric>> choices;
  for (const MetricInfo& each : metrics()) choices.emplace_back(each.name, each.metric);
  add_choice<Metric, Metric>(command, "--metric", metric, choices,
                             "accuracy of sequences or tokens, the mean of the accuracies at each length, mean "
                             "cross-entropy (loss), or mean margin of the answer's logit");
}

void add_output(CLI::App& command, Output& output) {
  command.add_option("-o,--output", output.file, "a file; its ending decides the format: .html, .md, .csv, .json, .txt")
      ->default_str("standard output");
  add_choice<std::optional<Format>, Format>(command, "--format", output.format,
                                            {{"console", Format::console},
                                             {"markdown", Format::markdown},
                                             {"csv", Format::csv},
                                             {"json", Format::json},
                                             {"html", Format::html}},
                                            "")
      ->default_str("as the file ends, or console");
  add_color(command, output.color);
}

bool wants_color(const std::string& color) {
  if (color != "auto") return color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && on_terminal();
}

Format format(const Output& output) {
  if (output.format) return *output.format;
  if (!output.file) return Format::console;
  static const std::map<std::string, Format> formats{{".html", Format::html},
                                                     {".md", Format::markdown},
                                                     {".csv", Format::csv},
                                                     {".json", Format::json},
                                                     {".txt", Format::console}};
  const auto found = formats.find(output.file->extension().string());
  if (found != formats.end()) return found->second;
  throw std::invalid_argument(fmt::format(
      "{}: its ending names no format; end it in .html, .md, .csv, .json or .txt, or add --format", output.file->string()));
}

ConsoleStyle console_style(const Output& output) {
  if (output.file) return {kPipedWidth, output.color == "always"};
  return {console_width(), wants_color(output.color)};
}

void write(const Output& output, const std::string& text) {
  if (output.file) return write_file(*output.file, text);
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace posbench
