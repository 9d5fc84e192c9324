#include "encodings/parts/path_integration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/parts/cumsum.h"
#include "encodings/parts/rotary.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {

void PathIntegration::Options::describe(OptionTable& o) {
  o.integer("rank", rank, 1, 1 << 16, "width between the two projections of a step");
  o.number("range", range, 1, 1e9, "initial ratio of the fastest pair's frequency to the slowest pair's");
}

PathIntegration::PathIntegration(const std::string& name, const Options& options, const ModelConfig& config,
                                 ParameterLayout& layout) {
  const Index rank = options.rank;
  const double range = options.range;
  require_pairs(config, name);
  const Index pairs = config.head_width() / 2;
  in_ = layout.normal(name + ".in", config.width, rank, 1 / std::sqrt(config.width));
  out_ = layout.normal(name + ".out", rank, config.heads * pairs, 1 / std::sqrt(rank));
  omega_ = layout.add(name + ".omega", config.heads, pairs, [pairs, range](Rng&, Index, Index n) {
    const double exponent = static_cast<double>(n) / static_cast<double>(std::max<Index>(1, pairs - 1));
    return 2 * std::numbers::pi * std::pow(range, -exponent);
  });
  layout.no_decay(omega_);
}

void PathIntegration::embed(const Parameters& p, const Matrix& x, Matrices& recurrent_state) const {
  recurrent_state.resize(1);
  recurrent_state[0].resize(x.rows(), out_.cols);
  EigenMatrix low(x.rows(), in_.cols);
  multiply(x, p[in_], low);
  multiply(low, p[out_], recurrent_state[0]);
  cumsum_over_rows(recurrent_state[0]);
}

void PathIntegration::embed_backward(const Parameters& p, const Matrix& x, const Matrices& d_recurrent_state,
                                     Matrix& d_x, Gradients& d) const {
  EigenMatrix d_step = EigenMatrix::Zero(1, out_.cols), d_low(1, in_.cols), low(1, in_.cols);
  for (Index t = x.rows() - 1; t >= 0; --t) {  // the step of t is a term of every sum from t on
    d_step += d_recurrent_state[0].row(t);
    multiply(x.row(t), p[in_], low);
    multiply(d_step, p[out_].transpose(), d_low);
    multiply_add(low.transpose(), d_step, d[out_]);
    multiply_add(x.row(t).transpose(), d_low, d[in_]);
    multiply_add(d_low, p[in_].transpose(), d_x.row(t));
  }
}

Matrix& PathIntegration::angles(const AttentionInput& in) const {
  Matrix& angles = in.scratch(in.length(), out_.cols);
  const auto omega = in.parameters[omega_].reshaped<Eigen::RowMajor>(1, out_.cols);
  angles.array() = in.recurrent_state[0].array().rowwise() * omega.row(0).array();
  return angles;
}

void PathIntegration::angles_backward(const AttentionInput& in, const Matrix& d_angles,
                                      AttentionGradient& d) const {
  const auto omega = in.parameters[omega_].reshaped<Eigen::RowMajor>(1, out_.cols);
  d.recurrent_state[0].array() += d_angles.array().rowwise() * omega.row(0).array();
  auto d_omega = d.parameters[omega_];
  const EigenMatrix products = d_angles.cwiseProduct(in.recurrent_state[0]);
  add_column_sums(products, MatrixView(d_omega.data(), 1, out_.cols));
}

}  // namespace posbench::inline POSBENCH_REAL
