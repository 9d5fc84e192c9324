#include "encodings/registry.h"

namespace posbench {

Registry<EncodingEntry>& encodings() {
  static Registry<EncodingEntry> registry{"encoding"};
  return registry;
}

std::unique_ptr<PositionEncoding> make_encoding(const Spec& spec, const ModelShape& shape,
                                                ParameterLayout& layout) {
  const EncodingEntry& entry = encodings().find(spec.name);
  if (entry.info.causal_only && !shape.causal) {
    throw std::invalid_argument(fmt::format(
        "encoding '{}' is defined for causal models only; set model.attention to causal or leave it out",
        spec.name));
  }
  return entry.make(spec, shape, layout);
}

}  // namespace posbench
