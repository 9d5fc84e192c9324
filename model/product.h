// Computes matrix products with a kernel that is tuned for the sizes of this model, at which Eigen spends much of
// its time in packing and at edges. Products skip the masked triangle of causal attention.
#pragma once
#include "model/kernels.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// Returns a view of a matrix in a type of the kernels.
inline ConstRows rows(const In& m) { return {m.data(), m.rows(), m.cols(), m.outerStride()}; }
inline Rows rows(Out& m) { return {m.data(), m.rows(), m.cols(), m.outerStride()}; }

/// An operand of a product: a matrix, a part of one, or the transpose of either.
struct MatrixOperand : Operand {
  MatrixOperand() = default;
  template <class M>
  MatrixOperand(const Eigen::MatrixBase<M>& m)
      : Operand{.data = m.derived().data(),
                .rows = m.rows(),
                .cols = m.cols(),
                .row_stride = M::IsRowMajor ? m.derived().outerStride() : m.derived().innerStride(),
                .col_stride = M::IsRowMajor ? m.derived().innerStride() : m.derived().outerStride()} {}

  MatrixOperand transpose() const {
    MatrixOperand m;
    m.data = data;
    m.rows = cols;
    m.cols = rows;
    m.row_stride = col_stride;
    m.col_stride = row_stride;
    m.zeros = zeros == Zeros::none                ? Zeros::none
              : zeros == Zeros::right_of_diagonal ? Zeros::left_of_diagonal
                                                  : Zeros::right_of_diagonal;
    m.diagonal = diagonal;
    m.packed = packed_transpose;
    m.packed_transpose = packed;
    return m;
  }
};

/// Weights that are the right operand of many products, copied once in the order in which products read them.
class PackedMatrix {
 public:
  /// Copies the weights, which must outlive this object. `transposed`: their transpose is a right operand, too.
  void fill(const In& weights, bool transposed);
  operator const MatrixOperand&() const { return operand_; }

 private:
  MatrixOperand operand_;
  Matrix packed_, packed_transpose_;
};

/// Returns a left operand whose entries (i, j) with j > i + diagonal count as zero. Products skip them, except for
/// the next kBand of each row, which must be zero.
MatrixOperand lower_triangle(const In&, Index diagonal = 0);

/// The entries of a result that are computed; others may stay unchanged.
enum class Part { whole, up_to_diagonal, one_past_diagonal };

/// result = scale a b. The result must not overlap a or b.
void multiply(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale = 1, Part part = Part::whole);
/// result = start + scale a b, `start` (1, columns of b) in every row.
void multiply_plus_row(const In& start, const MatrixOperand& a, const MatrixOperand& b, Out result,
                       Real scale = 1);
/// result += scale a b.
void multiply_add(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale = 1,
                  Part part = Part::whole);

}  // namespace posbench::inline POSBENCH_REAL
