// Extends a trained model: it is tested under another encoding that shares its parameters.
#pragma once
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/training/options.h"
#include "model/parameters.h"

namespace posbench {

struct Extension {
  Spec encoding;  // of the test
  int steps = 0;  // of further training before the test

  /// Returns "rope->none" or "rope->none +100 steps", the name under which a report lists it.
  std::string label(const std::string& parent) const;
};

/// One item of extend.encodings, in canonical form.
struct ExtensionRequest {
  std::string parent;  // empty: every encoding
  Spec encoding;
};

/// Throws InputError if an encoding is unknown.
std::vector<ExtensionRequest> parse_extensions(const ExtendOptions&);

/// Returns the extensions of a model with the encoding `parent`: each without further training, and each after
/// extend.steps if they are not 0. `base` is the parent without its swept values. Throws InputError if an
/// extension needs a parameter that the parent does not have.
std::vector<Extension> extensions_of(const Spec& parent, const Spec& base, const ExtendOptions&,
                                     const ModelConfig&);

/// Returns the parameters of layout `to`, with the values of layout `from`, which has all of them.
Parameters shared_parameters(const ParameterLayout& from, const Parameters&, const ParameterLayout& to);

}  // namespace posbench
