// Encodings that cannot be made.
#pragma once
#include <stdexcept>
#include <string>

#include "encodings/registry.h"
#include "harness/verify/double_precision/certificate.h"

namespace posbench {

/// The error message of making this encoding; empty if there is no error.
inline std::string refusal(const std::string& spec, const ModelShape& shape = small_shape(2, true, true)) {
  ParameterLayout layout;
  try {
    make_encoding(Spec::parse(spec), shape, layout);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace posbench
