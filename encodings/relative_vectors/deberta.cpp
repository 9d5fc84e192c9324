// Adds a content-to-position and a position-to-content term to the scores (disentangled attention).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/relative_rows.h"
#include "encodings/parts/require_use.h"
#include "encodings/parts/signed_buckets.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/layers.h"

namespace posbench::deberta {
namespace {

const EncodingInfo kInfo{
    .name = "deberta",
    .family = Family::relative_vectors,
    .equation =
        "score_h(i, j) = (q_i . k_j + q_i . (P[n] W_K)_h + k_j . (P[n] W_Q + b)_h) / sqrt(3 D)\n"
        "n = clamp(i - j + k, 0, 2k - 1)\n"
        "P (2k, C) learned, shared by all layers;   W_K, W_Q (C, C), b (C) learned for each layer",
    .source =
        "He et al. 2020, arXiv:2006.03654, section 3.1, and He et al. 2021, arXiv:2111.09543; "
        "microsoft/DeBERTa",
    .used_in = {"DeBERTa"},
    .notes =
        "The third term, position to content, reads P at n(i, j) in all released code (third=code, the default) "
        "and at n(j, i) in the paper (third=paper). These are different functions, because both projections "
        "share P. All parameters but b start at N(0, 0.02). A bias of W_K would add the same to all scores of a "
        "query and change nothing. The released second and third versions are "
        "size=256,max_distance=512,shared_projections=true,norm=true: buckets that grow logarithmically beyond "
        "size / 2 instead of the clamp, the projections and biases of the content instead of W_K, W_Q and b, and "
        "layer normalization of P. Keys max_distance or more after the query then read row 1 of P, because "
        "distances are clipped to max_distance - 1 first, as in microsoft/DeBERTa since March 2023. With "
        "clip=false they read row 0, as in its code of 2021 and in huggingface/transformers. Keys as far before "
        "the query read the last row in both. Rows of P for distances beyond the trained length stay untrained, "
        "as most of the default 512 are here. Absolute positions before the output layer (\"enhanced mask "
        "decoder\") belong to masked language models and are left out.",
    .learned = true,
    .takes_positions = TakesPositions::distances,
    .extrapolates = {Extrapolation::no, "but yes where size is no more than the trained length"},
    .relative = Relative::yes,
    .content_dependent = "query and key",
    .kernel = Kernel::score_modifier,
    .variants = {"norm=true,shared_projections=true", "size=2", "size=3,third=paper", "size=4,max_distance=6",
                 "size=6,max_distance=16,norm=true,third=paper", "size=4,max_distance=6,clip=false"},
};

enum class PositionToContent { code, paper };

class Deberta final : public PositionEncoding {
 public:
  struct Options {
    int size = 512, max_distance = 0;
    PositionToContent third = PositionToContent::code;
    bool clip = true, shared_projections = false, norm = false;
    void describe(OptionTable& o) {
      o.integer("size", size, 1, 1 << 16, "k: distances beyond it share a vector");
      o.integer("max_distance", max_distance, 0, 1 << 20,
                "end of the logarithmic buckets, which start at k / 2; 0: no such buckets");
      o.flag("clip", clip, "clip distances to max_distance - 1 before they become logarithmic buckets");
      o.choice("third", third, {"code", "paper"}, "the position-to-content term reads P at i - j, or at j - i");
      o.flag("shared_projections", shared_projections, "the projections of content also project P");
      o.flag("norm", norm, "layer normalization of P");
    }
  };

