// What every encoding must satisfy, measured. Compiled in double precision, with the sources that train in float.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench {

/// The largest disagreement, and its parameter or argument: "blocks.0.norm1.weight", "score: q".
struct Worst {
  double error = 0;
  std::string where;
};

/// Hand-written gradients g against central differences along a random direction v of every named parameter and of
/// every argument of every stage:   |difference - g . v| / (|g| |v|).   Inputs are random and without symmetry.
/// Where the shape has dropout, the sequence is one of training and the masks stay the same. An index outside a
/// matrix is an infinite error.
Worst gradient_error(const Spec&, const ModelShape&, int length);
/// The same for an encoding that has no name.
using MakeEncoding = std::function<std::unique_ptr<PositionEncoding>(const ModelShape&, ParameterLayout&)>;
Worst gradient_error(const MakeEncoding&, const ModelShape&, int length);

/// Options of blocks, each as a user would write them, and a shape that has them.
struct BlockOptions {
  std::string name;
  std::function<void(ModelShape&)> set;
};
const std::vector<BlockOptions>& block_options();

/// The shape with as many heads, of the same width, and layers as the encoding needs.
ModelShape fitted(const Spec&, ModelShape);

/// Whether changing a token leaves every earlier output the same to the bit.
bool is_causal(const Spec&, ModelShape, int length);

/// How much swapping two neighbours before the last token moves its output of one layer, relative to its norm: the
/// maximum over all neighbours in a few models, since an encoding may see only the nearest tokens.
double order_sensitivity(const Spec&, ModelShape, int length);

/// How much adding five to every position moves the outputs, relative to their norm: only by
/// rounding if scores depend on relative positions alone.
double shift_sensitivity(const Spec&, const ModelShape&, int length);

/// Whether a sequence of this length gives finite outputs and gradients.
bool is_finite(const Spec&, const ModelShape&, int length);

/// The shape that checks use, small: `heads` heads of width 4, two layers.
ModelShape small_shape(int heads, bool causal, bool pre_norm);

}  // namespace posbench
