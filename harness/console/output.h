// Adds options for the configuration of a run and for the format and the file of a result, and writes results.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/config/config.h"
#include "harness/console/command.h"
#include "results/document/render.h"
#include "results/statistics/summary.h"
#include "results/types/metric.h"

namespace posbench {

struct Output {
  std::optional<std::filesystem::path> file;  // empty: standard output
  const Format* format = nullptr;             // of formats(); null: that of the file's extension
  bool full = false;                          // a console shows the whole document, not only its first part
};

/// Adds --profile, --config and --set.
void add_configuration(Command&, ConfigArguments&);
/// The value of --color: auto, always or never.
std::string& color_choice();
/// Adds --metric. A command that compares splits does not offer the effective length.
void add_metric(Command&, Metric&, bool has_effective_length = true);
/// Adds --format.
void add_format(Command&, Output&);
/// Adds --json, which is short for --format json.
CommandOption& add_json(Command&, Output&, const std::string& help);
/// Adds -o and --format.
void add_output(Command&, Output&);
/// Adds --full.
CommandOption& add_full(Command&, bool& full);

/// Returns the given format, or that of the file's extension, or console without a file. Throws InputError if the
/// extension is not that of a format.
const Format& output_format(const Output&);
/// Returns the width of the terminal and its colors. The width of a file and of a pipe is constant.
ConsoleStyle console_style(const Output&);

/// Throws InputError if the file cannot be created, or if writing it would damage a run: its manifest, results,
/// models, losses or checkpoints.
void check_output_place(const std::filesystem::path&);
/// Writes a text, and then the path of its file, if it has one, as a note.
void write_output(const Output&, const std::string& text);
/// Returns true if the output is a console without --full.
bool is_brief(const Output&);
/// Writes a document in the format that the user chose.
void write_document(const Output&, const Document&);
/// Writes to standard output. Throws FileError if that fails.
void write_stdout(std::string_view text);
/// Writes lines to standard output, with '?' in place of what could control a terminal.
void write_lines(std::string_view text);
template <class... Values>
void print_text(fmt::format_string<Values...> text, Values&&... values) {
  write_lines(fmt::format(text, std::forward<Values>(values)...));
}
/// Calls `write`, which writes a file, or without one standard output. Returns false, after a message, if a signal
/// interrupted it before the file was written. A signal ends the process at once if there is no temporary file.
bool write_interruptibly(const std::optional<std::filesystem::path>& file, const std::function<void()>& write);
/// Does the same for a folder, of which `write` leaves nothing if it throws Interrupted.
bool write_interruptibly(const std::function<void()>& write);

/// Prints the accuracies of a finished run, their notes, and the experiments that diverged or failed. Returns 1 if
/// there are any of those, otherwise 0, and prints nothing if it is quiet.
int print_accuracies(const SummarizedReport&, bool is_quiet = false);
/// Prints the accuracies of a run and the paths of its report and page. Returns the same.
int print_summary(const SummarizedReport&, const std::filesystem::path& directory);

}  // namespace posbench
