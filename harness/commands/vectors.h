// Declares the options of the reference vectors of an encoding, and reads arrays of other programs.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/golden_vectors.h"
#include "harness/console/command.h"

namespace posbench {

using Arrays = std::vector<GoldenArray>;

struct VectorsRequest {
  GoldenRequest request;
  std::optional<std::string> positions, arrays;  // comma-separated
  std::optional<int> length;
  std::optional<std::filesystem::path> inputs;
};

/// The names of the options that add_vector_options adds.
const std::vector<std::string>& vector_options();
void add_vector_options(Command&, VectorsRequest&);

/// Completes the request, and returns the arrays that it selects. Throws InputError.
Arrays make_vectors(VectorsRequest&);

/// Reads the arrays of a .json or .safetensors file. A single number has the shape (1). Throws InputError.
Arrays read_vectors(const std::filesystem::path&);
bool is_json_file(const std::filesystem::path&);

/// Returns null if there is no array of this name.
const GoldenArray* find_array(const Arrays&, const std::string& name);
std::string names_of(const Arrays&);  // "q, k, v"

}  // namespace posbench
