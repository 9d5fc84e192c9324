// Makes a model from the spec of an encoding and the sizes of the model.
#pragma once
#include <memory>

#include "base/spec.h"
#include "model/parameters.h"
#include "model/position_encoding.h"
#include "model/transformer.h"

namespace posbench {

/// One model with one encoding. The parts are on the heap because the transformer refers to its encoding, whose
/// address must not change when a Model is moved.
struct Model {
  ModelConfig config;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  std::unique_ptr<Transformer> transformer;
};

/// Throws InputError if the encoding is not defined for the configuration.
Model make_model(const Spec& encoding, const ModelConfig& config);

}  // namespace posbench
