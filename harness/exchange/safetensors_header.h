// Reads and writes the header of the .safetensors format, which PyTorch and NumPy users open: eight bytes that
// count a JSON text, then this text with type, shape and place of each array. The numbers follow, little-endian
// and row-major.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/json/json.h"

namespace posbench {

struct SafetensorsEntry {
  std::string name, type;  // "F32", "I64", ...
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0, end = 0;  // bytes of the numbers
};

/// Returns the bytes before the numbers. `metadata` is an object of texts; it is omitted if it is empty.
std::string safetensors_header(const Json& metadata, const std::vector<SafetensorsEntry>&);

struct SafetensorsFile {
  std::map<std::string, std::string> metadata;
  std::vector<SafetensorsEntry> entries;  // in the order of the header; each is inside `numbers`
  std::string_view numbers;
  std::uint64_t header_size = 0;  // bytes before the numbers
};

/// Splits the bytes of a file, which must outlive the result. Throws InputError, which names `file` and the
/// position in it.
SafetensorsFile split_safetensors(std::string_view bytes, const std::string& file);

/// Throws the InputError for a file of another size than its header states. `bound` is "or more" or "by its
/// header".
[[noreturn]] void refuse_size(const std::string& file, std::uint64_t size, std::uint64_t expected,
                              const char* bound);

}  // namespace posbench
