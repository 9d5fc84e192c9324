#include "harness/console/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/signals.h"
#include "harness/console/message.h"
#include "harness/runs/run_record.h"
#include "results/presentation/report_document.h"

namespace posbench {
namespace {

/// Returns whether standard output has colors. NO_COLOR is respected.
bool wants_color() {
  if (color_choice() != "auto") return color_choice() == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && can_color();
}

/// Returns ".txt, .html, .md, .csv, .json or .tex".
std::string known_extensions() {
  std::string text;
  for (const Format& format : formats()) {
    const bool is_last = &format == &formats().back();
    text += (text.empty() ? "" : is_last ? " or " : ", ") + format.extension;
  }
  return text;
}

}  // namespace

void check_output_place(const std::filesystem::path& file) {
  check_output_file(file);
  const std::filesystem::path folder = file.parent_path();
  const std::string name = file.filename().string(), folder_name = folder.filename().string();
  const bool is_of_run = name == kManifestFile || name == kReportFile || name == kLinesFile;
  const bool is_in_folder = folder_name == "models" || folder_name == "losses" || folder_name == "checkpoints";
  if ((is_of_run && std::filesystem::exists(folder / kManifestFile)) ||
      (is_in_folder && std::filesystem::exists(folder.parent_path() / kManifestFile))) {
    throw InputError(
        fmt::format("{} belongs to a run, which would be damaged; choose another file", file.string()));
  }
}

void add_configuration(Command& command, ConfigArguments& config) {
  command
      .name("--profile", config.profile, ValueKind::profile,
            "name of a set of settings ('posbench list profiles' shows all)")
      .default_text("quick");
  command
      .file("--config", config.file,
            "configuration file, which replaces settings of the profile; or a report, whose configuration is used")
      .default_text("none");
  command
      .name("--set", config.settings, ValueKind::setting,
            "one setting, as in --set model.width=128, which replaces that of profile and file ('posbench list "
            "settings' shows all); may be repeated")
      .repeated()
      .default_text("that of the profile");
}

std::string& color_choice() {
  static std::string color = "auto";
  return color;
}

void add_metric(Command& command, Metric& metric, bool has_effective_length) {
  std::vector<std::pair<std::string, Metric>> choices;
  for (const MetricInfo& each : metrics()) {
    if (has_effective_length || each.metric != Metric::effective_length)
      choices.emplace_back(each.name, each.metric);
  }
  command.choice<Metric, Metric>(
      "--metric", metric, choices,
      fmt::format(
          "metric: accuracy by sequence or by token, mean of the accuracies at each length, mean cross-entropy "
          "(loss), mean margin of the answer's logit{}",
          has_effective_length ? ", or effective length" : ""));
}

void add_format(Command& command, Output& output) {
  std::vector<std::pair<std::string, const Format*>> choices;
  for (const Format& format : formats()) choices.emplace_back(format.name, &format);
  command.choice<const Format*, const Format*>("--format", output.format, choices, "format of the output")
      .default_text("that of the file's extension, or console");
}

CommandOption& add_json(Command& command, Output& output, const std::string& help) {
  return command.flag(
      "--json", [&output] { output.format = &*std::ranges::find(formats(), "json", &Format::name); }, help);
}

void add_output(Command& command, Output& output) {
  command
      .file("-o,--output", output.file,
            fmt::format("output file, whose extension selects the format: {}", known_extensions()))
      .default_text("standard output")
      .output();
  add_format(command, output);
}

CommandOption& add_full(Command& command, bool& full) {
  return command.flag("--full", full,
                      "print all tables and notes on the console, and not only the most important ones");
}

const Format& output_format(const Output& output) {
  if (output.format) return *output.format;
  if (!output.file) return formats().front();
  const auto found = std::ranges::find(formats(), output.file->extension().string(), &Format::extension);
  if (found != formats().end()) return *found;
  throw InputError(fmt::format("'{}' does not end in {}; use one of these, or add --format", output.file->string(),
                               known_extensions()));
}

ConsoleStyle console_style(const Output& output) {
  if (output.file) return {kPipedWidth, color_choice() == "always"};
  return {console_width(), wants_color()};
}

void write_output(const Output& output, const std::string& text) {
  if (output.file) {
    check_output_place(*output.file);
    write_file(*output.file, text);
    return write_note("written: " + to_one_line(output.file->string()));
  }
  write_stdout(text);
  if (!text.empty() && text.back() != '\n') write_stdout("\n");
}

bool is_brief(const Output& output) { return !output.full && &output_format(output) == &formats().front(); }

void write_document(const Output& output, const Document& document) {
  const Format& format = output_format(output);
  if (document.brief.empty() || !is_brief(output))
    return write_output(output, format.render(document, console_style(output)));
  Document brief{.title = document.title, .blocks = document.brief};
  brief.blocks.push_back(Note{fmt::format("--full adds {}.", document.rest)});
  write_output(output, format.render(brief, console_style(output)));
}

void write_stdout(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw FileError("cannot write to standard output", errno);
}

void write_lines(std::string_view text) { write_stdout(to_printable_lines(text)); }

bool write_interruptibly(const std::optional<std::filesystem::path>& file, const std::function<void()>& write) {
  if (!file || is_special(*file)) {
    write();
    return true;
  }
  return write_interruptibly(write);
}

bool write_interruptibly(const std::function<void()>& write) {
  try {
    const SignalGuard guard;
    write();
    return true;
  } catch (const Interrupted& interrupted) {
    write_message(fmt::format("{}\n", interrupted.what()));
    return false;
  }
}

int print_accuracies(const SummarizedReport& shown, bool is_quiet) {
  if (!is_quiet) write_document({}, make_accuracy_document(shown));
  const auto is_finished = [](const ExperimentResult& one) { return one.status == Status::ok; };
  return std::ranges::all_of(shown.report.experiments, is_finished) ? 0 : 1;
}

int print_summary(const SummarizedReport& report, const std::filesystem::path& directory) {
  const int code = print_accuracies(report, is_quiet());
  if (!is_quiet())
    print_text("\nreport: {}\npage: {}\n", (directory / kReportFile).string(), (directory / kPageFile).string());
  return code;
}

}  // namespace posbench
