// Code that differs between float, which trains, and double, which the other tests of the model use.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "model/attention.h"
#include "model/hidden.h"
#include "model/kernels/functions.h"
#include "model/product.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

bool equal(Lanes a, Lanes b) {
  for (Index n = 0; n < kLanes; ++n) {
    if (a[n] != b[n]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the exponential of floats is within two ulp, and zero below the range of floats") {
  const auto e = [](float x) { return exponential(Lanes{} + x)[0]; };
  double worst = 0;
  for (float x = -87; x <= 88; x += 0.0137f) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(e(x) - exact) / exact);
  }
  CHECK(worst < 2.4e-7);
  CHECK(e(0) == 1);
  CHECK(e(-87.5f) == 0);
  CHECK(e(-std::numeric_limits<float>::infinity()) == 0);
  CHECK(std::isnan(e(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("sums, largest values and the first few lanes of a vector of floats") {
  const Lanes values{3, -1, 4, 1, -5, 9, 2, 6};
  CHECK(sum(values) == 19);
  CHECK(largest(values) == 9);
  for (Index n = 0; n < kLanes; ++n) CHECK(reversed(values)[n] == values[kLanes - 1 - n]);
  CHECK(equal(values, reversed(reversed(values))));
  float memory[kLanes];
  store(values, memory);
  for (Index count = 0; count <= kLanes; ++count) {
    const Lanes first = load(memory, count, -2);
    CHECK(equal(values, first) == (count == kLanes));
    float written[kLanes] = {};
    store(values, written, count);
    for (Index n = 0; n < kLanes; ++n) {
      CHECK(first[n] == (n < count ? values[n] : -2));
      CHECK(written[n] == (n < count ? values[n] : 0));
    }
  }
}

TEST_CASE("a square of floats is transposed") {
  Lanes rows[kLanes];
  for (Index j = 0; j < kLanes; ++j) rows[j] = static_cast<float>(100 * j) + lane_indices();
  transpose(rows);
  for (Index j = 0; j < kLanes; ++j) {
    for (Index k = 0; k < kLanes; ++k) CHECK(rows[j][k] == static_cast<float>(100 * k + j));
  }
}

TEST_CASE("sigmoid and softplus of floats are within a few ulp, also far from zero") {
  double worst = 0;
  for (float x = -86; x <= 86; x += 0.0137f) {
    const double e = std::exp(-std::abs(static_cast<double>(x)));
    worst = std::max(worst, std::abs(sigmoid(Lanes{} + x)[0] * (1 + std::exp(-static_cast<double>(x))) - 1));
    worst = std::max(worst, std::abs(softplus(Lanes{} + x)[0] / (std::max(x, 0.0f) + std::log1p(e)) - 1));
  }
  CHECK(worst < 4e-7);
  CHECK(sigmoid(Lanes{} + 1000)[0] == 1);
  CHECK(sigmoid(Lanes{} - 1000)[0] == 0);
  CHECK(sigmoid(Lanes{} - std::numeric_limits<float>::infinity())[0] == 0);
  CHECK(std::isnan(sigmoid(Lanes{} + std::numeric_limits<float>::quiet_NaN())[0]));
  CHECK(softplus(Lanes{} + 1000)[0] == 1000);
}

TEST_CASE("softmax of floats gives hidden keys exactly 0 and no gradient, however low the visible keys score") {
  for (const float visible : {0.0f, -1e10f, -3e38f, 3e38f}) {
    for (const Index length : {2, 8, 9, 21, 40}) {
      INFO("length " << length << ", score " << visible);
      EigenMatrix scores(length, length), d_attention(length, length), attention(length, length);
      EigenMatrix d_scores(length, length);
      scores.setConstant(kHidden);
      scores.diagonal().setConstant(visible);
      d_attention.setConstant(2);
      softmax(scores, /*causal=*/false, attention);
      softmax_backward(attention, /*causal=*/false, d_attention, d_scores);
      CHECK((attention == EigenMatrix::Identity(length, length)));
      CHECK(d_scores.isZero(0));
    }
  }
}

TEST_CASE("softmax of floats and its backward agree with doubles at lengths that do and do not fill vectors") {
  Rng rng = make_rng(0, "softmax");
  for (const Index length : {1, 2, 7, 8, 9, 16, 21, 40}) {
    for (const bool causal : {true, false}) {
      INFO("length " << length << (causal ? ", causal" : ", bidirectional"));
      EigenMatrix scores(length, length), d_attention(length, length), attention(length, length);
      for (Index n = 0; n < scores.size(); ++n) {
        scores.data()[n] = static_cast<float>(3 * normal(rng));
        d_attention.data()[n] = static_cast<float>(normal(rng));
      }
      attention.setConstant(NAN);
      EigenMatrix d_scores = attention;
      for (Index i = 0; causal && i < length; ++i) {
        for (EigenMatrix* m : {&scores, &d_attention}) m->row(i).tail(length - i - 1).setConstant(NAN);
      }
      softmax(scores, causal, attention);
      softmax_backward(attention, causal, d_attention, d_scores);
      for (Index i = 0; i < length; ++i) {
        const Index keys = num_visible_keys(i, length, causal);
        const Eigen::ArrayXd weights = scores.row(i).head(keys).cast<double>().array().exp();
        const Eigen::ArrayXd expected = weights / weights.sum();
        const Eigen::ArrayXd d = d_attention.row(i).head(keys).cast<double>();
        const Eigen::ArrayXd d_expected = expected * (d - (expected * d).sum());
        CHECK((attention.row(i).head(keys).cast<double>().transpose().array() - expected).abs().maxCoeff() < 1e-6);
        CHECK((d_scores.row(i).head(keys).cast<double>().transpose().array() - d_expected).abs().maxCoeff() <
              1e-6);
        CHECK(attention.row(i).segment(keys, std::min(kBand, length - keys)).isZero(0));
        CHECK(d_scores.row(i).tail(length - keys).isZero(0));
      }
    }
  }
}
