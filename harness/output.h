// Where a command's result goes, and in which form.
#pragma once
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace posbench {

enum class Format { console, markdown, csv, json, html };

struct Output {
  std::optional<std::filesystem::path> file;  // instead of stdout
  std::optional<Format> format;
  bool color = false;  // of the console
};

/// Without one: as the file's name ends, otherwise console.
Format format(const Output&);

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
