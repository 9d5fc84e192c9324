// Declares the options of the reference vectors of an encoding.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/golden_vectors.h"
#include "harness/console/command.h"

namespace posbench {

struct VectorsRequest {
  GoldenRequest request;
  std::optional<std::string> positions, arrays;  // comma-separated
  std::optional<int> length;
  std::optional<std::filesystem::path> inputs;
};

/// The names of the options that add_vector_options adds.
const std::vector<std::string>& vector_options();
void add_vector_options(Command&, VectorsRequest&);

}  // namespace posbench
