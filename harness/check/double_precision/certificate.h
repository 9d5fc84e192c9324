// Measures the properties that every encoding must have. Compiled in double precision, from the sources that train
// in float.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/check/double_precision/finite_differences.h"
#include "harness/check/double_precision/fixture.h"

namespace posbench::inline POSBENCH_REAL {

/// Compares hand-written gradients with central differences along a random direction of every named parameter and
/// of every argument of every stage. Inputs are random and without symmetry. With dropout in the configuration,
/// the sequence is one of training and the masks stay the same. An index outside a matrix is an infinite error.
Worst gradient_error(const Spec&, const ModelConfig&, int length);
/// The same for an encoding without a name.
Worst gradient_error(const MakeEncoding&, const ModelConfig&, int length);

/// Options of blocks.
struct BlockOptions {
  std::string name;  // the options as a user writes them
  std::function<void(ModelConfig&)> set;
};
const std::vector<BlockOptions>& block_options();

/// Returns the configuration with as many heads and layers as the encoding needs. The width of a head stays the
/// same.
ModelConfig fitted(const Spec&, ModelConfig);

/// Returns true if a change of a token changes no bit of any earlier output.
bool is_causal(const Spec&, ModelConfig, int length);

/// Returns how much a swap of two neighbors before the last token moves its output of one layer, or of all if the
/// options need several, relative to its norm. This is the maximum over all neighbors in a few models, since an
/// encoding may see only the nearest tokens.
double order_sensitivity(const Spec&, ModelConfig, int length);

/// Returns how much adding five to every position moves the outputs, relative to their norm. If scores depend on
/// relative positions only, this is rounding error.
double shift_sensitivity(const Spec&, const ModelConfig&, int length);

/// Returns true if a sequence of this length gives finite outputs and gradients.
bool is_finite(const Spec&, const ModelConfig&, int length);

/// Returns the configuration of the small models of the checks: `heads` heads of width 4 and two layers.
ModelConfig small_config(int heads, bool causal, bool pre_norm);

}  // namespace posbench::inline POSBENCH_REAL
