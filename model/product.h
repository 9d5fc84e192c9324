// Matrix products: one kernel for all of them, at the sizes of this model, where Eigen spends much of its time in
// packing and in edges. A causal model's triangles are skipped, not computed and thrown away.
#pragma once
#include "model/tensor.h"

namespace posbench {

/// A matrix as products read it, by any strides.
struct Factor {
  const Real* data = nullptr;
  Index rows = 0, cols = 0, row_stride = 0, col_stride = 0;  // strides in scalars
  enum class Zeros { none, right_of_diagonal, left_of_diagonal } zeros = Zeros::none;
  const Real* panels = nullptr;             // a copy that is read in its place where it stands on the right ...
  const Real* transposed_panels = nullptr;  // ... and one where its transpose does

  Factor() = default;
  template <class M>
  Factor(const Eigen::MatrixBase<M>& m)  // a matrix, a part of one, or the transpose of either
      : data(m.derived().data()),
        rows(m.rows()),
        cols(m.cols()),
        row_stride(M::IsRowMajor ? m.derived().outerStride() : m.derived().innerStride()),
        col_stride(M::IsRowMajor ? m.derived().innerStride() : m.derived().outerStride()) {}

  Factor transpose() const;
};

/// A matrix that many products take on the right: copied once in the order in which they read it.
class Panels {
 public:
  /// `transposed`: its transpose will stand on the right, too. The matrix itself must stay where it is.
  void fill(const In& matrix, bool transposed);
  operator const Factor&() const { return factor_; }

 private:
  Factor factor_;
  Matrix columns_, rows_;
};

/// A square left factor whose entries right of the diagonal count as zero: products skip them, but for the next
/// kBand of each row, which must be zero.
Factor lower(const In&);
constexpr Index kBand = 16;

/// Which entries of a square result are wanted; others may be left as they are.
enum class Part { whole, up_to_diagonal };

/// result = scale a b. The result must not overlap a or b.
void multiply(const Factor& a, const Factor& b, Out result, Real scale = 1, Part part = Part::whole);
/// result = start + scale a b, `start` (1, columns of b) in every row.
void multiply_from(const In& start, const Factor& a, const Factor& b, Out result, Real scale = 1);
/// result += scale a b
void multiply_add(const Factor& a, const Factor& b, Out result, Real scale = 1, Part part = Part::whole);

}  // namespace posbench
