// Defines matrices. All are row-major; a row belongs to one token.
#pragma once
#ifdef POSBENCH_CHECKED_INDICES
#include <stdexcept>
#include <string>

namespace posbench::inline POSBENCH_REAL {
/// Reports an access outside of a matrix, or shapes that do not match.
struct IndexError : std::logic_error {
  using logic_error::logic_error;
};
[[noreturn]] inline void fail_index(const char* condition) { throw IndexError(condition); }
}  // namespace posbench::inline POSBENCH_REAL
#define eigen_assert(condition)                           \
  do {                                                    \
    if (!(condition)) ::posbench::fail_index(#condition); \
  } while (false)
#endif
#define EIGEN_MAX_ALIGN_BYTES 64  // a cache line: parameters and gradients are Eigen's matrices
#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

using EigenMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using MatrixView = Eigen::Map<EigenMatrix>;
using ConstMatrixView = Eigen::Map<const EigenMatrix>;

/// Arguments that are matrices, blocks of a matrix, or parameters. In is read, Out is written.
using In = Eigen::Ref<const EigenMatrix>;
using Out = Eigen::Ref<EigenMatrix>;

/// A matrix that keeps its memory when it is resized, so that a workspace stops allocating once it has seen the
/// longest sequence. Resizing leaves the values undefined.
class Matrix : public MatrixView {
 public:
  Matrix() : MatrixView(nullptr, 0, 0) {}
  Matrix(Index rows, Index cols) : Matrix() { resize(rows, cols); }
  Matrix(const Matrix& other) : Matrix() { *this = other; }
  Matrix(Matrix&& other) noexcept
      : MatrixView(other), storage_(std::move(other.storage_)), capacity_(std::exchange(other.capacity_, 0)) {
    new (static_cast<MatrixView*>(&other)) MatrixView(nullptr, 0, 0);
  }
  template <class Expression>
  explicit Matrix(const Eigen::DenseBase<Expression>& values) : Matrix(values.rows(), values.cols()) {
    MatrixView::operator=(values);
  }
  Matrix& operator=(const Matrix& other) {
    if (this == &other) return *this;
    resize(other.rows(), other.cols());
    MatrixView::operator=(other);
    return *this;
  }
  using MatrixView::operator=;

  void resize(Index rows, Index cols) {
    if (rows * cols > capacity_) {
      storage_.reset(new (kCacheLine) Real[static_cast<size_t>(rows * cols)]);
      capacity_ = rows * cols;
    }
    new (static_cast<MatrixView*>(this)) MatrixView(storage_ ? storage_.get() : data(), rows, cols);
  }

  /// Turns this matrix into a view of the entries of another one, which must outlive it and keep its memory. The
  /// cast lets one type be a view of gradients and of inputs; a view of inputs is only read.
  void refer_to(const Matrix& other) {
    storage_.reset();
    capacity_ = other.size();
    new (static_cast<MatrixView*>(this)) MatrixView(const_cast<Real*>(other.data()), other.rows(), other.cols());
  }

 private:
  static constexpr std::align_val_t kCacheLine{64};  // so that no vector load crosses a cache line
  struct Delete {
    void operator()(Real* values) const { ::operator delete[](values, kCacheLine); }
  };

  std::unique_ptr<Real[], Delete> storage_;
  Index capacity_ = 0;
};

/// An integer for each pair of tokens, such as its distance or a row of a table.
using IndexMatrix = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Matrices whose number and shapes an encoding chooses.
using Matrices = std::vector<Matrix>;
/// One matrix for each head.
using Heads = Matrices;

/// Columns that a workspace has in addition. They keep the strides of rows from powers of two, whose rows share
/// cache lines.
constexpr Index kRowPadding = 24;

inline void resize(Heads& heads, Index count, Index rows, Index cols) {
  if (static_cast<Index>(heads.size()) != count) heads.resize(count);
  for (Matrix& head : heads) head.resize(rows, cols);
}

/// Makes `views` refer to `count` of the matrices, from index `first` on.
inline void refer_to(const Matrices& matrices, size_t first, size_t count, Matrices& views) {
  views.clear();
  views.resize(count);
  for (size_t n = 0; n < count; ++n) views[n].refer_to(matrices[first + n]);
}

inline void set_zero(Matrices& matrices) {
  for (Matrix& matrix : matrices) matrix.setZero();
}

/// Resizes `others` to the number and the shapes of `matrices`.
inline void resize_like(const Matrices& matrices, Matrices& others) {
  others.resize(matrices.size());
  for (size_t n = 0; n < matrices.size(); ++n) others[n].resize(matrices[n].rows(), matrices[n].cols());
}

}  // namespace posbench::inline POSBENCH_REAL
