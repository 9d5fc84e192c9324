// Declares the inner loops of training, compiled for several instruction sets of which the program chooses one
// when it starts. All give the same bytes: an entry of a product is a sum over k in ascending order, and a sum
// along a row runs over kLanes lanes (model/lanes.h), however many numbers a vector of the processor holds.
//
// The functions take pointers and no types of Eigen or of the standard library, because the linker keeps one copy
// of their inline functions, which may be compiled for an instruction set that this processor lacks.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// A matrix in memory; rows are `stride` scalars apart.
struct Rows {
  Real* data;
  Index rows, cols, stride;
};
struct ConstRows {
  const Real* data;
  Index rows, cols, stride;
};

/// An input of a product: a matrix with any strides.
struct Operand {
  const Real* data = nullptr;
  Index rows = 0, cols = 0, row_stride = 0, col_stride = 0;  // strides in scalars
  enum class Zeros { none, right_of_diagonal, left_of_diagonal } zeros = Zeros::none;
  Index diagonal = 0;                      // the diagonal of the entries (i, i + diagonal), or of its transpose
  const Real* packed = nullptr;            // a packed copy that a product reads if this is its right operand
  const Real* packed_transpose = nullptr;  // a packed copy of the transpose
};

constexpr Real kNormEpsilon = Real(1e-5);  // added to the mean square of a row before its root
constexpr Index kAllDiagonals = Index{1} << 40;

struct Kernels {
  /// result = start + scale a b; `start` is null, the result itself, or one row with `start_stride` 0. Entries (i,
  /// j) with j > i + last_diagonal may stay unchanged.
  void (*multiply)(const Operand& a, const Operand& b, const Real* start, Index start_stride, Real scale,
                   Index last_diagonal, Real* result, Index stride);
  /// Copies b in the order in which products read a right operand: packed_columns(b.cols) b.rows scalars.
  void (*pack)(const Operand& b, Real* packed);

  /// The functions of these names in model/layers.h and model/attention.h call these.
  void (*softmax)(const ConstRows& scores, bool causal, const Rows& attention);
  void (*softmax_backward)(const ConstRows& attention, bool causal, const ConstRows& d_attention,
                           const Rows& d_scores);
  void (*layer_norm)(const ConstRows& x, const Real* gain, const Real* bias, const Rows& normalized, Real* rstd,
                     const Rows& y);
  void (*layer_norm_backward)(const Real* gain, const ConstRows& normalized, const Real* rstd,
                              const ConstRows& d_y, const Rows& d_x, Real* d_gain, Real* d_bias);
  void (*gelu)(const Rows& x, const Rows& y);
  /// Returns the sum over rows of -log softmax(logits)[target]; d_logits = weight (softmax - 1 at the target)
  double (*cross_entropy)(const ConstRows& logits, const int* targets, Real weight, const Rows& d_logits);
  /// sums += the sum of all rows.
  void (*add_column_sums)(const ConstRows& x, Real* sums);

  Real (*sum)(const Real* x, Index size);
  Real (*dot)(const Real* x, const Real* y, Index size);

  /// y = f(x), entry by entry; `y` may be `x`.
  void (*exponential)(const Real* x, Index size, Real* y);
  void (*sigmoid)(const Real* x, Index size, Real* y);
  void (*softplus)(const Real* x, Index size, Real* y);
};

/// Products may read this many entries right of the diagonal of an operand with zeros there. These must be zero in
/// memory.
constexpr Index kBand = 16;

/// Returns the number of keys that the causal mask leaves to query i.
constexpr Index num_visible_keys(Index i, Index length, bool causal) { return causal ? i + 1 : length; }

/// Returns the number of scalars for each row of a packed matrix.
constexpr Index packed_columns(Index columns) {
  constexpr Index kLanes = 32 / sizeof(Real);
  return (columns + kLanes - 1) / kLanes * kLanes;
}

/// Returns the kernels of the instruction set in use: at first the best of this processor.
const Kernels& kernels();

/// Returns the instruction sets of this processor, the best last: "x86-64-v3" and "x86-64-v4", or that of the
/// build.
std::vector<std::string> instruction_sets();
std::string instruction_set();
/// Uses another instruction set in all threads, which must not be computing. Throws InputError if the processor or
/// the program does not have it.
void use_instruction_set(std::string_view name);

}  // namespace posbench::inline POSBENCH_REAL
