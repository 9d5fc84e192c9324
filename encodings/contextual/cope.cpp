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
        "g(i, m)     = sigmoid(q_i . k_m / sqrt(D))",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, section 4; facebookresearch/RAM, projects/cope",
    .notes =
        "e (N, D) starts at zero, so that the model starts as NoPE. The division by sqrt(D) is that of the released "
        "code; the paper's equations have none, and most ports add t undivided. The paper's gates from separate "
        "keys or from values are omitted. The paper does not define bidirectional counts.",
    .causal_only = true,
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "query and key",
    .variants = {"positions=3"},
};

class Cope final : public PositionEncoding {
 public:
  struct Options {
    int positions = 0;
    void describe(OptionTable& o) {
      o.integer("positions", positions, 0, 1 << 20, "N: counts are clamped to N - 1; 0: the trained length + 1");
    }
  };

  Cope(const Options& options, const ModelConfig& config, ParameterLayout& layout) : PositionEncoding(config) {
    const Index rows = options.positions > 0 ? options.positions : config.trained_length + 1;
    for (int layer = 0; layer < config.layers; ++layer) {
      const std::string name = fmt::format("cope.table.{}", layer);
      tables_.push_back(layout.no_decay(layout.constant(name, rows, config.head_width(), 0)));
    }
  }

  // The position scores are z(n) = q_i . e[n] / sqrt(D), so t(i, j) / sqrt(D) = (1 - f) z(n) + f z(n + 1). Their
  // gradients and those of the gates are in parts/contextual_counts.h.
  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length();
    Matrix &gates = in.scratch(T, T), &position_scores = position_score_scratch(in);
    content(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      compute_gates(scores[h], gates);
      multiply_by_table(in, h, position_scores);
      for (Index i = 0; i < T; ++i)
        add_position_scores(query(in, gates, position_scores, i), scores[h].row(i).data());
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length();
    Matrix &gates = in.scratch(T, T), &d_logits = in.scratch(T, T);
    Matrix &position_scores = position_score_scratch(in), &d_position_scores = position_score_scratch(in);
    for (size_t h = 0; h < d_scores.size(); ++h) {
      dot_product(in.q[h], in.k[h], scale(), /*causal=*/true, gates);
      compute_gates(gates, gates);
      multiply_by_table(in, h, position_scores);
      for (Index i = 0; i < T; ++i) {
        position_scores_backward(query(in, gates, position_scores, i), d_scores[h].row(i).data(),
                                 d_position_scores.row(i).data(), d_logits.row(i).data());
      }
      multiply_by_table_backward(in, h, d_position_scores, d);
      // q_i . k_m / sqrt(D) is a term of the score, and the logit of the gate.
      for (Index i = 0; i < T; ++i) d_logits.row(i).head(i + 1) += d_scores[h].row(i).head(i + 1);
      dot_product_backward(in.q[h], in.k[h], scale(), /*causal=*/true, d_logits, d.q[h], d.k[h]);
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    const Index T = in.length();
    AttentionMap gates{"gate", Heads(config_.heads, Matrix(Matrix::Zero(T, T))), AttentionMap::Kind::gate},
        counts{"contextual position", gates.values, AttentionMap::Kind::count};
    for (size_t h = 0; h < gates.values.size(); ++h) {
      Matrix& gate = gates.values[h];
      dot_product(in.q[h], in.k[h], scale(), /*causal=*/true, gate);
      compute_gates(gate, gate);
      for (Index i = 0; i < T; ++i) count_gates(query(in, gate, gate, i), counts.values[h].row(i).data());
    }
    return {gates, counts};
  }

 private:
  GatedQuery query(const AttentionInput& in, const Matrix& gates, const Matrix& position_scores, Index i) const {
    return {.gates = gates.row(i).data(),
            .position_scores = position_scores.row(i).data(),
            .keys = i + 1,
            .length = in.length(),
            .rows = rows(in)};
  }

  /// gates(i, m) = sigmoid(logits(i, m)) for m <= i.   gates may be logits.
  void compute_gates(const Matrix& logits, Matrix& gates) const {
    for (Index i = 0; i < logits.rows(); ++i) kernels().sigmoid(logits.row(i).data(), i + 1, gates.row(i).data());
  }

  /// Returns the number of rows of the table that the counts of a sequence can reach.
  Index rows(const AttentionInput& in) const {
    return std::min(in.parameters[tables_[in.layer]].rows(), in.length() + 1);
  }
  Matrix& position_score_scratch(const AttentionInput& in) const {
    return in.scratch(in.length() + 1, rows(in) + kCountPadding);
  }
  /// z(i, n) = q_i . e[n] / sqrt(D) for n up to i + 1, the largest count of query i.
  void multiply_by_table(const AttentionInput& in, size_t h, Matrix& z) const {
    const auto e = in.parameters[tables_[in.layer]].topRows(rows(in));
    multiply(in.q[h], e.transpose(), z.topLeftCorner(in.length(), rows(in)), scale(), Part::one_past_diagonal);
  }
  /// d_q_i += sum over n of d_z(i, n) e[n] / sqrt(D),   d_e[n] += sum over i of d_z(i, n) q_i / sqrt(D).
  void multiply_by_table_backward(const AttentionInput& in, size_t h, const Matrix& d_z,
                                  AttentionGradient& d) const {
    const auto e = in.parameters[tables_[in.layer]].topRows(rows(in));
    auto d_e = d.parameters[tables_[in.layer]].topRows(rows(in));
    const MatrixOperand triangle = lower_triangle(d_z.topLeftCorner(in.length(), rows(in)), 1);
    multiply_add(triangle, e, d.q[h], scale());
    multiply_add(triangle.transpose(), in.q[h], d_e, scale());
  }

  std::vector<Parameter> tables_;  // (N, D), one for each layer, shared by heads
};

const RegisterEncoding<Cope> registered{kInfo};

}  // namespace
}  // namespace posbench::cope
