#include "harness/training/make_model.h"

#include <memory>

#include "encodings/registry.h"

namespace posbench {

Model make_model(const Spec& encoding, const ModelConfig& config) {
  Model model;
  model.config = config;
  model.encoding = make_encoding(encoding, config.for_encoding(), model.layout);
  model.transformer = std::make_unique<Transformer>(config, model.layout, *model.encoding);
  return model;
}

}  // namespace posbench
