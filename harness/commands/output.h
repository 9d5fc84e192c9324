// Where a command's result goes, and in which form.
#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "harness/runs/config.h"
#include "results/presentation/table.h"
#include "results/types/metric.h"

namespace posbench {

enum class Format { console, markdown, csv, json, html };

struct Output {
  std::optional<std::filesystem::path> file;  // instead of stdout
  std::optional<Format> format;
  std::string color = "auto";    // of the console: auto, always or never
};

/// Adds --profile, --config and --set.
void add_configuration(CLI::App&, ConfigRequest&);
/// Adds --color and --no-color.
void add_color(CLI::App&, std::string& color);
/// Adds --metric.
void add_metric(CLI::App&, Metric&);
/// Adds -o, --format, --color and --no-color.
void add_output(CLI::App&, Output&);

/// Whether standard output is coloured, given the value of --color; NO_COLOR is respected.
bool wants_color(const std::string& color);

/// Without one: as the file's name ends; console without a file. Throws std::invalid_argument where the ending names no
/// format.
Format format(const Output&);
/// How tables are drawn: as wide as the terminal, or for a file or a pipe always the same.
ConsoleStyle console_style(const Output&);

void write(const Output&, const std::string& text);

/// f(), where what goes wrong is the user's to mend.
template <class F>
auto as_input(F f) {
  try {
    return f();
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace posbench
