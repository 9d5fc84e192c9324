// What `list`, `show` and `sample` print.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/runs/config.h"

namespace posbench {

/// `what` is tasks, encodings, profiles or settings. A line for each, broken where it is wider than `width`; 0: never.
std::string list_text(const std::string& what, int width);
Json list_json(const std::string& what);

/// A task or an encoding, by name or spec. Throws std::invalid_argument where there is neither.
std::string show_text(const std::string& spec);

struct SampleRequest {
  std::string task, stream = "in_distribution";  // train, validation or a split, whose test stream it is
  int count = 3;
  std::optional<int> length;
  std::uint64_t seed = 0;
  Layout layout = Layout::teacher_forced;
};
/// "L scores as input", for each of the letters that say what an encoding touches.
std::string touches_text(const std::string& letters);

/// Says which stream it draws, and calls `write` with one piece of text after another, each as it is drawn: lines to read, or one JSON object.
void write_samples(const SampleRequest&, bool json, const std::function<void(const std::string&)>& write);

}  // namespace posbench
