// CoPE, contextual position: each query computes a gate for every key. The position of a key is the sum of the
// gates from it to the query. The two neighboring position vectors are interpolated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "encodings/parts/contextual_counts.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/product.h"

namespace posbench::cope {
namespace {

const EncodingInfo kInfo{
    .name = "cope",
    .family = Family::contextual,
    .equation =
        "score(i, j) = (q_i . k_j + t(i, j)) / sqrt(D)\n"
        "t(i, j)     = (1 - f) q_i . e[n] + f q_i . e[n + 1],   n = floor(p), f = p - n\n"
        "p(i, j)     = min(g(i, j) + g(i, j + 1) + ... + g(i, i), N - 1)\n"
        "g(i, m)     = sigmoid(q_i . kappa_m / sqrt(D)),   kappa: k, x W + b (gates=separate) or v (gates=values)",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, section 4; facebookresearch/RAM, projects/cope",
    .notes =
        "e (N, D) starts at zero, so that the model starts as NoPE. The paper's equations divide nothing by "
        "sqrt(D) (scaling=none), the released code divides as above, and most ports add t undivided "
        "(scaling=content). The paper does not define bidirectional counts.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "query and key",
    .variants = {"gates=separate", "gates=separate,scaling=content,shared_table=true", "gates=values",
                 "positions=3", "scaling=content", "scaling=none"},
};

enum class Gates { keys, separate, values };
enum class Scaling { sum, content, none };

class Cope final : public PositionEncoding {
 public:
  struct Options {
    int positions = 0;
    Gates gates = Gates::keys;
    Scaling scaling = Scaling::sum;
    bool shared_table = false;
    void describe(OptionTable& o) {
      o.integer("positions", positions, 0, 1 << 20, "N: counts are clamped to N - 1; 0: the trained length + 1");
      o.choice("gates", gates, {"keys", "separate", "values"}, "vectors that the gates compare with the query");
      o.choice("scaling", scaling, {"sum", "content", "none"},
               "factor 1 / sqrt(D) of q.k + t, of q.k alone, or of nothing");
      o.flag("shared_table", shared_table, "one table of position vectors for all layers");
    }
  };

