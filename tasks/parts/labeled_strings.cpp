#include "tasks/parts/labeled_strings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace posbench {
namespace {

using Path = std::filesystem::path;

InputError refuse(const Path& file, const std::string& why) {
  return InputError(fmt::format("task 'recognition': file '{}' {}", file.string(), why));
}

std::vector<std::string> read_lines(const Path& file) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 28;
  std::string text;
  try {
    text = read_file(file, kMaxBytes);
  } catch (const std::bad_alloc&) {
    throw refuse(file, "does not fit into memory");
  } catch (const FileError&) {
    throw refuse(file, "cannot be read; the folder needs main.tok, labels.txt and num-edits.txt");
  } catch (const InputError&) {
    throw refuse(file, fmt::format("is larger than {} bytes", kMaxBytes));
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

/// A string with its label and its number of edits, from one line of each file.
struct Row {
  std::vector<std::string> symbols;
  bool positive = false;
  int edits = 0;
};

std::vector<Row> read_set(const Path& folder) {
  const std::vector<std::string> strings = read_lines(folder / "main.tok"),
                                 labels = read_lines(folder / "labels.txt"),
                                 edits = read_lines(folder / "num-edits.txt");
  if (labels.size() != strings.size()) {
    throw refuse(folder / "labels.txt", fmt::format("has {} lines, but main.tok has {}; each string needs a label",
                                                    labels.size(), strings.size()));
  }
  const auto negatives = static_cast<size_t>(std::ranges::count(labels, "0"));
  if (edits.size() != negatives) {
    throw refuse(
        folder / "num-edits.txt",
        fmt::format("has {} lines, but labels.txt has {} negatives; each needs a line", edits.size(), negatives));
  }
  std::vector<Row> rows;
  size_t negative = 0;
  for (size_t n = 0; n < strings.size(); ++n) {
    if (labels[n] != "0" && labels[n] != "1") {
      throw refuse(folder / "labels.txt", fmt::format("line {} is '{}', but a label is 0 or 1", n + 1, labels[n]));
    }
    Row row{.symbols = {}, .positive = labels[n] == "1"};
    std::istringstream words(strings[n]);
    for (std::string word; words >> word;) row.symbols.push_back(std::move(word));
    if (!row.positive) {
      const std::string& text = edits[negative++];
      const char* const end = text.data() + text.size();
      row.edits = kSampled;
      if (!text.empty() && (std::from_chars(text.data(), end, row.edits).ptr != end || row.edits < 1)) {
        throw refuse(folder / "num-edits.txt",
                     fmt::format("line {} is '{}', but it is a number of edits, or empty", negative, text));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Reads the sets that exist. At least one of the two must exist.
std::vector<Row> read_sets(const Path& folder, std::string_view first, std::string_view second) {
  std::vector<Row> rows;
  for (const std::string_view name : {first, second}) {
    const Path set = folder / "datasets" / name;
    if (!std::filesystem::exists(set)) continue;
    std::vector<Row> more = read_set(set);
    std::ranges::move(more, std::back_inserter(rows));
  }
  if (rows.empty()) {
    throw InputError(fmt::format("task 'recognition': folder '{}' has no strings in datasets/{} or datasets/{}",
                                 folder.string(), first, second));
  }
  return rows;
}

std::shared_ptr<const LabeledStrings> read(const Path& folder) {
  const std::vector<Row> training = read_set(folder),
                         validation = read_sets(folder, "validation-short", "validation-long"),
                         test = read_sets(folder, "test-short-held-out", "test");
  std::set<std::string> texts;
  for (const auto* rows : {&training, &validation, &test}) {
    for (const Row& row : *rows) texts.insert(row.symbols.begin(), row.symbols.end());
  }
  auto result = std::make_shared<LabeledStrings>();
  result->symbols.assign(texts.begin(), texts.end());
  const auto add = [&](const std::vector<Row>& rows, LabeledStrings::ByLength& part) {
    for (const Row& row : rows) {
      LabeledString string{.symbols = {}, .positive = row.positive, .edits = row.edits};
      for (const std::string& text : row.symbols) {
        const auto id = std::ranges::lower_bound(result->symbols, text) - result->symbols.begin();
        string.symbols.push_back(static_cast<int>(id));
      }
      part[static_cast<int>(row.symbols.size())].push_back(std::move(string));
    }
  };
  add(training, result->training);
  add(validation, result->validation);
  add(test, result->test);
  return result;
}

}  // namespace

const LabeledStrings::ByLength& LabeledStrings::part(Purpose purpose) const {
  if (purpose == Purpose::test) return test;
  return purpose == Purpose::validation ? validation : training;
}

std::shared_ptr<const LabeledStrings> read_labeled_strings(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const LabeledStrings>> open;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const LabeledStrings> strings = open[folder].lock();
  if (!strings) open[folder] = strings = read(folder);
  return strings;
}

}  // namespace posbench
