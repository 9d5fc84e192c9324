// The .safetensors format, which PyTorch and NumPy users open: eight bytes that count a header, the header (JSON,
// with the names and offsets of the matrices), then their numbers, float32 and little-endian. Its `__metadata__`, of
// texts, has a checksum as "crc32" besides the entries of the caller.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"

namespace posbench {

struct SafeTensors {
  struct Tensor {
    std::string name;
    RowMajor values;
  };
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;
};

/// The bytes of such a file.
std::string to_bytes(const SafeTensors&);
/// Reads such bytes: matrices of float32 only. Throws std::runtime_error with one line that names `file` and the
/// position in it.
SafeTensors parse_safetensors(std::string_view bytes, const std::string& file);

/// Adds parameters under their names, after a prefix; and reads them. Reading throws std::runtime_error if one is
/// missing or has another shape.
void add_parameters(const ParameterLayout&, const Parameters&, const std::string& prefix, SafeTensors&);
Parameters read_parameters(const ParameterLayout&, const SafeTensors&, const std::string& prefix,
                           const std::string& file);

}  // namespace posbench
