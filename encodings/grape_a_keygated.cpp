// GRAPE-A, key-gated: ALiBi's penalty, times a gate that each key decides.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(u_h . k_j / sqrt(D))
//
// m_h: ALiBi's slopes; u_h learned and divided by its norm; softplus(o_h) starts at 1. Zhang et al. 2025,
// arXiv:2512.07805; model-architectures/GRAPE, where u ~ N(0, D^-0.5). The paper's
// general form has a gate of the query beside the key's, softplus(v_h . q_i / sqrt(D)) + softplus(u_h . k_j /
// sqrt(D)): query_gate=true; v is treated as u, and o_h is kept as that code keeps it in the key-gated form.
#include <cmath>

#include "encodings/parts/slopes.h"
#include "encodings/registry.h"
#include "model/layers.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kMinNorm = Real(1e-6);

class GrapeKeyGated final : public PositionEncoding {
 public:
  struct Options {
    bool query_gate = false;
    void describe(OptionTable& o) {
      o.flag("query_gate", query_gate, "add a gate of the query to that of the key");
    }
  };

  GrapeKeyGated(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), slopes_(alibi_slopes(shape.heads)) {
    const double deviation = 1 / std::sqrt(shape.head_width());
    for (int layer = 0; layer < shape.layers; ++layer) {
      const std::string name = fmt::format("grape_a_keygated.{}.", layer);
      strengths_.push_back(layout.constant(name + "strength", 1, shape.heads, std::log(std::expm1(1.0))));
      key_gates_.push_back(layout.normal(name + "key_gate", shape.heads, shape.head_width(), deviation));
      if (!options.query_gate) continue;
      query_gates_.push_back(layout.normal(name + "query_gate", shape.heads, shape.head_width(), deviation));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size();
    Matrix& distances = tables.constants<Constants>().distances;
    distances.resize(T, T);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < T; ++j) distances(i, j) = positions.distance(i, j);
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    Matrix &logits = in.scratch(in.length(), 1), &keys = in.scratch(1, in.length()),
           &queries = in.scratch(1, in.length());
    const Matrix& distances = in.tables.constants<Constants>().distances;
    queries.setZero();
    for (Index h = 0; h < shape_.heads; ++h) {
      gate(in, key_gates_, h, in.k[h], logits, keys);
      if (!query_gates_.empty()) gate(in, query_gates_, h, in.q[h], logits, queries);
      const Real slope = this->slope(in, h);
      for (Index i = 0; i < in.length(); ++i) {
        scores[h].row(i).head(i + 1).array() -=
            slope * distances.row(i).head(i + 1).array() * (keys.row(0).head(i + 1).array() + queries(0, i));
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    const Index T = in.length();
    Matrix &key_logits = in.scratch(T, 1), &query_logits = in.scratch(T, 1), &keys = in.scratch(1, T);
    Matrix &queries = in.scratch(1, T), &d_keys = in.scratch(1, T), &d_queries = in.scratch(1, T),
           &row = in.scratch(1, T);
    const Matrix& distances = in.tables.constants<Constants>().distances;
    queries.setZero();
    for (Index h = 0; h < shape_.heads; ++h) {
      gate(in, key_gates_, h, in.k[h], key_logits, keys);
      if (!query_gates_.empty()) gate(in, query_gates_, h, in.q[h], query_logits, queries);
      d_keys.setZero();  // of the gates, over -slope
      for (Index i = 0; i < T; ++i) {
        row.leftCols(i + 1) = d_scores[h].row(i).head(i + 1).cwiseProduct(distances.row(i).head(i + 1));
        d_keys.leftCols(i + 1) += row.leftCols(i + 1);
        d_queries(0, i) = sum(row.leftCols(i + 1));
      }
      const Real d_slope = -dot(d_keys, keys) - dot(d_queries, queries);
      const Real strength = in.parameters[strengths_[in.layer]](0, h);
      d.parameters[strengths_[in.layer]](0, h) +=
          d_slope * static_cast<Real>(slopes_[h]) / (1 + std::exp(-strength));
      const Real slope = this->slope(in, h);
      d_keys *= -slope;
      d_queries *= -slope;
      gate_backward(in, key_gates_, h, in.k[h], key_logits, d_keys, d, d.k[h]);
      if (query_gates_.empty()) continue;
      gate_backward(in, query_gates_, h, in.q[h], query_logits, d_queries, d, d.q[h]);
    }
  }

 private:
  struct Constants {
    Matrix distances;  // (T, T): i - j
  };

  /// m_h softplus(o_h)
  Real slope(const AttentionInput& in, Index h) const {
    return static_cast<Real>(slopes_[h]) * softplus(in.parameters[strengths_[in.layer]](0, h));
  }

  static Real norm(const In& u) { return std::max(std::sqrt(dot(u, u)), kMinNorm); }

  /// gates (1, T) = softplus(logits), logits (T, 1) = y u / (|u| sqrt(D))
  void gate(const AttentionInput& in, const std::vector<Parameter>& gates, Index h, const Matrix& y,
            Matrix& logits, Matrix& result) const {
    const auto u = in.parameters[gates[in.layer]].row(h);
    multiply(y, u.transpose(), logits);
    logits *= scale() / norm(u);
    result = logits.transpose();
    softplus(result, result);
  }
  void gate_backward(const AttentionInput& in, const std::vector<Parameter>& gates, Index h, const Matrix& y,
                     Matrix& logits, const Matrix& d_gates, AttentionGradient& d, Matrix& d_y) const {
    const auto u = in.parameters[gates[in.layer]].row(h);
    const Real length = norm(u);
    sigmoid(logits, logits);
    logits.array() *= d_gates.transpose().array() * (scale() / length);  // of y . u
    multiply_add(logits, u, d_y);
    auto d_u = d.parameters[gates[in.layer]].row(h);
    Matrix& d_direction = in.scratch(1, u.size());
    multiply(logits.transpose(), y, d_direction);
    d_u += d_direction - u * (dot(u, d_direction.row(0)) / (length * length));
  }

  std::vector<double> slopes_;                                  // (H)
  std::vector<Parameter> strengths_, key_gates_, query_gates_;  // (1, H), (H, D), (H, D), one for each layer
};

const RegisterEncoding<GrapeKeyGated> registered{{
    .name = "grape_a_keygated",
    .family = Family::contextual,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) - (i - j) m_h softplus(o_h) softplus(u_h . k_j / sqrt(D)), |u_h| = 1",
    .source = "Zhang et al. 2025, arXiv:2512.07805; model-architectures/GRAPE",
    .notes = "The released file is the key-gated special case; the paper's general form gates by the query too: "
             "query_gate.",
    .causal_only = true,
    .touches = "B Q",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "key",
    .distance_decay = DistanceDecay::yes,
    .variants = {"query_gate=true"},
}};

}  // namespace
}  // namespace posbench
