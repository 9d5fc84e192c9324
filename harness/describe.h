// What `list`, `show`, `sample` and `check` print.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/config.h"

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
  Layout layout = Layout::fed_back;
};
std::string sample_text(const SampleRequest&);
Json sample_json(const SampleRequest&);

/// The certificates of these tasks and encodings (all without a name), told one by one as they are found.
/// Returns whether all passed.
bool check(const std::vector<std::string>& names, bool json);

}  // namespace posbench
