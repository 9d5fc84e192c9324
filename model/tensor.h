// Numbers and matrices. Everything is row-major: a row is what belongs to one token.
#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "model/scalar.h"

namespace posbench {

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
    if (rows * cols > capacity_) {
      capacity_ = rows * cols;
      storage_.reset(new (kCacheLine) Real[static_cast<size_t>(capacity_)]);
    }
    new (static_cast<MatrixView*>(this)) MatrixView(storage_.get(), rows, cols);
  }

 private:
  static constexpr std::align_val_t kCacheLine{64};  // so that the widest vectors do not lie across two
  struct Delete {
    void operator()(Real* values) const { ::operator delete[](values, kCacheLine); }
  };

  std::unique_ptr<Real[], Delete> storage_;
  Index capacity_ = 0;
};

/// One matrix for each head.
using Heads = std::vector<Matrix>;

inline void resize(Heads& heads, Index count, Index rows, Index cols) {
  if (static_cast<Index>(heads.size()) != count) heads.resize(count);
  for (Matrix& head : heads) head.resize(rows, cols);
}

inline void set_zero(Heads& heads) {
  for (Matrix& head : heads) head.setZero();
}

}  // namespace posbench
