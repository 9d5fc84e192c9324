// DeBERTa, disentangled attention: a score is the sum of a content-to-content, a content-to-position and a
// position-to-content term.
//
//   score_h(i, j) = (q_i . k_j + q_i . (P[n] W_K)_h + k_j . (P[n] W_Q + b)_h) / sqrt(3 D)
//   n(i, j)       = clamp(i - j + k, 0, 2 k - 1),   P (2 k, C), shared by all layers
//
// W_K, W_Q (C, C) and b for each layer; all but b start at N(0, 0.02). A bias beside W_K would add the same to all
// scores of a query, and change nothing. He et al. 2020, arXiv:2006.03654, section 3.1; microsoft/DeBERTa. The
// third term reads P at n(i, j) in all released code (third=code, the default) and at n(j, i) in the paper
// (third=paper): other functions, since both projections share P. Options for what the released second and third
// versions do (He et al. 2021, arXiv:2111.09543):
//   size=256,max_distance=512   buckets that grow logarithmically beyond size / 2, instead of the clamp
//   shared_projections=true     W_K, W_Q and their biases are those of the content
//   norm=true                   layer normalization of P
//
// Left out: absolute positions before the output layer ("enhanced mask decoder"), which belongs to masked language
// models. Rows of P for distances beyond the trained length stay as they started.
#include <cmath>

#include "encodings/parts/distances.h"
#include "encodings/registry.h"
#include "encodings/parts/relative_rows.h"
#include "model/attention.h"
#include "model/layers.h"
#include "model/product.h"

namespace posbench {
namespace {

enum class Third { code, paper };

/// Which of the rows of P that some pair reads each pair has, and the distances of all pairs.
struct Constants {
  PairRows second, third;  // of the second and of the third term
  Matrix distances;        // (1, distances), ascending
};
// The tables' values are P W_K and P W_Q + b (N, C), layer by layer.
size_t key_rows(int layer) { return 2 * static_cast<size_t>(layer); }
size_t query_rows(int layer) { return key_rows(layer) + 1; }

class Deberta final : public PositionEncoding {
 public:
  struct Options {
    int size = 512, max_distance = 0;
    Third third = Third::code;
    bool shared_projections = false, norm = false;
    void describe(OptionTable& o) {
      o.integer("size", size, 1, 1 << 16, "k: distances beyond it share a vector");
      o.integer("max_distance", max_distance, 0, 1 << 20,
                "logarithmic buckets from k / 2 up to this distance; 0: none");
      o.choice("third", third, {"code", "paper"}, "the third term reads P at i - j, or at j - i");
      o.flag("shared_projections", shared_projections, "project P as content is projected to q and k");
      o.flag("norm", norm, "layer normalization of P");
    }
  };

  Deberta(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape), options_(options) {
    if (options.max_distance > 0 && (options.size < 4 || options.max_distance <= options.size / 2 + 1)) {
      throw std::invalid_argument(fmt::format(
          "encoding 'deberta': logarithmic buckets need a size of at least 4 and a max_distance beyond "
          "size / 2 + 1; size is {} and max_distance {}",
          options.size, options.max_distance));
    }
    const Index C = shape.width;
    constexpr double kDeviation = 0.02;
    table_ = layout.no_decay(layout.normal("deberta.table", 2 * options.size, C, kDeviation));
    if (options.norm) {
      gain_ = layout.constant("deberta.norm.weight", 1, C, 1);
      shift_ = layout.constant("deberta.norm.bias", 1, C, 0);
    }
    for (int layer = 0; layer < shape.layers; ++layer) {
      if (options.shared_projections) {
        const std::string qkv = fmt::format("blocks.{}.attention.qkv", layer);
        content_.push_back({layout.expect(qkv + ".weight", C, 3 * C), layout.expect(qkv + ".bias", 1, 3 * C)});
      } else {
        const std::string name = "deberta.", suffix = fmt::format(".{}", layer);
        own_.push_back({layout.normal(name + "key" + suffix, C, C, kDeviation),
                        layout.normal(name + "query" + suffix, C, C, kDeviation),
                        layout.constant(name + "query_bias" + suffix, 1, C, 0)});
      }
    }
  }

  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    auto& [second, third, distances] = tables.constants<Constants>();
    distinct_distances(positions, shape_.causal, distances, second.index);
    const Span span = this->span(distances);
    fill_index(distances, span.low, second.index, third.index);
    find_runs(second);
    find_runs(third);
    Matrix normalized, rstd, rows;
    read_table(p, span, normalized, rstd, rows);
    tables.values.resize(2 * static_cast<size_t>(shape_.layers));
    const Index C = shape_.width;
    for (int layer = 0; layer < shape_.layers; ++layer) {
      Matrix &keys = tables.values[key_rows(layer)], &queries = tables.values[query_rows(layer)];
      keys.resize(span.count, C);
      queries.resize(span.count, C);
      if (options_.shared_projections) {
        const auto weight = p[content_[layer].weight], bias = p[content_[layer].bias];
        linear(rows, weight.middleCols(C, C), bias.middleCols(C, C), keys);
        linear(rows, weight.leftCols(C), bias.leftCols(C), queries);
      } else {
        multiply(rows, p[own_[layer].key], keys);
        linear(rows, p[own_[layer].query], p[own_[layer].query_bias], queries);
      }
    }
  }

