#include "model/product.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

EigenMatrix random_matrix(Index rows, Index cols, Rng& rng) {
  return EigenMatrix::NullaryExpr(rows, cols, [&] { return normal(rng); });
}

double distance(const EigenMatrix& a, const EigenMatrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

}  // namespace

TEST_CASE("a product agrees with Eigen's at sizes that do and do not fill vectors, rows and depths") {
  Rng rng = make_rng(0, "product");
  for (const Index rows : {1, 2, 6, 7, 11, 13, 40, 131}) {
    for (const Index depth : {1, 3, 16, 21, 300}) {
      for (const Index cols : {1, 4, 5, 8, 16, 19, 200}) {
        INFO(rows << " x " << depth << " by " << depth << " x " << cols);
        const EigenMatrix a = random_matrix(rows, depth, rng), b = random_matrix(depth, cols, rng);
        const EigenMatrix a_turned = a.transpose(), b_turned = b.transpose(),
                          start = random_matrix(rows, cols, rng);
        EigenMatrix result = start;
        multiply(a, b, result, 2);
        CHECK(distance(result, 2 * a * b) < 1e-12);
        multiply(a_turned.transpose(), b_turned.transpose(), result);
        CHECK(distance(result, a * b) < 1e-12);
        PackedMatrix packed, packed_turned;
        packed.fill(b, false);
        packed_turned.fill(b_turned, true);
        multiply(a, packed, result);
        CHECK(distance(result, a * b) < 1e-12);
        multiply(a, static_cast<const MatrixOperand&>(packed_turned).transpose(), result);
        CHECK(distance(result, a * b) < 1e-12);
        result = start;
        multiply_add(a_turned.transpose(), b, result);
        multiply_add(a, b_turned.transpose(), result, -3);
        CHECK(distance(result, start - 2 * a * b) < 1e-11);
      }
    }
  }
}

TEST_CASE("a product reads and fills parts of matrices") {
  Rng rng = make_rng(1, "product");
  const EigenMatrix a = random_matrix(9, 30, rng), b = random_matrix(40, 50, rng);
  EigenMatrix result = EigenMatrix::Zero(12, 60);
  multiply(a.middleCols(5, 20), b.block(3, 7, 20, 21), result.block(1, 2, 9, 21));
  EigenMatrix expected = EigenMatrix::Zero(12, 60);
  expected.block(1, 2, 9, 21) = a.middleCols(5, 20) * b.block(3, 7, 20, 21);
  CHECK(distance(result, expected) < 1e-12);
}

TEST_CASE("entries above the diagonal of an operand count as zero, and those of a result may be skipped") {
  Rng rng = make_rng(2, "product");
  for (const Index size : {1, 5, 16, 17, 50, 300}) {
    INFO(size);
    const EigenMatrix full = random_matrix(size, size, rng), v = random_matrix(size, 11, rng);
    const EigenMatrix triangle = full.triangularView<Eigen::Lower>();
    EigenMatrix banded = full;  // not zero beyond the band
    for (Index i = 0; i < size; ++i) banded.row(i).segment(i + 1, std::min(kBand, size - i - 1)).setZero();
    EigenMatrix result(size, 11);
    multiply(lower_triangle(banded), v, result);
    CHECK(distance(result, triangle * v) < 1e-11);
    multiply(lower_triangle(banded).transpose(), v, result);
    CHECK(distance(result, triangle.transpose() * v) < 1e-11);
    EigenMatrix scores(size, size);
    multiply(v, v.transpose(), scores, 1, Part::up_to_diagonal);
    const EigenMatrix computed = scores.triangularView<Eigen::Lower>(), all = v * v.transpose();
    CHECK(distance(computed, all.triangularView<Eigen::Lower>()) < 1e-12);

    EigenMatrix shifted = EigenMatrix::Zero(size, size + 1);  // row i ends with column i + 1
    for (Index i = 0; i < size; ++i) shifted.row(i).head(i + 2) = full.row(i).head(1).replicate(1, i + 2);
    const EigenMatrix w = random_matrix(size + 1, 11, rng);
    multiply(lower_triangle(shifted, 1), w, result);
    CHECK(distance(result, shifted * w) < 1e-11);
    EigenMatrix turned(size + 1, 11);
    multiply(lower_triangle(shifted, 1).transpose(), v, turned);
    CHECK(distance(turned, shifted.transpose() * v) < 1e-11);
    EigenMatrix by_row(size, size + 1);
    multiply(v, w.transpose(), by_row, 1, Part::one_past_diagonal);
    const EigenMatrix exact = v * w.transpose();
    for (Index i = 0; i < size; ++i) CHECK(distance(by_row.row(i).head(i + 2), exact.row(i).head(i + 2)) < 1e-12);
  }
}

TEST_CASE("an entry depends on its row and its column only, bit for bit") {
  Rng rng = make_rng(3, "product");
  const EigenMatrix a = random_matrix(31, 300, rng), b = random_matrix(300, 45, rng);
  EigenMatrix whole(31, 45);
  multiply(a, b, whole);
  for (const auto& [row, column] : {std::pair<Index, Index>{0, 0}, {17, 20}, {30, 44}, {5, 33}}) {
    EigenMatrix one(1, 1), few(3, 9);
    multiply(a.row(row), b.col(column), one);
    CHECK(one(0, 0) == whole(row, column));
    const Index first = std::min<Index>(row, 28), left = std::min<Index>(column, 36);
    multiply(a.middleRows(first, 3), b.middleCols(left, 9), few);
    CHECK(few(row - first, column - left) == whole(row, column));
  }
}
