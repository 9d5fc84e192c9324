// Numbers and matrices. Everything is row-major: a row is what belongs to one token.
#pragma once
#ifdef POSBENCH_CHECKED_INDICES
#include <stdexcept>
#include <string>

namespace posbench {
/// An entry outside a matrix was read or written, or shapes do not fit.
struct IndexError : std::logic_error {
  using logic_error::logic_error;
};
[[noreturn]] inline void fail_index(const char* condition) { throw IndexError(condition); }
}  // namespace posbench
#define eigen_assert(condition)                           \
  do {                                                    \
    if (!(condition)) ::posbench::fail_index(#condition); \
  } while (false)
#endif
#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace posbench {

using Real = POSBENCH_REAL;  // float in training, double where gradients are checked
using Index = Eigen::Index;
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatrixView = Eigen::Map<RowMajor>;
using ConstMatrixView = Eigen::Map<const RowMajor>;

/// Arguments that are matrices, parts of one, or parameters: read, and filled.
using In = Eigen::Ref<const RowMajor>;
using Out = Eigen::Ref<RowMajor>;

/// A matrix that keeps its memory when it is resized, so that a workspace stops allocating once it has seen the
/// longest sequence. Resizing leaves the values undefined.
class Matrix : public MatrixView {
 public:
  Matrix() : MatrixView(nullptr, 0, 0) {}
  Matrix(Index rows, Index cols) : Matrix() { resize(rows, cols); }
  Matrix(const Matrix& other) : Matrix() { *this = other; }
  template <class Expression>
  explicit Matrix(const Eigen::DenseBase<Expression>& values) : Matrix(values.rows(), values.cols()) {
    MatrixView::operator=(values);
  }
  Matrix& operator=(const Matrix& other) {
    resize(other.rows(), other.cols());
    MatrixView::operator=(other);
    return *this;
  }
  using MatrixView::operator=;

  void resize(Index rows, Index cols) {
    if (rows * cols > storage_.size()) storage_.resize(rows * cols);
    new (static_cast<MatrixView*>(this)) MatrixView(storage_.data(), rows, cols);
  }

 private:
  Vector storage_;
};

/// Integers that belong to pairs of tokens: the rows that they read, the distances that they have.
using IndexMatrix = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Matrices of an encoding's own choosing.
using Matrices = std::vector<Matrix>;
/// One matrix for each head.
using Heads = Matrices;

inline void resize(Heads& heads, Index count, Index rows, Index cols) {
  if (static_cast<Index>(heads.size()) != count) heads.resize(count);
  for (Matrix& head : heads) head.resize(rows, cols);
}

inline void set_zero(Matrices& matrices) {
  for (Matrix& matrix : matrices) matrix.setZero();
}

/// `others` become as many, and as large.
inline void resize_like(const Matrices& matrices, Matrices& others) {
  others.resize(matrices.size());
  for (size_t n = 0; n < matrices.size(); ++n) others[n].resize(matrices[n].rows(), matrices[n].cols());
}

}  // namespace posbench
