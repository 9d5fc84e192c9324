// Adds to each score a mixture of learned profiles over the distance, which the query's token chooses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "encodings/parts/relative_rows.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/product.h"

namespace posbench::inkling {
namespace {

const EncodingInfo kInfo{
    .name = "inkling",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = N(q_i) . N(k_j) / D + r_i . P[n],   n = i - j,   r_i = x_i W_h, and 0 for r_i . P[n] if "
        "n < 0 or n >= E\n"
        "N(q)          = g q / sqrt(mean of q^2),   g (D) learned for each layer, for queries and for keys\n"
        "W_h (C, R) learned for each layer and head,   P (E, R) learned for each layer, shared by heads",
    .source = "Thinking Machines 2026, huggingface/transformers, models/inkling/modular_inkling.py",
    .used_in = {"Inkling"},
    .notes =
        "R is 16 and E is 1024 in the released configuration, or the window in layers that have one. Here E is half "
        "the trained length, so that training has distances beyond. The released model starts all weights with "
        "deviation 0.02; here W starts with C^-0.5 and P with 0.02. It also has short convolutions on keys and values, "
        "and may multiply the scores of a query by 1 + 0.1 log(max(1, (i + 1) / n)), which its configuration leaves "
        "out by default. Neither is part of this encoding. With model.qk_norm=true, queries and keys would be "
        "normalized twice.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "query",
    .distinct = Distinct::partly,
    .kernel = Kernel::score_modifier,
    .variants = {"extent=3,rank=2"},
};

class Inkling final : public PositionEncoding {
 public:
  struct Options {
    int rank = 16, extent = 0;
    void describe(OptionTable& o) {
      o.integer("rank", rank, 1, 1 << 16, "R, the number of profiles");
      o.integer("extent", extent, 0, 1 << 20,
                "E, the distance from which nothing is added; 0: half the trained length");
    }
  };

  Inkling(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config),
        rank_(options.rank),
        extent_(options.extent > 0 ? options.extent : std::max(1, config.trained_length / 2)) {
    for (int layer = 0; layer < config.layers; ++layer) {
      const auto name = [&](const char* part) { return fmt::format("inkling.{}.{}", part, layer); };
      layers_.push_back({
          .query_gain = layout.no_decay(layout.constant(name("query_gain"), 1, config.head_width(), 1)),
          .key_gain = layout.no_decay(layout.constant(name("key_gain"), 1, config.head_width(), 1)),
          .mixing = layout.normal(name("mixing"), config.width, config.heads * rank_, 1 / std::sqrt(config.width)),
          .profiles = layout.no_decay(layout.normal(name("profiles"), extent_, rank_, 0.02)),
      });
    }
  }

  /// Row E stands for all pairs to which nothing is added.
  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    const Index T = positions.size();
    PairRows& pairs = tables.constants<PairRows>();
    pairs.index.resize(T, T);
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < T; ++j) {
        const Real n = std::round(positions.distance(i, j));
        const bool is_within = n >= 0 && n < static_cast<Real>(extent_);
        pairs.index(i, j) = static_cast<std::int32_t>(is_within ? n : static_cast<Real>(extent_));
      }
    }
    classify_tiles(pairs);
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Layer& w = layers_[in.layer];
    content(in, scores);
    Matrix& r = in.scratch(in.length(), rank_);
    const Matrix& rows = rows_with_zero(in);
    for (size_t h = 0; h < scores.size(); ++h) {
      multiply(in.x, in.parameters[w.mixing].middleCols(first_of(h), rank_), r);
      add_row_products(r, pair_vectors(rows, in), {Side::query, 1}, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Layer& w = layers_[in.layer];
    content_backward(in, d_scores, d);
    Matrix &r = in.scratch(in.length(), rank_), &d_r = in.scratch(in.length(), rank_);
    const Matrix& rows = rows_with_zero(in);
    Matrix& d_rows = in.scratch(rows.rows(), rank_);
    d_rows.setZero();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const auto mixing = in.parameters[w.mixing].middleCols(first_of(h), rank_);
      multiply(in.x, mixing, r);
      d_r.setZero();
      add_row_products_backward(r, pair_vectors(rows, in), {Side::query, 1}, d_scores[h], d_r, d_rows);
      multiply_add(d_r, mixing.transpose(), d.x);
      multiply_add(in.x.transpose(), d_r, d.parameters[w.mixing].middleCols(first_of(h), rank_));
    }
    d.parameters[w.profiles] += d_rows.topRows(extent_);
  }

  /// N(q_i) . N(k_j) / D
  void content(const AttentionInput& in, Heads& content) const override {
    const Layer& w = layers_[in.layer];
    const Normalized q(in), k(in);
    for (size_t h = 0; h < content.size(); ++h) {
      rms_norm(in.q[h], in.parameters[w.query_gain], q.unit, q.rstd, q.y);
      rms_norm(in.k[h], in.parameters[w.key_gain], k.unit, k.rstd, k.y);
      dot_product(q.y, k.y, scale() * scale(), config_.causal, content[h]);
    }
  }

 private:
  struct Layer {
    Parameter query_gain, key_gain;  // g (1, D)
    Parameter mixing, profiles;      // W (C, H R), P (E, R)
  };
  /// Queries or keys of a head in scratch, normalized without and with the gain, and their gradient.
  struct Normalized {
    Matrix &unit, &rstd, &y, &d_y;
    explicit Normalized(const AttentionInput& in)
        : unit(in.scratch(in.length(), in.q[0].cols())),
          rstd(in.scratch(in.length(), 1)),
          y(in.scratch(in.length(), in.q[0].cols())),
          d_y(in.scratch(in.length(), in.q[0].cols())) {}
  };

  void content_backward(const AttentionInput& in, const Heads& d_content, AttentionGradient& d) const {
    const Layer& w = layers_[in.layer];
    const Normalized q(in), k(in);
    for (size_t h = 0; h < d_content.size(); ++h) {
      rms_norm(in.q[h], in.parameters[w.query_gain], q.unit, q.rstd, q.y);
      rms_norm(in.k[h], in.parameters[w.key_gain], k.unit, k.rstd, k.y);
      q.d_y.setZero();
      k.d_y.setZero();
      dot_product_backward(q.y, k.y, scale() * scale(), config_.causal, d_content[h], q.d_y, k.d_y);
      rms_norm_backward(in.parameters[w.query_gain], q.unit, q.rstd, q.d_y, d.q[h], d.parameters[w.query_gain]);
      rms_norm_backward(in.parameters[w.key_gain], k.unit, k.rstd, k.d_y, d.k[h], d.parameters[w.key_gain]);
    }
  }

  /// Returns the first column of W_h.
  Index first_of(size_t h) const { return static_cast<Index>(h) * rank_; }

  /// Returns P with a row of zeros below it, in scratch: (E + 1, R).
  const Matrix& rows_with_zero(const AttentionInput& in) const {
    Matrix& rows = in.scratch(extent_ + 1, rank_);
    rows.topRows(extent_) = in.parameters[layers_[in.layer].profiles];
    rows.row(extent_).setZero();
    return rows;
  }
  PairVectors pair_vectors(const Matrix& rows, const AttentionInput& in) const {
    return {rows, in.tables.constants<PairRows>(), config_.causal, in.scratch};
  }

  Index rank_, extent_;
  std::vector<Layer> layers_;
};

const RegisterEncoding<Inkling> registered{kInfo};

}  // namespace
}  // namespace posbench::inkling
