#include "harness/training/make_model.h"

#include <memory>

#include "encodings/registry.h"

namespace posbench {

Model make_model(const Spec& encoding, const ModelConfig& shape) {
  Model model;
  model.shape = shape;
  model.encoding = make_encoding(encoding, shape, model.layout);
  model.transformer = std::make_unique<Transformer>(shape, model.layout, *model.encoding);
  return model;
}

}  // namespace posbench
