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
  Layout layout = Layout::teacher_forced;
};
std::string sample_text(const SampleRequest&);
Json sample_json(const SampleRequest&);

struct CheckRequest {
  std::vector<std::string> names;  // of tasks and encodings, globs and specs; none is all
  bool variants = false;           // and the variants of the encodings among them
  bool json = false;
};
/// Certificates, told one by one as they are found. Returns whether all passed.
bool check(const CheckRequest&);

}  // namespace posbench
