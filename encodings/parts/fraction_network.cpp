#include "encodings/parts/fraction_network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Real kDenominatorEpsilon = 1e-6;

Real sign(Real x) { return x < 0 ? Real(-1) : Real(1); }

}  // namespace

FractionNetwork::Workspace::Workspace(Index keys, Index width, Index heads)
    : distance(keys),
      xi(keys),
      d_xi(keys),
      hidden(width, keys + kRowPadding),
      activated(width, keys + kRowPadding),
      output(heads, keys + kRowPadding) {}

FractionNetwork::FractionNetwork(const std::string& suffix, const Settings& settings, const ModelConfig& config,
                                 ParameterLayout& layout)
    : settings_(settings) {
  const Index hidden = settings.hidden;
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  c_ = layout.constant("fire.c" + suffix, 1, 1, 0.1);
  mu_ = layout.constant("fire.mu" + suffix, 1, 1, 1);
  w1_ = layout.uniform("fire.w1" + suffix, 1, hidden, -1, 1);
  b1_ = layout.uniform("fire.b1" + suffix, 1, hidden, -1, 1);
  w2_ = layout.uniform("fire.w2" + suffix, hidden, config.heads, -bound, bound);
  b2_ = layout.uniform("fire.b2" + suffix, 1, config.heads, -bound, bound);
}

FractionNetwork::Denominator FractionNetwork::hidden_values(const Parameters& p, const Row& row,
                                                            Workspace& work) const {
  const Index keys = row.keys;
  const Real rate = std::abs(p[c_](0, 0)), threshold = this->threshold(p);
  const Real position = std::max(row.position, threshold);
  const Real denominator =
      static_cast<Real>(std::log1p(static_cast<double>(rate * position))) + kDenominatorEpsilon;
  work.xi.head(keys) = (rate * work.distance.head(keys).array() + 1).matrix();
  logarithm(work.xi.head(keys), work.xi.head(keys));
  work.xi.head(keys) /= row.sign * denominator;
  const auto w1 = p[w1_], b1 = p[b1_];
  for (Index m = 0; m < settings_.hidden; ++m) {
    auto hidden = work.hidden.row(m).head(keys);
    hidden.array() = work.xi.head(keys).array() * w1(0, m) + b1(0, m);
    work.activated.row(m).head(keys) = leaky_relu(hidden.array(), settings_.leak).matrix();
  }
  return {.position = position, .value = denominator, .is_threshold = threshold > row.position};
}

void FractionNetwork::forward(const Parameters& p, const Row& row, Workspace& work) const {
  hidden_values(p, row, work);
  auto output = work.output.leftCols(row.keys);
  multiply(p[w2_].transpose(), work.activated.leftCols(row.keys), output);
  output.colwise() += p[b2_].row(0).transpose();
}

void FractionNetwork::backward(const Parameters& p, const Row& row, Workspace& work, Gradients& d) const {
  const Index keys = row.keys;
  const Denominator denominator = hidden_values(p, row, work);
  const auto d_output = work.output.leftCols(keys);
  auto activated = work.activated.leftCols(keys), hidden = work.hidden.leftCols(keys);
  multiply_add(activated, d_output.transpose(), d[w2_]);
  for (Index h = 0; h < d_output.rows(); ++h) d[b2_](0, h) += sum(d_output.row(h));
  multiply(p[w2_], d_output, activated);  // `activated` and `hidden` become their gradients
  hidden.array() = activated.array() * leaky_relu_derivative(hidden.array(), settings_.leak);
  auto d_w1 = d[w1_], d_b1 = d[b1_];
  for (Index m = 0; m < settings_.hidden; ++m) {
    d_w1(0, m) += dot(hidden.row(m), work.xi.head(keys));
    d_b1(0, m) += sum(hidden.row(m));
  }
  multiply(p[w1_].row(0), hidden, work.d_xi.head(keys));

  // xi = sign u / w,   u = log(|c| d + 1),   w = log(|c| n + 1) + epsilon
  const Real c = p[c_](0, 0), mu = p[mu_](0, 0), rate = std::abs(c), n = denominator.position;
  auto distance = work.distance.head(keys).array();
  const Real minus_d_w = dot(work.d_xi.head(keys), work.xi.head(keys)) / denominator.value;
  distance /= rate * distance + 1;
  const Real by_distance = row.sign * dot(work.d_xi.head(keys), work.distance.head(keys)) / denominator.value;
  d[c_](0, 0) += sign(c) * (by_distance - minus_d_w * n / (rate * n + 1));
  if (denominator.is_threshold) d[mu_](0, 0) -= sign(mu) * minus_d_w * rate / (rate * n + 1) * settings_.length;
}

}  // namespace posbench::inline POSBENCH_REAL
