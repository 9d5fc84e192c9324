// Reads and writes parameters as .safetensors files of float32 matrices. Their metadata has a checksum as "crc32"
// in addition to the entries of the caller.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"

namespace posbench {

struct SafeTensors {
  struct Tensor {
    std::string name;
    EigenMatrix values;
  };
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;
};

/// Returns the bytes of a file.
std::string to_bytes(const SafeTensors&);
/// Reads the bytes of a file that has only float32 matrices. Throws InputError, which names `file` and the
/// position in it.
SafeTensors parse_safetensors(std::string_view bytes, const std::string& file);

/// Adds parameters under their names, after a prefix.
void add_parameters(const ParameterLayout&, const Parameters&, const std::string& prefix, SafeTensors&);
/// Reads the parameters that add_parameters added. Throws InputError if one is missing or has another shape.
Parameters read_parameters(const ParameterLayout&, const SafeTensors&, const std::string& prefix,
                           const std::string& file);

}  // namespace posbench
