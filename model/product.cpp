#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Computes result = start + scale a b. `start` has as many columns as the result; it is null for result = scale a
/// b.
void product(const Real* start, Index start_stride, const Operand& a, const Operand& b, Real scale, Part part,
             Out& result) {
  eigen_assert(a.col_stride == 1 || a.row_stride == 1 || a.rows == 1);
  eigen_assert(a.cols == b.rows && result.rows() == a.rows && result.cols() == b.cols);
  const Index last_diagonal = part == Part::whole ? kAllDiagonals : part == Part::up_to_diagonal ? 0 : 1;
  kernels().multiply(a, b, start, start_stride, scale, last_diagonal, result.data(), result.outerStride());
}

void pack(const Operand& b, Matrix& packed) {
  packed.resize(b.rows, packed_columns(b.cols));
  kernels().pack(b, packed.data());
}

}  // namespace

void PackedMatrix::fill(const In& weights, bool transposed) {
  operand_ = MatrixOperand(weights);
  pack(operand_, packed_);
  if (transposed) pack(operand_.transpose(), packed_transpose_);
  operand_.packed = packed_.data();
  if (transposed) operand_.packed_transpose = packed_transpose_.data();
}

MatrixOperand lower_triangle(const In& m, Index diagonal) {
  MatrixOperand operand(m);
  operand.diagonal = diagonal;
  operand.zeros = Operand::Zeros::right_of_diagonal;
  return operand;
}

void multiply(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale, Part part) {
  product(nullptr, 0, a, b, scale, part, result);
}

void multiply_plus_row(const In& start, const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale) {
  product(start.data(), 0, a, b, scale, Part::whole, result);
}

void multiply_add(const MatrixOperand& a, const MatrixOperand& b, Out result, Real scale, Part part) {
  product(result.data(), result.outerStride(), a, b, scale, part, result);
}

}  // namespace posbench::inline POSBENCH_REAL
