#include "model/numeric.h"

#include "model/kernels.h"

namespace posbench {
namespace {

void entrywise(void (*f)(const Real*, Index, Real*), const In& x, Out& y) {
  eigen_assert(x.rows() == y.rows() && x.cols() == y.cols());
  for (Index i = 0; i < x.rows(); ++i) f(x.row(i).data(), x.cols(), y.row(i).data());
}

}  // namespace

void exponential(const In& x, Out y) { entrywise(kernels().exponential, x, y); }
void sigmoid(const In& x, Out y) { entrywise(kernels().sigmoid, x, y); }
void softplus(const In& x, Out y) { entrywise(kernels().softplus, x, y); }

Real sum(const In& row) {
  eigen_assert(row.rows() == 1);
  return kernels().sum(row.data(), row.cols());
}

Real dot(const In& a, const In& b) {
  eigen_assert(a.rows() == 1 && b.rows() == 1 && a.cols() == b.cols());
  return kernels().dot(a.data(), b.data(), a.cols());
}

}  // namespace posbench
