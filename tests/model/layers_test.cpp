#include "model/layers.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/attention.h"
#include "model/product.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

EigenMatrix random_matrix(Index rows, Index cols, Rng& rng) {
  return EigenMatrix::NullaryExpr(rows, cols, [&] { return normal(rng); });
}

/// Returns the largest difference between an entry of the gradient and the central difference of f.
template <class F>
double worst_entry(EigenMatrix& values, const EigenMatrix& gradient, F f) {
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

TEST_CASE("a linear layer agrees with a result by hand") {
  EigenMatrix x(2, 2), w(2, 2), b(1, 2), y(2, 2);
  x << 1, 2, 3, 4;
  w << 5, 6, 7, 8;
  b << 10, 20;
  linear(x, w, b, y);
  EigenMatrix expected(2, 2);
  expected << 29, 42, 53, 70;
  CHECK(y == expected);
}

TEST_CASE("a layer normalization agrees with a result by hand") {
  EigenMatrix x(1, 2), gain(1, 2), bias(1, 2), z(1, 2), inverse(1, 1), y(1, 2);
  x << 1, 3;  // mean 2, standard deviation 1
  gain << 2, 5;
  bias << 1, 1;
  layer_norm(x, gain, bias, z, inverse, y);
  CHECK(y(0, 0) == Approx(-1).epsilon(1e-4));
  CHECK(y(0, 1) == Approx(6).epsilon(1e-4));
}

TEST_CASE("GELU has known values of its tanh form") {
  EigenMatrix x(1, 3), y(1, 3);
  x << -1, 0, 2;
  gelu(x, y);
  CHECK(y(0, 0) == Approx(-0.15880800939172324));  // 0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3)))
  CHECK(y(0, 1) == 0);
  CHECK(y(0, 2) == Approx(1.954597694087775));
}

TEST_CASE("the cross-entropy agrees with a result by hand") {
  EigenMatrix logits(1, 2), d(1, 2);
  logits << 0, std::log(3.0);  // probabilities 1/4, 3/4
  const int target = 0;
  CHECK(cross_entropy(logits, {&target, 1}, 2, d) == Approx(2 * std::log(4.0)));
  CHECK(d(0, 0) == Approx(-1.5));
  CHECK(d(0, 1) == Approx(1.5));
}

TEST_CASE("every layer's backward adds the derivative of its forward") {
  Rng rng = make_rng(0, "layers");
  EigenMatrix x = random_matrix(5, 4, rng), w = random_matrix(4, 3, rng), b = random_matrix(1, 3, rng);
  const EigenMatrix start = random_matrix(5, 4, rng);
  EigenMatrix d_x = start, d_w = EigenMatrix::Zero(4, 3), d_b = EigenMatrix::Zero(1, 3);

  SECTION("linear") {
    const EigenMatrix d_y = random_matrix(5, 3, rng);
    EigenMatrix y(5, 3);
    const auto f = [&] { return linear(x, w, b, y), y.cwiseProduct(d_y).sum(); };
    linear_backward(x, w, d_y, d_x, d_w, d_b);
    CHECK(worst_entry(x, d_x - start, f) < 1e-8);
    CHECK(worst_entry(w, d_w, f) < 1e-8);
    CHECK(worst_entry(b, d_b, f) < 1e-8);
    const EigenMatrix added = d_x;
    linear_backward(x, w, d_y, d_x, d_w, d_b, Accumulate::no);
    CHECK((start + d_x - added).cwiseAbs().maxCoeff() < 1e-12);
  }
  SECTION("normalization") {
    EigenMatrix gain = random_matrix(1, 4, rng), bias = random_matrix(1, 4, rng), z(5, 4), inverse(5, 1), y(5, 4);
    EigenMatrix d_gain = EigenMatrix::Zero(1, 4), d_bias = EigenMatrix::Zero(1, 4);
    const EigenMatrix d_y = random_matrix(5, 4, rng);
    const auto f = [&] { return layer_norm(x, gain, bias, z, inverse, y), y.cwiseProduct(d_y).sum(); };
    f();
    layer_norm_backward(gain, EigenMatrix(z), EigenMatrix(inverse), d_y, d_x, d_gain, d_bias);
    CHECK(worst_entry(x, d_x - start, f) < 1e-8);
    CHECK(worst_entry(gain, d_gain, f) < 1e-8);
    CHECK(worst_entry(bias, d_bias, f) < 1e-8);
  }
  SECTION("normalizations of a model, with and without biases") {
    for (const auto& [kind, biases] :
         {std::pair{NormKind::layer_norm, true}, {NormKind::layer_norm, false}, {NormKind::rms_norm, false}}) {
      INFO((kind == NormKind::rms_norm ? "RMSNorm" : "layer normalization") << (biases ? "" : " without biases"));
      ParameterLayout layout;
      const NormParameters weights = add_norm(layout, "norm", 4, kind, biases);
      Parameters p(layout);
      Gradients d(layout);
      d.flat.setOnes();
      EigenMatrix gain = random_matrix(1, 4, rng), bias = random_matrix(1, weights.bias.cols, rng);
      const EigenMatrix d_y = random_matrix(5, 4, rng);
      NormActivations a;
      Matrix y, d_in(start);
      const auto f = [&] {
        p[weights.gain] = gain;
        if (bias.size() > 0) p[weights.bias] = bias;
        norm(p, weights, Matrix(x), a, y);
        return y.cwiseProduct(d_y).sum();
      };
      f();
      norm_backward(p, weights, a, Matrix(d_y), d_in, d);
      CHECK(worst_entry(x, d_in - start, f) < 1e-8);
      CHECK(worst_entry(gain, d[weights.gain].array() - 1, f) < 1e-8);
      if (biases) CHECK(worst_entry(bias, d[weights.bias].array() - 1, f) < 1e-8);
    }
  }
  SECTION("GELU, ReLU and SiLU") {
    const EigenMatrix d_y = random_matrix(5, 4, rng);
    for (const auto& activation : {gelu, relu, silu}) {
      EigenMatrix slope = x, y(5, 4), ignored(5, 4);
      activation(slope, y);
      const auto f = [&] { return activation(ignored = x, y), y.cwiseProduct(d_y).sum(); };
      CHECK(worst_entry(x, slope.cwiseProduct(d_y), f) < 1e-8);
    }
  }
  SECTION("gathering of rows") {
    const std::vector<int> rows{2, 0, 2, 4};
    const EigenMatrix d_y = random_matrix(4, 4, rng);
    EigenMatrix y(4, 4);
    scatter_add(d_y, rows, d_x);
    CHECK(worst_entry(x, d_x - start, [&] { return gather(x, rows, y), y.cwiseProduct(d_y).sum(); }) < 1e-8);
  }
  SECTION("embedding and cross-entropy") {
    const std::vector<int> tokens{2, 0, 2, 3, 1};
    const EigenMatrix d_y = random_matrix(5, 4, rng);
    EigenMatrix table = random_matrix(4, 4, rng), y(5, 4), d_table = EigenMatrix::Zero(4, 4);
    embed_backward(tokens, d_y, d_table);
    CHECK(worst_entry(table, d_table, [&] { return embed(tokens, table, y), y.cwiseProduct(d_y).sum(); }) < 1e-8);
    EigenMatrix d_logits(5, 4), ignored(5, 4);
    cross_entropy(x, tokens, 0.7, d_logits);
    CHECK(worst_entry(x, d_logits, [&] { return cross_entropy(x, tokens, 0.7, ignored); }) < 1e-8);
  }
}

TEST_CASE("the gradient of biases sums every row, however many there are") {
  Rng rng = make_rng(0, "biases");
  for (Index rows = 1; rows < 11; ++rows) {
    INFO(rows << " rows");
    const EigenMatrix x = random_matrix(rows, 2, rng), w = random_matrix(2, 5, rng),
                      d_y = random_matrix(rows, 5, rng);
    EigenMatrix d_x(rows, 2), d_w = EigenMatrix::Zero(2, 5), d_b = EigenMatrix::Zero(1, 5);
    linear_backward(x, w, d_y, d_x, d_w, d_b, Accumulate::no);
    CHECK((d_b - d_y.colwise().sum()).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("linear layers start uniform over plus and minus the inverse root of their inputs, and biases at zero") {
  ParameterLayout layout;
  const DenseParameters dense = add_dense(layout, "dense", 100, 80, /*biases=*/true);
  const Parameters p = initialize(layout, 0);
  CHECK(p[dense.weight].minCoeff() == Approx(-0.1).margin(0.001));
  CHECK(p[dense.weight].maxCoeff() == Approx(0.1).margin(0.001));
  CHECK(std::sqrt(p[dense.weight].squaredNorm() / 8000) == Approx(0.1 / std::sqrt(3)).epsilon(0.03));
  CHECK(p[dense.bias].isZero(0));
}

TEST_CASE("normalizations start with gains of one and shifts of zero") {
  ParameterLayout layout;
  const NormParameters norm = add_norm(layout, "norm", 7, NormKind::layer_norm, /*biases=*/true);
  const Parameters p = initialize(layout, 0);
  CHECK(p[norm.gain].isConstant(1, 0));
  CHECK(p[norm.bias].isZero(0));
}

TEST_CASE("dropout zeroes entries with its probability, and scales the others so that the mean stays") {
  Rng rng = make_rng(0, "dropout");
  Matrix x(100, 100), mask;
  x.setConstant(3);
  dropout(0.2, rng, mask, x);
  const Index zeros = (x.array() == 0).count();
  CHECK(std::abs(static_cast<double>(zeros) - 2000) < 220);  // over 5 standard deviations
  for (Index n = 0; n < x.size(); ++n) {
    REQUIRE(x.data()[n] == 3 * mask.data()[n]);
    REQUIRE((mask.data()[n] == 0 || mask.data()[n] == Approx(1.25)));
  }
}

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
