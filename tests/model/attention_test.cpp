// Tests the normalization of scores to attention weights.
#include "model/attention.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "model/product.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("softmax of a row is its exponentials over their sum, and the keys after the query get nothing") {
  for (const bool causal : {true, false}) {
    for (const Index length : {1, 5, 8, 21}) {
      INFO((causal ? "causal" : "bidirectional") << ", length " << length);
      Rng rng = make_rng(0, "softmax");
      const EigenMatrix scores = EigenMatrix::NullaryExpr(length, length, [&] { return 3 * normal(rng); });
      EigenMatrix attention(length, length);
      softmax(scores, causal, attention);
      for (Index i = 0; i < length; ++i) {
        const Index keys = causal ? i + 1 : length;
        double sum = 0;
        for (Index j = 0; j < keys; ++j) sum += std::exp(scores(i, j));
        for (Index j = 0; j < keys; ++j) CHECK(attention(i, j) == Approx(std::exp(scores(i, j)) / sum));
        for (Index j = keys; j < std::min(length, keys + kBand); ++j) CHECK(attention(i, j) == 0);
      }
    }
  }
}
