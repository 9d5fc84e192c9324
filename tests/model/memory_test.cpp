// Tests that matrices and products can be used after an allocation failed.
#include <algorithm>
#include <new>
#include <thread>
#include <vector>

#include "model/product.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a matrix that could not be resized keeps its values and allocates when it is resized again") {
  Matrix matrix(2, 3);
  matrix.setConstant(7);
  const Real* before = matrix.data();
  CHECK_THROWS_AS(matrix.resize(Index{1} << 30, Index{1} << 30), std::bad_alloc);
  CHECK((matrix.array() == 7).all());
  matrix.resize(20, 30);
  CHECK(matrix.data() != before);
}

TEST_CASE("a thread computes products and ends after a product ran out of memory") {
  bool has_thrown = false;
  double error = 1;
  std::vector<Real> others;
  std::thread([&] {
    const EigenMatrix a = EigenMatrix::Constant(16, 200, 2), b = EigenMatrix::Constant(16, 100, 3);
    EigenMatrix result(200, 100);
    multiply(a.transpose(), b, result);  // copies a
    MatrixOperand large(a.transpose());
    large.rows = Index{1} << 55;
    try {
      kernels().multiply(large, MatrixOperand(b), nullptr, 0, 1, kAllDiagonals, result.data(), 100);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    others.assign(6000, 5);  // nearly the size of the copy
    multiply(a.transpose(), b, result);
    error = (result.array() - 2 * 3 * 16).abs().maxCoeff();
  }).join();
  CHECK(has_thrown);
  CHECK(error == 0);
  CHECK(std::ranges::count(others, 5) == 6000);
}
