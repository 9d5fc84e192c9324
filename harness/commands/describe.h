// What `list`, `show` and `sample` print.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/runs/config.h"

namespace posbench {

/// `what` is tasks, encodings, profiles or settings.
std::string list_text(const std::string& what);
Json list_json(const std::string& what);

/// A task or an encoding, by name or spec. Throws std::invalid_argument where there is neither.
std::string show_text(const std::string& spec);

struct SampleRequest {
  std::string task, split = "in_distribution";
  int count = 3;
  std::optional<int> length;
  std::uint64_t seed = 0;
  Layout layout = Layout::teacher_forced;
};
/// Calls `write` with one piece of text after another, each as it is drawn: lines to read, or one JSON object.
void write_samples(const SampleRequest&, bool json, const std::function<void(const std::string&)>& write);

}  // namespace posbench
