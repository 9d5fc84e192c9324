// Matrix products: one kernel for all of them, at the sizes of this model, where Eigen spends much of its time in
// packing and in edges. A causal model's triangles are skipped, not computed and thrown away.
#pragma once
#include "model/kernels.h"
#include "model/tensor.h"

namespace posbench {

/// Matrices as kernels see them.
inline ConstRows rows(const In& m) { return {m.data(), m.rows(), m.cols(), m.outerStride()}; }
inline Rows rows(Out& m) { return {m.data(), m.rows(), m.cols(), m.outerStride()}; }

/// A matrix as products read it: a matrix, a part of one, or the transpose of either.
struct MatrixOperand : Operand {
  MatrixOperand() = default;
  template <class M>
  MatrixOperand(const Eigen::MatrixBase<M>& m)
      : Operand{.data = m.derived().data(),
                .rows = m.rows(),
                .cols = m.cols(),
                .row_stride = M::IsRowMajor ? m.derived().outerStride() : m.derived().innerStride(),
                .col_stride = M::IsRowMajor ? m.derived().innerStride() : m.derived().outerStride()} {}

  MatrixOperand transpose() const;
};

/// Weights that many products take on the right: copied once in the order in which they read them.
class PackedMatrix {
 public:
  /// `transposed`: their transpose will stand on the right, too. The weights themselves must stay where they are.
  void fill(const In& weights, bool transposed);
  operator const MatrixOperand&() const { return operand_; }

 private:
  MatrixOperand operand_;
  Matrix packed_, packed_transpose_;
};

/// A left operand whose entries (i, j) with j > i + diagonal count as zero: products skip them, but for the next kBand
/// of each row, which must be zero.
MatrixOperand lower(const In&, Index diagonal = 0);

/// Which entries of a result are wanted; others may be left as they are.
enum class Part { whole, up_to_diagonal, one_past_diagonal };

/// result = scale a b. The result must not overlap a or b.
void multiply(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale = 1, Part part = Part::whole);
/// result = start + scale a b, `start` (1, columns of b) in every row.
void multiply_from(const In& start, const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale = 1);
/// result += scale a b
void multiply_add(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale = 1, Part part = Part::whole);

}  // namespace posbench