  Deberta(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), options_(options) {
    if (options.max_distance > 0 && (options.size < 4 || options.max_distance <= options.size / 2 + 1)) {
      throw InputError(fmt::format(
          "encoding 'deberta': logarithmic buckets need a size of at least 4 and a max_distance beyond "
          "size / 2 + 1; size is {} and max_distance {}",
          options.size, options.max_distance));
    }
    require_use("deberta", "clip", options.clip, true, options.max_distance > 0, "max_distance=0");
    const Index C = config.width;
    constexpr double kDeviation = 0.02;
    table_ = layout.no_decay(layout.normal("deberta.table", 2 * options.size, C, kDeviation));
    if (options.norm) {
      gain_ = layout.constant("deberta.norm.weight", 1, C, 1);
      shift_ = layout.constant("deberta.norm.bias", 1, C, 0);
    }
    for (int layer = 0; layer < config.layers; ++layer) {
      if (options.shared_projections) {
        const std::string qkv = fmt::format("blocks.{}.attention.qkv", config.layer_of_attention(layer));
        const Parameter weight = layout.expect(qkv + ".weight", C, 3 * C);
        const Parameter bias = layout.expect(qkv + ".bias", 1, 3 * C);
        keys_.push_back({weight, bias, C});
        queries_.push_back({weight, bias, 0});
      } else {
        keys_.push_back({layout.normal(fmt::format("deberta.key.{}", layer), C, C, kDeviation), {}, 0});
        const Parameter query = layout.normal(fmt::format("deberta.query.{}", layer), C, C, kDeviation);
        queries_.push_back({query, layout.constant(fmt::format("deberta.query_bias.{}", layer), 1, C, 0), 0});
      }
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Real s = score_scale();
    content(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      add_row_products(in.q[h], content_to_position(in, h), {Side::query, s}, scores[h]);
      add_row_products(in.k[h], position_to_content(in, h), {Side::key, s}, scores[h]);
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Real s = score_scale();
    for (size_t h = 0; h < d_scores.size(); ++h) {
      dot_product_backward(in.q[h], in.k[h], s, config_.causal, d_scores[h], d.q[h], d.k[h]);
      add_row_products_backward(in.q[h], content_to_position(in, h), {Side::query, s}, d_scores[h], d.q[h],
                                of_head(d.tables[key_rows(in.layer)], h));
      add_row_products_backward(in.k[h], position_to_content(in, h), {Side::key, s}, d_scores[h], d.k[h],
                                of_head(d.tables[query_rows(in.layer)], h));
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    for (size_t h = 0; h < content.size(); ++h)
      dot_product(in.q[h], in.k[h], score_scale(), config_.causal, content[h]);
  }

  /// The values are P W_K and P W_Q + b for each layer, (N, C), where N is the number of rows of P that are read.
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    BucketRows& bucket_rows = tables.constants<BucketRows>();
    find_bucket_rows({options_.size, options_.max_distance, options_.clip}, positions, config_.causal,
                     options_.third == PositionToContent::paper, bucket_rows);
    const NormalizedRows rows = read_table(p, bucket_rows);
    resize(tables.values, 2 * config_.layers, bucket_rows.num_rows, config_.width);
    for (int layer = 0; layer < config_.layers; ++layer) {
      const size_t n = static_cast<size_t>(layer);
      project(p, keys_[n], rows.y, tables.values[key_rows(layer)]);
      project(p, queries_[n], rows.y, tables.values[query_rows(layer)]);
    }
  }
  void tables_backward(const Parameters& p, const Positions&, const Tables& tables, const Matrices& d_tables,
                       Gradients& d) const override {
    const BucketRows& bucket_rows = tables.constants<BucketRows>();
    const NormalizedRows rows = read_table(p, bucket_rows);
    Matrix d_rows(bucket_rows.num_rows, config_.width);
    d_rows.setZero();
    for (int layer = 0; layer < config_.layers; ++layer) {
      const size_t n = static_cast<size_t>(layer);
      project_backward(p, keys_[n], rows.y, d_tables[key_rows(layer)], d_rows, d);
      project_backward(p, queries_[n], rows.y, d_tables[query_rows(layer)], d_rows, d);
    }
    auto d_table = d[table_].middleRows(bucket_rows.first_row, bucket_rows.num_rows);
    if (options_.norm) {
      layer_norm_backward(p[gain_], rows.normalized, rows.rstd, d_rows, d_table, d[gain_], d[shift_]);
    } else {
      d_table += d_rows;
    }
  }

 private:
  /// The projection of P to keys or queries: C columns of a weight and of a bias. With shared projections these
  /// are columns of the projection of content to q, k and v.
  struct Projection {
    Parameter weight, bias;  // (C, C) or (C, 3C), and (1, C), (1, 3C) or empty
    Index first_column;
  };
  /// The rows of P that are read, y (N, C), and the intermediate values of their normalization.
  struct NormalizedRows {
    Matrix y, normalized, rstd;
  };

  Real score_scale() const { return 1 / std::sqrt(static_cast<Real>(3 * config_.head_width())); }
  static size_t key_rows(int layer) { return 2 * static_cast<size_t>(layer); }
  static size_t query_rows(int layer) { return key_rows(layer) + 1; }

  In of_head(const Matrix& rows, size_t h) const {
    return rows.middleCols(static_cast<Index>(h) * config_.head_width(), config_.head_width());
  }
  Out of_head(Matrix& rows, size_t h) const {
    return rows.middleCols(static_cast<Index>(h) * config_.head_width(), config_.head_width());
  }
  PairVectors content_to_position(const AttentionInput& in, size_t h) const {
    const BucketRows& rows = in.tables.constants<BucketRows>();
    return {of_head(in.tables.values[key_rows(in.layer)], h), rows.pairs, config_.causal, in.scratch};
  }
  PairVectors position_to_content(const AttentionInput& in, size_t h) const {
    const BucketRows& rows = in.tables.constants<BucketRows>();
    return {of_head(in.tables.values[query_rows(in.layer)], h),
            options_.third == PositionToContent::code ? rows.pairs : rows.opposite, config_.causal, in.scratch};
  }

  void project(const Parameters& p, const Projection& projection, const Matrix& rows, Matrix& y) const {
    const auto& [weight, bias, first] = projection;
    const Index C = config_.width;
    linear(rows, p[weight].middleCols(first, C), p[bias].middleCols(first, std::min(C, bias.cols)), y);
  }
  void project_backward(const Parameters& p, const Projection& projection, const Matrix& rows, const Matrix& d_y,
                        Matrix& d_rows, Gradients& d) const {
    const auto& [weight, bias, first] = projection;
    const Index C = config_.width;
    linear_backward(rows, p[weight].middleCols(first, C), d_y, d_rows, d[weight].middleCols(first, C),
                    d[bias].middleCols(first, std::min(C, bias.cols)));
  }

  NormalizedRows read_table(const Parameters& p, const BucketRows& rows) const {
    const auto table = p[table_].middleRows(rows.first_row, rows.num_rows);
    NormalizedRows result;
    result.y.resize(rows.num_rows, config_.width);
    if (options_.norm) {
      result.normalized.resize(rows.num_rows, config_.width);
      result.rstd.resize(rows.num_rows, 1);
      layer_norm(table, p[gain_], p[shift_], result.normalized, result.rstd, result.y);
    } else {
      result.y = table;
    }
    return result;
  }

  Options options_;
  Parameter table_, gain_, shift_;          // P (2k, C), (1, C), (1, C)
  std::vector<Projection> keys_, queries_;  // for each layer
};

const RegisterEncoding<Deberta> registered{kInfo};

}  // namespace
}  // namespace posbench::deberta
