#include "encodings/parts/relative_rows.h"

#include <algorithm>
#include <string>

#include "base/random.h"
#include "model/attention.h"
#include "model/lanes.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

Matrix random_matrix(Index rows, Index cols, Rng& rng) {
  Matrix m(rows, cols);
  for (Index n = 0; n < m.size(); ++n) m.data()[n] = normal(rng);
  return m;
}

}  // namespace

TEST_CASE("products and mixtures of relative rows agree with the sums over pairs for every order of rows") {
  constexpr int kLength = 70, kRows = 2 * kLength - 1, kWidth = 3, kSquare = kLanes;
  Rng rng = make_rng(0, "relative rows");
  for (const std::string order :
       {"ascending", "descending", "clipped", "constant squares", "ascending squares", "random"}) {
    PairRows pairs;
    IndexMatrix& index = pairs.index;
    index.resize(kLength, kLength);
    for (int i = 0; i < kLength; ++i) {
      for (int j = 0; j < kLength; ++j) {
        const int ascending = j - i + kLength - 1, square = (i / kSquare + j / kSquare) % 8;
        index(i, j) = order == "ascending"           ? ascending
                      : order == "descending"        ? kRows - 1 - ascending
                      : order == "clipped"           ? std::clamp(ascending, kLength - 6, kLength + 4)
                      : order == "constant squares"  ? square
                      : order == "ascending squares" ? j % kSquare - i % kSquare + kSquare + 2 * kSquare * square
                                                     : uniform(rng, 0, kRows - 1);
      }
    }
    classify_tiles(pairs);
    for (const Side side : {Side::query, Side::key}) {
      for (const bool causal : {true, false}) {
        INFO(order << (side == Side::query ? ", query" : ", key") << (causal ? ", causal" : ", bidirectional"));
        const Matrix x = random_matrix(kLength, kWidth, rng), rows = random_matrix(kRows, kWidth, rng);
        const Matrix d_pairs = random_matrix(kLength, kLength, rng);
        Matrix scores(kLength, kLength), d_x(kLength, kWidth), d_rows(kRows, kWidth);
        Matrix output(kLength, kWidth), d_weights(kLength, kLength), d_mixed_rows(kRows, kWidth);
        for (Matrix* m : {&scores, &d_x, &d_rows, &output, &d_weights, &d_mixed_rows}) m->setZero();
        EigenMatrix scores1 = scores, d_x1 = d_x, d_rows1 = d_rows;
        EigenMatrix output1 = output, d_weights1 = d_weights, d_mixed_rows1 = d_mixed_rows;
        for (Index i = 0; i < kLength; ++i) {
          for (Index j = 0; j < num_visible_keys(i, kLength, causal); ++j) {
            const Index t = side == Side::query ? i : j, n = index(i, j);
            scores1(i, j) = 2 * x.row(t).dot(rows.row(n));
            d_x1.row(t) += 2 * d_pairs(i, j) * rows.row(n);
            d_rows1.row(n) += 2 * d_pairs(i, j) * x.row(t);
            output1.row(i) += d_pairs(i, j) * rows.row(n);
            d_weights1(i, j) = x.row(i).dot(rows.row(n));
            d_mixed_rows1.row(n) += d_pairs(i, j) * x.row(i);
          }
        }
        Scratch scratch;
        const PairVectors vectors{rows, pairs, causal, scratch};
        add_row_products(x, vectors, {side, 2}, scores);
        add_row_products_backward(x, vectors, {side, 2}, d_pairs, d_x, d_rows);
        add_row_mixture(d_pairs, vectors, output);
        add_row_mixture_backward(d_pairs, vectors, x, d_weights, d_mixed_rows);
        CHECK((scores - scores1).cwiseAbs().maxCoeff() < 1e-11);
        CHECK((d_x - d_x1).cwiseAbs().maxCoeff() < 1e-11);
        CHECK((d_rows - d_rows1).cwiseAbs().maxCoeff() < 1e-11);
        CHECK((output - output1).cwiseAbs().maxCoeff() < 1e-11);
        CHECK((d_weights - d_weights1).cwiseAbs().maxCoeff() < 1e-11);
        CHECK((d_mixed_rows - d_mixed_rows1).cwiseAbs().maxCoeff() < 1e-11);
      }
    }
  }
}