  Cope(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), options_(options) {
    const Index rows = options.positions > 0 ? options.positions : config.trained_length + 1;
    const Index C = config.width;
    for (int layer = 0; layer < config.layers; ++layer) {
      if (layer == 0 || !options.shared_table) {
        const std::string name = options.shared_table ? "cope.table" : fmt::format("cope.table.{}", layer);
        tables_.push_back(layout.no_decay(layout.constant(name, rows, config.head_width(), 0)));
      }
      if (options.gates == Gates::separate) {
        gate_weights_.push_back(layout.normal(fmt::format("cope.gate.{}.weight", layer), C, C, 1 / std::sqrt(C)));
        gate_biases_.push_back(layout.constant(fmt::format("cope.gate.{}.bias", layer), 1, C, 0));
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length();
    const Matrix* projected = projected_gate_keys(in);
    Matrix &gates = in.scratch(T, T), &position_scores = position_score_scratch(in);
    content(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      compute_gates(in, projected, h, scores[h], gates);
      multiply_by_table(in, h, position_scores);
      for (Index i = 0; i < T; ++i)
        add_position_scores(query(in, gates, position_scores, i), scores[h].row(i).data());
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length();
    const Matrix* projected = projected_gate_keys(in);
    Matrix &gates = in.scratch(T, T), &d_logits = in.scratch(T, T);
    Matrix &position_scores = position_score_scratch(in), &d_position_scores = position_score_scratch(in);
    Matrix& d_projected = in.scratch(T, projected ? config_.width : 0);
    d_projected.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      if (options_.gates == Gates::keys) dot_product(in.q[h], in.k[h], content_scale(), /*causal=*/true, gates);
      compute_gates(in, projected, h, gates, gates);
      multiply_by_table(in, h, position_scores);
      for (Index i = 0; i < T; ++i) {
        position_scores_backward(query(in, gates, position_scores, i), d_scores[h].row(i).data(),
                                 d_position_scores.row(i).data(), d_logits.row(i).data());
      }
      multiply_by_table_backward(in, h, d_position_scores, d);
      if (options_.gates == Gates::keys) {  // q_i . k_m is also the gate's logit
        for (Index i = 0; i < T; ++i) d_logits.row(i).head(i + 1) += d_scores[h].row(i).head(i + 1);
      } else {
        dot_product_backward(in.q[h], in.k[h], content_scale(), /*causal=*/true, d_scores[h], d.q[h], d.k[h]);
      }
      dot_product_backward(in.q[h], gate_keys(in, projected, h), content_scale(), /*causal=*/true, d_logits,
                           d.q[h], d_gate_keys(d, d_projected, h));
    }
    if (projected) {
      linear_backward(in.x, in.parameters[gate_weights_[in.layer]], d_projected, d.x,
                      d.parameters[gate_weights_[in.layer]], d.parameters[gate_biases_[in.layer]]);
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    for (size_t h = 0; h < content.size(); ++h)
      dot_product(in.q[h], in.k[h], content_scale(), /*causal=*/true, content[h]);
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    const Index T = in.length();
    AttentionMap gates{"gate", Heads(config_.heads, Matrix(Matrix::Zero(T, T))), AttentionMap::Kind::gate},
        counts{"contextual position", gates.values, AttentionMap::Kind::count};
    const Matrix* projected = projected_gate_keys(in);
    for (size_t h = 0; h < gates.values.size(); ++h) {
      Matrix& gate = gates.values[h];
      dot_product(in.q[h], in.k[h], content_scale(), /*causal=*/true, gate);
      compute_gates(in, projected, h, gate, gate);
      for (Index i = 0; i < T; ++i) count_gates(query(in, gate, gate, i), counts.values[h].row(i).data());
    }
    return {gates, counts};
  }

 private:
  const Parameter& table(int layer) const { return tables_[options_.shared_table ? 0 : layer]; }
  Real content_scale() const { return options_.scaling == Scaling::none ? 1 : scale(); }
  Real position_scale() const { return options_.scaling == Scaling::sum ? scale() : 1; }

  GatedQuery query(const AttentionInput& in, const Matrix& gates, const Matrix& position_scores, Index i) const {
    return {.gates = gates.row(i).data(),
            .position_scores = position_scores.row(i).data(),
            .keys = i + 1,
            .length = in.length(),
            .rows = rows(in)};
  }

  /// Returns x W + b (T, C), or null if gates come from k or v.
  const Matrix* projected_gate_keys(const AttentionInput& in) const {
    if (options_.gates != Gates::separate) return nullptr;
    Matrix& keys = in.scratch(in.length(), config_.width);
    linear(in.x, in.parameters[gate_weights_[in.layer]], in.parameters[gate_biases_[in.layer]], keys);
    return &keys;
  }

  template <class M>
  auto head_columns(M& m, size_t h) const {
    return m.middleCols(static_cast<Index>(h) * config_.head_width(), config_.head_width());
  }

  /// Returns kappa (T, D) of head h.
  In gate_keys(const AttentionInput& in, const Matrix* projected, size_t h) const {
    if (projected) return head_columns(*projected, h);
    return options_.gates == Gates::keys ? in.k[h] : in.v[h];
  }
  Out d_gate_keys(AttentionGradient& d, Matrix& d_projected, size_t h) const {
    if (options_.gates == Gates::separate) return head_columns(d_projected, h);
    return options_.gates == Gates::keys ? d.k[h] : d.v[h];
  }
  /// gates(i, m) = sigmoid(s q_i . kappa_m) for m <= i.   content (T, T) = s q_i . k_m, used with gates=keys, may
  /// be `gates`. s is 1 / sqrt(D), or 1 with scaling=none.
  void compute_gates(const AttentionInput& in, const Matrix* projected, size_t h, const Matrix& content,
                     Matrix& gates) const {
    const bool by_keys = options_.gates == Gates::keys;
    if (!by_keys) dot_product(in.q[h], gate_keys(in, projected, h), content_scale(), /*causal=*/true, gates);
    const Matrix& logits = by_keys ? content : gates;
    for (Index i = 0; i < in.length(); ++i) kernels().sigmoid(logits.row(i).data(), i + 1, gates.row(i).data());
  }

  /// Returns the number of rows of the table that the counts of a sequence can reach.
  Index rows(const AttentionInput& in) const {
    return std::min(in.parameters[table(in.layer)].rows(), in.length() + 1);
  }
  Matrix& position_score_scratch(const AttentionInput& in) const {
    return in.scratch(in.length() + 1, rows(in) + kCountPadding);
  }
  /// z(i, n) = s q_i . e[n] for n up to i + 1, the largest count of query i.   s is 1 / sqrt(D), or 1 without
  /// scaling=sum.
  void multiply_by_table(const AttentionInput& in, size_t h, Matrix& z) const {
    const auto e = in.parameters[table(in.layer)].topRows(rows(in));
    multiply(in.q[h], e.transpose(), z.topLeftCorner(in.length(), rows(in)), position_scale(),
             Part::one_past_diagonal);
  }
  void multiply_by_table_backward(const AttentionInput& in, size_t h, const Matrix& d_z,
                                  AttentionGradient& d) const {
    const auto e = in.parameters[table(in.layer)].topRows(rows(in));
    auto d_e = d.parameters[table(in.layer)].topRows(rows(in));
    const MatrixOperand triangle = lower_triangle(d_z.topLeftCorner(in.length(), rows(in)), 1);
    multiply_add(triangle, e, d.q[h], position_scale());
    multiply_add(triangle.transpose(), in.q[h], d_e, position_scale());
  }

  Options options_;
  std::vector<Parameter> tables_;                      // (N, D), one or one for each layer; shared by heads
  std::vector<Parameter> gate_weights_, gate_biases_;  // (C, C), (1, C), one for each layer
};

const RegisterEncoding<Cope> registered{kInfo};

}  // namespace
}  // namespace posbench::cope
