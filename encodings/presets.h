// Defines presets: names for specs that have the pattern of a published model, scaled to the trained length. A
// preset is used like an encoding, and `encodings()` finds it, but its names do not include it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/real.h"
#include "base/spec.h"

namespace posbench::inline POSBENCH_REAL {

struct Preset {
  std::string name, spec;
  std::string model;    // the published models with this pattern
  std::string source;   // the code or paper from which the pattern was read
  std::string pattern;  // the pattern of the model, with its numbers
  std::string scaling;  // how the spec differs from the model
};

/// Returns all presets, in alphabetical order.
const std::vector<Preset>& presets();

/// Returns the preset with this name, or null.
const Preset* find_preset(const std::string& name);

/// Returns the names of the presets that a spec names or wraps, and their specs.
std::map<std::string, std::string> presets_in(const Spec&);

}  // namespace posbench::inline POSBENCH_REAL
