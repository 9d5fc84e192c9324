// CoPE, contextual position: each query counts, with soft gates, the keys from a key up to itself that matter to
// it, and the count looks up a position vector.
//
//   g(i, m)     = sigmoid(q_i . kappa_m / sqrt(D))                                       the gate of key m
//   p(i, j)     = min(g(i, j) + g(i, j + 1) + ... + g(i, i), N - 1)                      the count, not an integer
//   t(i, j)     = (1 - f) q_i . e[n] + f q_i . e[n + 1],   n = floor(p), f = p - n       between rows of e (N, D)
//   score(i, j) = (q_i . k_j + t(i, j)) / sqrt(D)
//
// kappa: k (gates=keys), x W + b of its own (gates=separate), or v (gates=values). e starts at zero, so that the
// model starts as NoPE. N = 0 takes the trained length + 1: a row for every count, and one for none.
//
// Golovneva et al. 2024, arXiv:2405.18719, section 4; facebookresearch/RAM. The paper's equations divide nothing
// by sqrt(D) (scaling=none); the released code divides as above (scaling=sum); most ports add t undivided
// (scaling=content).
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/product.h"

namespace posbench {
namespace {

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
      o.choice("gates", gates, {"keys", "separate", "values"}, "what gates are computed from, beside the query");
      o.choice("scaling", scaling, {"sum", "content", "none"},
               "what 1 / sqrt(D) multiplies: q.k + t, q.k alone, nothing");
      o.flag("shared_table", shared_table, "one table of position vectors for all layers");
    }
  };

  Cope(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), options_(options) {
    const Index rows = options.positions > 0 ? options.positions : shape.trained_length + 1;
    const Index C = shape.width;
    for (int layer = 0; layer < shape.layers; ++layer) {
      if (layer == 0 || !options.shared_table) {
        const std::string name = options.shared_table ? "cope.table" : fmt::format("cope.table.{}", layer);
        tables_.push_back(layout.no_decay(layout.constant(name, rows, shape.head_width(), 0)));
      }
      if (options.gates == Gates::separate) {
        gate_weights_.push_back(layout.normal(fmt::format("cope.gate.{}.weight", layer), C, C, 1 / std::sqrt(C)));
        gate_biases_.push_back(layout.constant(fmt::format("cope.gate.{}.bias", layer), 1, C, 0));
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index T = in.length();
    const auto table = in.parameters[this->table(in.layer)];
    const Matrix* separate = separate_keys(in);
    Matrix &gates = in.scratch(T, T), &by_row = in.scratch(T, table.rows());
    for (size_t h = 0; h < scores.size(); ++h) {
      dot_product(in.q[h], in.k[h], content_scale(), true, scores[h]);
      this->gates(in, separate, h, gates);
      multiply(in.q[h], table.transpose(), by_row, position_scale());
      for (Index i = 0; i < T; ++i) {
        const Real* z = by_row.row(i).data();
        count(gates, i, table.rows(),
              [&](Index j, Index n, Real f) { scores[h](i, j) += f == 0 ? z[n] : (1 - f) * z[n] + f * z[n + 1]; });
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length(), D = shape_.head_width();
    const auto table = in.parameters[this->table(in.layer)];
    const Matrix* separate = separate_keys(in);
    Matrix &gates = in.scratch(T, T), &d_logits = in.scratch(T, T);
    Matrix &by_row = in.scratch(T, table.rows()), &d_by_row = in.scratch(T, table.rows());
    Matrix& d_separate = in.scratch(T, separate ? shape_.width : 0);
    d_separate.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      this->gates(in, separate, h, gates);
      multiply(in.q[h], table.transpose(), by_row, position_scale());
      d_by_row.setZero();
      d_logits.setZero();  // of the gates
      for (Index i = 0; i < T; ++i) {
        const Real *z = by_row.row(i).data(), *d_score = d_scores[h].row(i).data();
        Real *d_z = d_by_row.row(i).data(), *d_logit = d_logits.row(i).data();
        count(gates, i, table.rows(), [&](Index j, Index n, Real f) {
          d_z[n] += (1 - f) * d_score[j];
          if (f == 0) return;  // a whole count, or a clamped one: no gradient of p
          d_z[n + 1] += f * d_score[j];
          d_logit[j] = d_score[j] * (z[n + 1] - z[n]);  // of p(i, j), for now
        });
        Real d_gate = 0;  // g(i, m) is in p(i, j) for every j <= m
        for (Index m = 0; m <= i; ++m) {
          d_gate += d_logit[m];
          d_logit[m] = d_gate * gates(i, m) * (1 - gates(i, m));
        }
      }
      multiply_add(d_by_row, table, d.q[h], position_scale());
      multiply_add(d_by_row.transpose(), in.q[h], d.parameters[this->table(in.layer)], position_scale());

      dot_product_backward(in.q[h], in.k[h], content_scale(), true, d_scores[h], d.q[h], d.k[h]);
      const Index column = static_cast<Index>(h) * D;
      switch (options_.gates) {
        case Gates::keys:
          dot_product_backward(in.q[h], in.k[h], gate_scale(), true, d_logits, d.q[h], d.k[h]);
          break;
        case Gates::separate:
          dot_product_backward(in.q[h], separate->middleCols(column, D), gate_scale(), true, d_logits, d.q[h],
                               d_separate.middleCols(column, D));
          break;
        case Gates::values:
          dot_product_backward(in.q[h], in.v[h], gate_scale(), true, d_logits, d.q[h], d.v[h]);
          break;
      }
    }
    if (separate) {
      linear_backward(in.x, in.parameters[gate_weights_[in.layer]], d_separate, d.x,
                      d.parameters[gate_weights_[in.layer]], d.parameters[gate_biases_[in.layer]]);
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    const Index T = in.length(), rows = in.parameters[table(in.layer)].rows();
    AttentionMap gate{"gate", Heads(shape_.heads, Matrix(Matrix::Zero(T, T)))},
        counted{"contextual position", gate.values};
    const Matrix* separate = separate_keys(in);
    for (size_t h = 0; h < gate.values.size(); ++h) {
      gates(in, separate, h, gate.values[h]);
      for (Index i = 0; i < T; ++i) {
        count(gate.values[h], i, rows,
              [&](Index j, Index n, Real f) { counted.values[h](i, j) = static_cast<Real>(n) + f; });
      }
    }
    return {gate, counted};
  }

 private:
  const Parameter& table(int layer) const { return tables_[options_.shared_table ? 0 : layer]; }
  Real content_scale() const { return options_.scaling == Scaling::none ? 1 : scale(); }
  Real position_scale() const { return options_.scaling == Scaling::sum ? scale() : 1; }
  Real gate_scale() const { return content_scale(); }

  /// x W + b (T, C), or null where gates come from k or v.
  const Matrix* separate_keys(const AttentionInput& in) const {
    if (options_.gates != Gates::separate) return nullptr;
    Matrix& keys = in.scratch(in.length(), shape_.width);
    linear(in.x, in.parameters[gate_weights_[in.layer]], in.parameters[gate_biases_[in.layer]], keys);
    return &keys;
  }

  /// gates(i, m) = sigmoid(q_i . kappa_m / sqrt(D)) for m <= i.
  void gates(const AttentionInput& in, const Matrix* separate, size_t h, Matrix& gates) const {
    const Index D = shape_.head_width();
    if (separate) {
      dot_product(in.q[h], separate->middleCols(static_cast<Index>(h) * D, D), gate_scale(), true, gates);
    } else {
      dot_product(in.q[h], options_.gates == Gates::keys ? in.k[h] : in.v[h], gate_scale(), true, gates);
    }
    for (Index i = 0; i < in.length(); ++i) gates.row(i).head(i + 1) = gates.row(i).head(i + 1).array().logistic();
  }

  /// f(j, n, fraction) for j = i, i - 1, ..., 0, where n + fraction is the clamped count p(i, j).
  template <class F>
  static void count(const Matrix& gates, Index i, Index rows, F f) {
    const Real last = static_cast<Real>(rows - 1);
    Real sum = 0;
    for (Index j = i; j >= 0; --j) {
      sum += gates(i, j);
      const Real p = std::min(sum, last), n = std::floor(p);
      f(j, static_cast<Index>(n), p - n);
    }
  }

  Options options_;
  std::vector<Parameter> tables_;                      // (N, D), one or one for each layer; shared by heads
  std::vector<Parameter> gate_weights_, gate_biases_;  // (C, C), (1, C), one for each layer
};

const RegisterEncoding<Cope> registered{{
    .name = "cope",
    .family = Family::contextual,
    .equation = "score(i, j) = (q_i . k_j + q_i . e[p]) / sqrt(D), p = sum of sigmoid(q_i . k_m / sqrt(D)) over m "
                "= j .. i, "
                "e interpolated",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, section 4; facebookresearch/RAM, projects/cope",
    .notes = "What 1 / sqrt(D) multiplies differs between paper, released code (the default) and ports: option "
             "scaling. "
             "Bidirectional counts are not defined by the paper.",
    .causal_only = true,
    .touches = "Q L",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "query and key",
    .variants = {"gates=separate", "gates=separate,scaling=content,shared_table=true", "gates=values",
                 "positions=3", "scaling=content", "scaling=none"},
}};

}  // namespace
}  // namespace posbench
