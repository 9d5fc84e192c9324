// Lists the encodings that tests of the whole registry run with.
#pragma once
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "tests/catch.h"

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

/// Calls f(spec, causal) in a section for each of these encodings, in each kind of model that it is defined for.
template <class F>
void in_each_model(F f) {
  for (const std::string& spec : all_specs()) {
    for (const bool causal : {true, false}) {
      if (!is_defined(Spec::parse(spec), causal)) continue;
      DYNAMIC_SECTION(spec << (causal ? ", causal" : ", bidirectional")) { f(spec, causal); }
    }
  }
}

}  // namespace posbench
