// The inner loops of training, compiled for each instruction set that the program knows, of which it takes one when
// it starts. All give the same bytes: an entry of a product is a sum over k in ascending order, and a sum along a row
// runs over kLanes lanes (model/lanes.h), however many numbers a vector of the processor holds.
//
// What lies behind the pointers sees plain memory: a function of Eigen or of the standard library that was compiled
// for one instruction set could be linked in place of another's.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/scalar.h"

namespace posbench {

/// A matrix in memory; rows are `stride` scalars apart.
struct Rows {
  Real* data;
  Index rows, cols, stride;
};
struct ConstRows {
  const Real* data;
  Index rows, cols, stride;
};

/// A matrix as products read it, by any strides.
struct Operand {
  const Real* data = nullptr;
  Index rows = 0, cols = 0, row_stride = 0, col_stride = 0;  // strides in scalars
  enum class Zeros { none, right_of_diagonal, left_of_diagonal } zeros = Zeros::none;
  Index diagonal = 0;                      // which one: that of entries (i, i + diagonal), or of its transpose
  const Real* packed = nullptr;            // a copy that is read in its place where it stands on the right ...
  const Real* packed_transpose = nullptr;  // ... and one where its transpose does
};

constexpr Index kAllDiagonals = Index{1} << 40;

struct Kernels {
  /// result = start + scale a b; `start` may be null, and its rows, `start_stride` apart, the result's own or all the
  /// same. Entries (i, j) with j > i + last_diagonal may be left as they are.
  void (*multiply)(const Operand& a, const Operand& b, const Real* start, Index start_stride, Real scale,
                   Index last_diagonal, Rows result);
  /// Copies b in the order in which products read it on their right: packed_size(b.cols) b.rows scalars.
  void (*pack)(const Operand& b, Real* packed);

  /// model/layers.h and model/attention.h say what these compute.
  void (*softmax)(ConstRows scores, bool causal, Rows attention);
  void (*softmax_backward)(ConstRows attention, bool causal, ConstRows d_attention, Rows d_scores);
  void (*layer_norm)(ConstRows x, const Real* gain, const Real* bias, Rows normalized, Real* rstd,
                         Rows y);
  void (*layer_norm_backward)(const Real* gain, ConstRows normalized, const Real* rstd,
                                  ConstRows d_y, Rows d_x, Real* d_gain, Real* d_bias);
  void (*gelu)(Rows x, Rows y);
  /// Returns the sum over rows of -log softmax(logits)[target]; d_logits = weight (softmax - 1 at the target)
  double (*cross_entropy)(ConstRows logits, const int* targets, Real weight, Rows d_logits);
  /// sums += the sum of all rows
  void (*add_column_sums)(ConstRows x, Real* sums);

  Real (*sum)(const Real* x, Index size);
  Real (*dot)(const Real* x, const Real* y, Index size);

  /// Entry by entry; `y` may be `x`.
  void (*exponential)(const Real* x, Index size, Real* y);
  void (*sigmoid)(const Real* x, Index size, Real* y);
  void (*softplus)(const Real* x, Index size, Real* y);
};

/// Entries so far right of the diagonal products may read of an operand with zeros there: they must be zero.
constexpr Index kBand = 16;

/// Scalars for each row of a packed matrix.
constexpr Index packed_columns(Index columns) {
  constexpr Index kLanes = 32 / sizeof(Real);
  return (columns + kLanes - 1) / kLanes * kLanes;
}

/// Those of the instruction set in use: at first the best that the processor has.
const Kernels& kernels();

/// What this processor can run, the best last: "v3" and "v4" of x86-64, or the one that the program was built for.
std::vector<std::string> instruction_sets();
std::string instruction_set();
/// Takes another for all threads, which must not be computing. Throws std::invalid_argument where the processor, or
/// the program, has no such.
void use_instruction_set(std::string_view name);

}  // namespace posbench
