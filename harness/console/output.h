// Adds options for the configuration of a run and for the format and the file of a result.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "harness/config/config.h"
#include "results/presentation/table.h"
#include "results/types/metric.h"

namespace posbench {

enum class Format { console, markdown, csv, json, html };

struct Output {
  std::optional<std::filesystem::path> file;  // empty: standard output
  std::optional<Format> format;
  std::string color = "auto";  // auto, always or never
};

/// Adds --profile, --config and --set.
void add_configuration(CLI::App&, ConfigRequest&);
/// Adds --color.
void add_color(CLI::App&, std::string& color);
/// Adds --metric.
void add_metric(CLI::App&, Metric&);
/// Adds -o, --format and --color.
void add_output(CLI::App&, Output&);

/// Returns whether standard output has colors, given the value of --color. NO_COLOR is respected.
bool wants_color(const std::string& color);

/// Returns the given format, or that of the file's extension, or console without a file. Throws InputError if the
/// extension is not that of a format.
Format output_format(const Output&);
/// Returns the width of the terminal and its colors. The width of a file and of a pipe is constant.
ConsoleStyle console_style(const Output&);

void write_output(const Output&, const std::string& text);

}  // namespace posbench
