// Holds a model with one encoding and random parameters, and one random sequence. The certificates measure these.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "model/position_encoding.h"
#include "model/training_step.h"
#include "model/transformer.h"

namespace posbench::inline POSBENCH_REAL {

using MakeEncoding = std::function<std::unique_ptr<PositionEncoding>(const ModelConfig&, ParameterLayout&)>;

/// Small sizes make gradients by finite differences fast.
constexpr int kCertificateVocabulary = 7;

/// Returns the columns and the rows of `length` cells in four columns. Rows count from 1, columns from 0, so that
/// cells of the first column have no column coordinate.
std::vector<std::vector<int>> board_coordinates(int length);

/// The parameters are moved off their initial values, of which some are zero. With dropout in the configuration,
/// the sequence is one of training.
struct Fixture {
  Fixture(const MakeEncoding&, const ModelConfig&, int length, std::uint64_t seed);

  /// Computes the logits, with the same dropout masks every time.
  void forward();
  void backward(const std::vector<int>& targets);
  const Matrix& logits() const { return workspace.activations.logits; }

  Rng rng;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  size_t encoding_entries;  // the number of leading entries of the layout that belong to the encoding
  Transformer model;
  Parameters parameters;
  TrainingWorkspace workspace;
  Sequence sequence;
};

}  // namespace posbench::inline POSBENCH_REAL
