// CoPE, contextual position: sigmoid gates between a query and its keys are summed from a key up to the query. The
// sum is that key's position, and selects a position vector.
//
//   g(i, m)     = sigmoid(q_i . kappa_m / sqrt(D))                                       the gate of key m
//   p(i, j)     = min(g(i, j) + g(i, j + 1) + ... + g(i, i), N - 1)                      the count, not an integer
//   t(i, j)     = (1 - f) q_i . e[n] + f q_i . e[n + 1],   n = floor(p), f = p - n       between rows of e (N, D)
//   score(i, j) = (q_i . k_j + t(i, j)) / sqrt(D)
//
// kappa: k (gates=keys), a separate projection x W + b (gates=separate), or v (gates=values). e starts at zero, so
// that the model starts as NoPE. N = 0 takes the trained length + 1: a row for every count from 0 on.
//
// Golovneva et al. 2024, arXiv:2405.18719, section 4; facebookresearch/RAM. The paper's equations divide nothing
// by sqrt(D) (scaling=none); the released code divides as above (scaling=sum); most ports add t undivided
// (scaling=content).
#include <algorithm>

#include "encodings/registry.h"
#include "model/attention.h"
#include "model/lanes.h"
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
               "what 1 / sqrt(D) multiplies: q.k + t, q.k alone, or nothing");
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
    const Matrix* separate = separate_keys(in);
    Matrix &gates = in.scratch(T, T), &by_row = looked_up(in);
    for (size_t h = 0; h < scores.size(); ++h) {
      dot_product(in.q[h], in.k[h], content_scale(), true, scores[h]);
      this->gates(in, separate, h, scores[h], gates);
      look_up(in, h, by_row);
      for (Index i = 0; i < T; ++i) {
        const Real* z = by_row.row(i).data();
        Real* score = scores[h].row(i).data();
        count(gates.row(i).data(), i + 1, rows(in), [&](Index j, Lanes p, Index base) {
          const Between at(z, p, base);
          const Index room = std::min(kLanes, T - j);
          store(load(score + j, room, 0) + at.value(), score + j, room);
        });
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index T = in.length();
    const Matrix* separate = separate_keys(in);
    Matrix &gates = in.scratch(T, T), &d_logits = in.scratch(T, T);
    Matrix &by_row = looked_up(in), &d_by_row = looked_up(in);
    Matrix& d_separate = in.scratch(T, separate ? shape_.width : 0);
    d_separate.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      if (options_.gates == Gates::keys) dot_product(in.q[h], in.k[h], content_scale(), true, gates);
      this->gates(in, separate, h, gates, gates);
      look_up(in, h, by_row);
      for (Index i = 0; i < T; ++i) {
        Real* d_logit = d_logits.row(i).data();
        count_backward(in, gates.row(i).data(), i, by_row.row(i).data(), d_scores[h].row(i).data(),
                       d_by_row.row(i).data(), d_logit);
        if (options_.gates != Gates::keys) continue;
        for_each_lanes(i + 1, [&](Index j, Index) {  // the gates' logits are the scores of content
          const Index room = std::min(kLanes, T - j);
          store(load(d_logit + j, room, 0) + load(d_scores[h].row(i).data() + j, room, 0), d_logit + j, room);
        });
      }
      look_up_backward(in, h, d_by_row, d);
      gates_backward(in, separate, h, d_scores[h], d_logits, d_separate, d);
    }
    if (separate) {
      linear_backward(in.x, in.parameters[gate_weights_[in.layer]], d_separate, d.x,
                      d.parameters[gate_weights_[in.layer]], d.parameters[gate_biases_[in.layer]]);
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    const Index T = in.length(), rows = this->rows(in);
    AttentionMap gate{"gate", Heads(shape_.heads, Matrix(Matrix::Zero(T, T)))}, counted{"contextual position", gate.values};
    const Matrix* separate = separate_keys(in);
    for (size_t h = 0; h < gate.values.size(); ++h) {
      dot_product(in.q[h], in.k[h], content_scale(), true, gate.values[h]);
      gates(in, separate, h, gate.values[h], gate.values[h]);
      for (Index i = 0; i < T; ++i) {
        Real* to = counted.values[h].row(i).data();
        count(gate.values[h].row(i).data(), i + 1, rows,
              [&](Index j, Lanes p, Index) { store(p, to + j, std::min(kLanes, T - j)); });
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

  /// gates(i, m) = sigmoid(q_i . kappa_m / sqrt(D)) for m <= i. `products` are q_i . k_m / sqrt(D).
  void gates(const AttentionInput& in, const Matrix* separate, size_t h, const Matrix& products,
             Matrix& gates) const {
    const Index D = shape_.head_width();
    if (separate)
      dot_product(in.q[h], separate->middleCols(static_cast<Index>(h) * D, D), gate_scale(), true, gates);
    if (options_.gates == Gates::values) dot_product(in.q[h], in.v[h], gate_scale(), true, gates);
    const Matrix& logits = options_.gates == Gates::keys ? products : gates;
    for (Index i = 0; i < in.length(); ++i)
      kernels().sigmoid(logits.row(i).data(), i + 1, gates.row(i).data());
  }
  /// d_logits: the gradient of the gates' logits; with gates=keys, d_scores is already added to it.
  void gates_backward(const AttentionInput& in, const Matrix* separate, size_t h, const Matrix& d_scores,
                      const Matrix& d_logits, Matrix& d_separate, AttentionGradient& d) const {
    if (options_.gates == Gates::keys)
      return dot_product_backward(in.q[h], in.k[h], gate_scale(), true, d_logits, d.q[h], d.k[h]);
    dot_product_backward(in.q[h], in.k[h], content_scale(), true, d_scores, d.q[h], d.k[h]);
    if (options_.gates == Gates::values)
      return dot_product_backward(in.q[h], in.v[h], gate_scale(), true, d_logits, d.q[h], d.v[h]);
    const Index D = shape_.head_width(), column = static_cast<Index>(h) * D;
    dot_product_backward(in.q[h], separate->middleCols(column, D), gate_scale(), true, d_logits, d.q[h],
                         d_separate.middleCols(column, D));
  }

  /// The number of rows of the table that the counts of a sequence can reach.
  Index rows(const AttentionInput& in) const {
    return std::min(in.parameters[table(in.layer)].rows(), in.length() + 1);
  }
  /// Scratch for z(i, n) = q_i . e[n] / sqrt(D), padded because whole vectors are read beyond the last row.
  Matrix& looked_up(const AttentionInput& in) const {
    return in.scratch(in.length() + 1, rows(in) + 2 * kLanes);
  }
  /// z(i, n), for n up to i + 1, the largest count of query i.
  void look_up(const AttentionInput& in, size_t h, Matrix& by_row) const {
    const auto table = in.parameters[this->table(in.layer)].topRows(rows(in));
    multiply(in.q[h], table.transpose(), by_row.topLeftCorner(in.length(), rows(in)), position_scale(),
             Part::one_past_diagonal);
  }
  void look_up_backward(const AttentionInput& in, size_t h, const Matrix& d_by_row, AttentionGradient& d) const {
    const auto table = in.parameters[this->table(in.layer)].topRows(rows(in));
    auto d_table = d.parameters[this->table(in.layer)].topRows(rows(in));
    const MatrixOperand d_z = lower(d_by_row.topLeftCorner(in.length(), rows(in)), 1);
    multiply_add(d_z, table, d.q[h], position_scale());
    multiply_add(d_z.transpose(), in.q[h], d_table, position_scale());
  }

  /// Calls f(j, p, base) for each block of kLanes keys from j on, the last block first. p are the clamped counts
  /// p(i, j), p(i, j + 1), ... of a query that sees `keys` keys; base is a whole number with base <= p <= base +
  /// kLanes. Lanes beyond the last key have a p of at least base.
  template <class F>
  static void count(const Real* gates, Index keys, Index rows, F f) {
    const Real last = static_cast<Real>(rows - 1);
    Real sum = 0;
    for (Index j = (keys - 1) / kLanes * kLanes; j >= 0; j -= kLanes) {
      const Lanes sums = sum + suffix_sums(load(gates + j, std::min(kLanes, keys - j), 0));
      f(j, sums < last ? sums : Lanes{} + last, static_cast<Index>(sum < last ? sum : last));
      sum = sums[0];
    }
  }

  /// z at the fractional counts p, interpolated.
  struct Between {
    Between(const Real* z, Lanes p, Index base) {
      const Lanes from_base = p - static_cast<Real>(base);
      const IntLanes n = truncated(from_base);
      fraction = from_base - __builtin_convertvector(n, Lanes);
      below = gather(z + base, n);
      above = fraction == 0 ? below : gather(z + base, n + 1);  // there is no row after a clamped count
    }
    Lanes value() const { return fused(fraction, slope(), below); }
    Lanes slope() const { return above - below; }  // 0 at whole counts, so at clamped ones too

    Lanes fraction, below, above;
  };

  /// For query i: overwrites d_z, the gradient of z, and d_logit, that of the gates' logits, with zeros beyond the
  /// keys that it sees.
  void count_backward(const AttentionInput& in, const Real* gates, Index i, const Real* z, const Real* d_score,
                      Real* d_z, Real* d_logit) const {
    const Index T = in.length(), keys = i + 1, rows = this->rows(in);
    std::fill_n(d_z, std::min(rows + 2 * kLanes, keys + 1 + kBand + 2 * kLanes), Real(0));
    count(gates, keys, rows, [&](Index j, Lanes p, Index base) {
      const Index room = std::min(kLanes, T - j);
      const Lanes d = load(d_score + j, std::min(kLanes, keys - j), 0);
      store(d * Between(z, p, base).slope(), d_logit + j, room);  // of p(i, j), for now
      spread(p - static_cast<Real>(base), d, d_z + base);
    });
    Real sum = 0;  // g(i, m) is in p(i, j) for every j <= m
    for_each_lanes(keys, [&](Index m, Index count) {
      const Lanes sums = sum + prefix_sums(load(d_logit + m, count, 0)), gate = load(gates + m, count, 0);
      store(sums * gate * (1 - gate), d_logit + m, std::min(kLanes, T - m));
      sum = sums[kLanes - 1];
    });
    const Index after = (keys + kLanes - 1) / kLanes * kLanes;
    if (after < T) std::fill_n(d_logit + after, std::min(T - after, kBand), Real(0));
  }
  /// d_z[n] += (1 - f) d and d_z[n + 1] += f d for each lane of p = n + f: every entry near p gets d times its
  /// weight in the interpolation, max(0, 1 - |p - entry|).
  static void spread(Lanes p, Lanes d, Real* d_z) {
    Real at[kLanes], value[kLanes];
    store(p, at);
    store(d, value);
    Lanes low{}, high{};
    const auto weight = [](Lanes difference) { return larger(1 - magnitude(difference), Lanes{}); };
    for (Index n = 0; n < kLanes; ++n) low = fused(weight(at[n] - lane_indices()), value[n], low);
    store(load(d_z) + low, d_z);
    if (at[0] <= kLanes - 1) return;
    for (Index n = 0; n < kLanes; ++n) {
      high = fused(weight(at[n] - static_cast<Real>(kLanes) - lane_indices()), value[n], high);
    }
    store(load(d_z + kLanes) + high, d_z + kLanes);
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
