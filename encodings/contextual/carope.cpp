// CARoPE: RoPE with a base frequency for each token and head, computed from the token. An angle is the sum over
// the tokens up to it.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/cumsum.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::carope {
namespace {

const EncodingInfo kInfo{
    .name = "carope",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = R(phi_h(i)) q_i . R(phi_h(j)) k_j / sqrt(D)\n"
        "phi_h(t)[n]   = f_h(x_0)^n + f_h(x_1)^n + ... + f_h(x_t)^n,   for the pairs n = 1 .. D / 2\n"
        "f_h(x)        = 1 / (softplus(x . w_h) + 1)",
    .source = "Veisi et al. 2025, arXiv:2507.23083",
    .notes =
        "Known only from notes on the paper; no code was found. It is unverified that pairs count from 1 and "
        "that the sum includes t. The pairing (interleaved) and the initial W, N(0, C^-0.5), are choices of "
        "posbench. RoPE is f = base^(-2 / D) with pairs from 0.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::defined,
    .relative = Relative::accumulated,
    .content_dependent = "token",
};

class Carope final : public ContextualRotary {
 public:
  using Options = NoOptions;
  Carope(const Options&, const ModelConfig& config, ParameterLayout& layout)
      : ContextualRotary(config, Pairing::interleaved, "carope") {
    for (int layer = 0; layer < config.layers; ++layer) {
      weights_.push_back(layout.normal(fmt::format("carope.weight.{}", layer), config.width, config.heads,
                                       1 / std::sqrt(config.width)));
    }
  }

  const Matrix& angles(const AttentionInput& in) const override {
    Matrix &f = in.scratch(in.length(), config_.heads), &angles = in.scratch(in.length(), config_.heads * pairs());
    compute_bases(in, f);
    for (Index t = 0; t < in.length(); ++t) {
      Real* angle = angles.row(t).data();
      for (Index h = 0; h < config_.heads; ++h) {
        Real power = 1;
        for (Index n = 0; n < pairs(); ++n) *angle++ = power *= f(t, h);
      }
    }
    cumsum_over_rows(angles);
    return angles;
  }

  void angles_backward(const AttentionInput& in, Matrix& d_angles, AttentionGradient& d) const override {
    Matrix &f = in.scratch(in.length(), config_.heads), &d_f = in.scratch(in.length(), config_.heads);
    compute_bases(in, f);
    cumsum_over_rows_backward(d_angles);
    for (Index t = 0; t < in.length(); ++t) {  // d f^n = n f^(n - 1)
      const Real* d_angle = d_angles.row(t).data();
      for (Index h = 0; h < config_.heads; ++h) {
        Real power = 1, sum = 0;
        for (Index n = 1; n <= pairs(); ++n) {
          sum += *d_angle++ * static_cast<Real>(n) * power;
          power *= f(t, h);
        }
        d_f(t, h) = sum;
      }
    }
    // softplus'(s) = 1 - exp(-softplus(s)), and softplus(s) = 1 / f - 1
    Matrix& decay = in.scratch(f.rows(), f.cols());
    decay.array() = 1 - f.array().inverse();
    exponential(decay, decay);
    d_f.array() *= -f.array().square() * (1 - decay.array());
    multiply_add(d_f, in.parameters[weights_[in.layer]].transpose(), d.x);
    multiply_add(in.x.transpose(), d_f, d.parameters[weights_[in.layer]]);
  }

 private:
  void compute_bases(const AttentionInput& in, Matrix& f) const {
    multiply(in.x, in.parameters[weights_[in.layer]], f);
    softplus(f, f);
    f.array() = (f.array() + 1).inverse();
  }

  std::vector<Parameter> weights_;  // (C, H), one for each layer
};

const RegisterEncoding<Carope> registered{kInfo};

}  // namespace
}  // namespace posbench::carope
