// Lists the encodings that tests of the whole registry run with.
#pragma once
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench {

/// Returns every encoding with its defaults, and with the variants of its registration.
inline std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  for (const std::string& name : encodings().names()) {
    specs.push_back(name);
    for (const std::string& options : encodings().find(name).info.variants) specs.push_back(name + ":" + options);
  }
  return specs;
}

}  // namespace posbench
