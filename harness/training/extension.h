// Extension after training: a trained model is tested under another encoding that shares its parameters.
#pragma once
#include <string>
#include <vector>

#include "harness/training/options.h"
#include "harness/training/trainer.h"

namespace posbench {

struct Extension {
  Spec encoding;  // that the model is tested with
  int steps = 0;  // of further training before

  /// "rope->none", or "rope->none +100 steps": what stands for an encoding in a report.
  std::string label(const std::string& parent) const;
};

/// What is in extend.encodings, in canonical form.
struct ExtensionRequest {
  std::string parent;  // empty: every encoding
  Spec encoding;
};

/// Throws std::invalid_argument if an encoding is unknown.
std::vector<ExtensionRequest> parse_extensions(const ExtendOptions&);

/// Those of a model with the encoding `parent`: each as it is, and after extend.steps if there are any. `base`: the
/// parent without what is swept. Throws std::invalid_argument if the parameters of one are not all among the parent's.
std::vector<Extension> extensions_of(const Spec& parent, const std::string& base, const ExtendOptions&,
                                     const ModelShape&);

/// The values of the parameters of one layout, from those of another that has them all.
Parameters shared_parameters(const ParameterLayout& from, const Parameters&, const ParameterLayout& to);

}  // namespace posbench