  void tables_backward(const Parameters& p, const Positions&, const Tables& tables, const Matrices& d_rows_of,
                       Gradients& d) const override {
    const Span span = this->span(tables.constants<Constants>().distances);
    Matrix normalized, rstd, rows;
    read_table(p, span, normalized, rstd, rows);
    const Index C = shape_.width;
    Matrix d_rows(span.count, C);
    d_rows.setZero();
    for (int layer = 0; layer < shape_.layers; ++layer) {
      const Matrix &d_keys = d_rows_of[key_rows(layer)], &d_queries = d_rows_of[query_rows(layer)];
      if (options_.shared_projections) {
        const auto weight = p[content_[layer].weight];
        auto d_weight = d[content_[layer].weight], d_bias = d[content_[layer].bias];
        linear_backward(rows, weight.middleCols(C, C), d_keys, d_rows, d_weight.middleCols(C, C),
                        d_bias.middleCols(C, C));
        linear_backward(rows, weight.leftCols(C), d_queries, d_rows, d_weight.leftCols(C), d_bias.leftCols(C));
      } else {
        multiply_add(d_keys, p[own_[layer].key].transpose(), d_rows);
        multiply_add(rows.transpose(), d_keys, d[own_[layer].key]);
        linear_backward(rows, p[own_[layer].query], d_queries, d_rows, d[own_[layer].query],
                        d[own_[layer].query_bias]);
      }
    }
    auto d_table = d[table_];
    if (options_.norm) {
      layer_norm_backward(p[gain_], normalized, rstd, d_rows, d_table.middleRows(span.low, span.count), d[gain_],
                          d[shift_]);
    } else {
      d_table.middleRows(span.low, span.count) += d_rows;
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Index D = shape_.head_width();
    const Matrix &keys = in.tables.values[key_rows(in.layer)], &queries = in.tables.values[query_rows(in.layer)];
    for (size_t h = 0; h < scores.size(); ++h) {
      const Index column = static_cast<Index>(h) * D;
      dot_product(in.q[h], in.k[h], score_scale(), shape_.causal, scores[h]);
      add_row_products(in.q[h], keys.middleCols(column, D), second_pairs(in), Side::query, score_scale(),
                       shape_.causal, in.scratch, scores[h]);
      add_row_products(in.k[h], queries.middleCols(column, D), third_pairs(in), Side::key, score_scale(),
                       shape_.causal, in.scratch, scores[h]);
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Index D = shape_.head_width();
    const Matrix &keys = in.tables.values[key_rows(in.layer)], &queries = in.tables.values[query_rows(in.layer)];
    Matrix &d_keys = d.tables[key_rows(in.layer)], &d_queries = d.tables[query_rows(in.layer)];
    for (size_t h = 0; h < d_scores.size(); ++h) {
      const Index column = static_cast<Index>(h) * D;
      dot_product_backward(in.q[h], in.k[h], score_scale(), shape_.causal, d_scores[h], d.q[h], d.k[h]);
      add_row_products_backward(in.q[h], keys.middleCols(column, D), second_pairs(in), Side::query, score_scale(),
                                shape_.causal, d_scores[h], in.scratch, d.q[h], d_keys.middleCols(column, D));
      add_row_products_backward(in.k[h], queries.middleCols(column, D), third_pairs(in), Side::key, score_scale(),
                                shape_.causal, d_scores[h], in.scratch, d.k[h], d_queries.middleCols(column, D));
    }
  }

 private:
  struct Own {
    Parameter key, query, query_bias;  // (C, C), (C, C), (1, C)
  };
  struct Content {
    Parameter weight, bias;  // (C, 3 C), (1, 3 C): of q, k and v, side by side
  };
  /// The rows of P that some pair reads.
  struct Span {
    Index low, count;
  };

  Real score_scale() const { return 1 / std::sqrt(static_cast<Real>(3 * shape_.head_width())); }
  static const PairRows& second_pairs(const AttentionInput& in) { return in.tables.constants<Constants>().second; }
  const PairRows& third_pairs(const AttentionInput& in) const {
    return options_.third == Third::code ? second_pairs(in) : in.tables.constants<Constants>().third;
  }

  /// n for a distance, which is query minus key.
  Index row(double distance) const {
    const double size = options_.size, middle = options_.size / 2, farthest = options_.max_distance - 1;
    double bucket = std::round(distance);
    if (options_.max_distance > 0 && std::abs(bucket) > middle) {
      const double far = std::min(std::abs(bucket), farthest);
      bucket = std::copysign(
          std::ceil(std::log(far / middle) / std::log(farthest / middle) * (middle - 1)) + middle, bucket);
    }
    return static_cast<Index>(std::clamp(bucket + size, 0.0, 2 * size - 1));
  }

  Span span(const Matrix& distances) const {
    double nearest = distances(0, 0), farthest = distances(0, distances.cols() - 1);
    if (options_.third == Third::paper) {  // reads the opposite ones too
      farthest = std::max(farthest, -nearest);
      nearest = std::min(nearest, -farthest);
    }
    return {row(nearest), row(farthest) - row(nearest) + 1};
  }

  /// Turns a pair's index of its distance into the index of its row of P, for the second term and for the third.
  void fill_index(const Matrix& distances, Index low, IndexMatrix& index, IndexMatrix& third) const {
    const bool paper = options_.third == Third::paper;
    std::vector<std::int32_t> rows, opposite;
    for (Index n = 0; n < distances.cols(); ++n) {
      rows.push_back(static_cast<std::int32_t>(row(distances(0, n)) - low));
      if (paper) opposite.push_back(static_cast<std::int32_t>(row(-distances(0, n)) - low));
    }
    third.setZero(paper ? index.rows() : 0, paper ? index.cols() : 0);
    for (Index i = 0; i < index.rows(); ++i) {
      for (Index j = 0; j < visible(i, index.cols(), shape_.causal); ++j) {
        const size_t n = static_cast<size_t>(index(i, j));
        index(i, j) = rows[n];
        if (paper) third(i, j) = opposite[n];
      }
    }
  }

  /// The rows of P that are read, normalized with the option `norm`.
  void read_table(const Parameters& p, const Span& span, Matrix& normalized, Matrix& rstd, Matrix& rows) const {
    const auto table = p[table_].middleRows(span.low, span.count);
    rows.resize(span.count, shape_.width);
    if (options_.norm) {
      normalized.resize(span.count, shape_.width);
      rstd.resize(span.count, 1);
      layer_norm(table, p[gain_], p[shift_], normalized, rstd, rows);
    } else {
      rows = table;
    }
  }

  Options options_;
  Parameter table_, gain_, shift_;  // P (2 k, C), (1, C), (1, C)
  std::vector<Own> own_;            // one for each layer, or none
  std::vector<Content> content_;    // one for each layer, or none
};

const RegisterEncoding<Deberta> registered{{
    .name = "deberta",
    .family = Family::relative_vectors,
    .equation = "score_h(i, j) = (q_i . k_j + q_i . (P[n] W_K)_h + k_j . (P[n] W_Q + b)_h) / sqrt(3 D),   "
                "n = clamp(i - j + k, 0, 2k - 1)",
    .source =
        "He et al. 2020, arXiv:2006.03654, section 3.1, and He et al. 2021, arXiv:2111.09543; microsoft/DeBERTa",
    .notes =
        "The paper's third term reads P at j - i, the released code's at i - j (the default): option third. "
        "Vectors of distances beyond the trained length are untrained, as most of the default 512 are here. The "
        "released second and third versions are size=256,max_distance=512,shared_projections=true,norm=true.",
    .touches = "Q",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::no, "but yes where size is no more than the trained length"},
    .relative = Relative::yes,
    .content_dependent = "query and key",
    .variants = {"norm=true,shared_projections=true", "size=2", "size=3,third=paper", "size=4,max_distance=6",
                 "size=6,max_distance=16,norm=true,third=paper"},
}};

}  // namespace
}  // namespace posbench
