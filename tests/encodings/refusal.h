// Tests of encodings that are refused use the message of the refusal.
#pragma once
#include <string>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"

namespace posbench {

/// Returns the message with which this encoding is refused, or an empty text if it is accepted.
inline std::string refusal(const std::string& spec, const ModelConfig& config = small_config(2, true, true)) {
  ParameterLayout layout;
  try {
    make_encoding(Spec::parse(spec), config, layout);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace posbench
