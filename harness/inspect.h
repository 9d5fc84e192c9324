// `posbench inspect`: what a trained encoding learned, seen on one example.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/output.h"

namespace posbench {

struct InspectRequest {
  std::filesystem::path run;  // a run directory with models
  std::string task, encoding;
  std::uint64_t seed = 0;
  std::string split = "in_distribution";
  std::uint64_t example = 0;  // its number in the test stream of the split
  std::optional<int> length;  // in the task's unit; drawn without it
  std::optional<int> query;   // the place that tables tell of; the last scored one without it
  Output output;
};

/// Tells, for each layer and head, the positional part of the scores, the attention, and what the encoding itself
/// shows: console, markdown and csv of one query, json and html of all. Throws std::invalid_argument where the
/// model is missing or cannot be read, or what is asked is not there.
void inspect(const InspectRequest&);

}  // namespace posbench
