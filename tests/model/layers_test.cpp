#include "model/layers.h"

#include <cmath>

#include "base/random.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

RowMajor random_matrix(Index rows, Index cols, Rng& rng) {
  return RowMajor::NullaryExpr(rows, cols, [&] { return normal(rng); });
}

/// The largest disagreement between the gradient and central differences of f, entry by entry.
template <class F>
double worst_entry(RowMajor& values, const RowMajor& gradient, F f) {
  double worst = 0;
  for (Index n = 0; n < values.size(); ++n) {
    const Real start = values.data()[n], h = 1e-6;
    values.data()[n] = start + h;
    const double above = f();
    values.data()[n] = start - h;
    const double below = f();
    values.data()[n] = start;
    worst = std::max(worst, std::abs((above - below) / (2 * h) - gradient.data()[n]));
  }
  return worst;
}

}  // namespace

TEST_CASE("linear: a case worked by hand") {
  RowMajor x(2, 2), w(2, 2), b(1, 2), y(2, 2);
  x << 1, 2, 3, 4;
  w << 5, 6, 7, 8;
  b << 10, 20;
  linear(x, w, b, y);
  RowMajor expected(2, 2);
  expected << 29, 42, 53, 70;
  CHECK(y == expected);
}

TEST_CASE("normalization: a case worked by hand") {
  RowMajor x(1, 2), gain(1, 2), bias(1, 2), z(1, 2), inverse(1, 1), y(1, 2);
  x << 1, 3;  // mean 2, standard deviation 1
  gain << 2, 5;
  bias << 1, 1;
  layer_norm(x, gain, bias, z, inverse, y);
  CHECK(y(0, 0) == Approx(-1).epsilon(1e-4));
  CHECK(y(0, 1) == Approx(6).epsilon(1e-4));
}

TEST_CASE("GELU: the tanh form at known points") {
  RowMajor x(1, 3), y(1, 3);
  x << -1, 0, 2;
  gelu(x, y);
  CHECK(y(0, 0) == Approx(-0.15880800939172324));  // 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3)))
  CHECK(y(0, 1) == 0);
  CHECK(y(0, 2) == Approx(1.954597694087775));
}

TEST_CASE("cross-entropy: a case worked by hand") {
  RowMajor logits(1, 2), d(1, 2);
  logits << 0, std::log(3.0);  // probabilities 1/4, 3/4
  const int target = 0;
  CHECK(cross_entropy(logits, {&target, 1}, 2, d) == Approx(2 * std::log(4.0)));
  CHECK(d(0, 0) == Approx(-1.5));
  CHECK(d(0, 1) == Approx(1.5));
}

TEST_CASE("every layer's backward adds the derivative of its forward") {
  Rng rng = stream(0, "layers");
  RowMajor x = random_matrix(5, 4, rng), w = random_matrix(4, 3, rng), b = random_matrix(1, 3, rng);
  const RowMajor start = random_matrix(5, 4, rng);
  RowMajor d_x = start, d_w = RowMajor::Zero(4, 3), d_b = RowMajor::Zero(1, 3);

  SECTION("linear") {
    const RowMajor d_y = random_matrix(5, 3, rng);
    RowMajor y(5, 3);
    const auto f = [&] { return linear(x, w, b, y), y.cwiseProduct(d_y).sum(); };
    linear_backward(x, w, d_y, d_x, d_w, d_b);
    CHECK(worst_entry(x, d_x - start, f) < 1e-8);
    CHECK(worst_entry(w, d_w, f) < 1e-8);
    CHECK(worst_entry(b, d_b, f) < 1e-8);
  }
  SECTION("normalization") {
    RowMajor gain = random_matrix(1, 4, rng), bias = random_matrix(1, 4, rng), z(5, 4), inverse(5, 1), y(5, 4);
    RowMajor d_gain = RowMajor::Zero(1, 4), d_bias = RowMajor::Zero(1, 4);
    const RowMajor d_y = random_matrix(5, 4, rng);
    const auto f = [&] { return layer_norm(x, gain, bias, z, inverse, y), y.cwiseProduct(d_y).sum(); };
    f();
    layer_norm_backward(gain, RowMajor(z), RowMajor(inverse), d_y, d_x, d_gain, d_bias);
    CHECK(worst_entry(x, d_x - start, f) < 1e-8);
    CHECK(worst_entry(gain, d_gain, f) < 1e-8);
    CHECK(worst_entry(bias, d_bias, f) < 1e-8);
  }
  SECTION("GELU and ReLU") {
    const RowMajor d_y = random_matrix(5, 4, rng);
    for (const auto& activation : {gelu, relu}) {
      RowMajor slope = x, y(5, 4), ignored(5, 4);
      activation(slope, y);
      const auto f = [&] { return activation(ignored = x, y), y.cwiseProduct(d_y).sum(); };
      CHECK(worst_entry(x, slope.cwiseProduct(d_y), f) < 1e-8);
    }
  }
  SECTION("embedding and cross-entropy") {
    const std::vector<int> tokens{2, 0, 2, 3, 1};
    const RowMajor d_y = random_matrix(5, 4, rng);
    RowMajor table = random_matrix(4, 4, rng), y(5, 4), d_table = RowMajor::Zero(4, 4);
    embed_backward(tokens, d_y, d_table);
    CHECK(worst_entry(table, d_table, [&] { return embed(tokens, table, y), y.cwiseProduct(d_y).sum(); }) < 1e-8);
    RowMajor d_logits(5, 4), ignored(5, 4);
    cross_entropy(x, tokens, 0.7, d_logits);
    CHECK(worst_entry(x, d_logits, [&] { return cross_entropy(x, tokens, 0.7, ignored); }) < 1e-8);
  }
}
