// Reads strings with labels from a folder in the form of FLaRe.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace posbench {

struct LabeledString {
  std::vector<int> symbols;
  bool positive = false;
  int edits = 0;  // made to a word of the language; 0: the string is a word; kSampled: the string was not edited
};
constexpr int kSampled = -1;

/// The strings for each purpose, by their lengths.
struct LabeledStrings {
  std::vector<std::string> symbols;  // their texts, sorted
  using ByLength = std::map<int, std::vector<LabeledString>>;
  ByLength training, validation, test;

  const ByLength& part(Purpose) const;
};

/// Reads `main.tok` (a string in each line, with spaces between its symbols), `labels.txt` (1 or 0 for each
/// string) and `num-edits.txt` (a line for each 0: the number of edits, or nothing if the string was drawn at
/// random). They are in the folder itself for training, in datasets/validation-short and -long for validation, and
/// in datasets/test and -short-held-out for tests. The sets for longer strings and held-out ones are optional, but
/// validation and tests need one set each. Returns one copy for all tasks that use it at the same time. Throws
/// InputError, which names the file.
std::shared_ptr<const LabeledStrings> read_labeled_strings(const std::string& folder);

}  // namespace posbench
