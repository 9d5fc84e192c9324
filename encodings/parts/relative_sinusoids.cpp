#include "encodings/parts/relative_sinusoids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encodings/parts/distances.h"
#include "encodings/parts/relative_rows.h"
#include "model/attention.h"
#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

struct Constants {
  PairRows pairs;    // for each pair, the index of its distance
  Matrix sinusoids;  // S (N, C) of the N distances that occur
};

}  // namespace

RelativeSinusoids::RelativeSinusoids(SinusoidConventions conventions, const ModelConfig& config,
                                     ParameterLayout& layout)
    : PositionEncoding(config), conventions_(std::move(conventions)) {
  const std::string& name = conventions_.name;
  const Index C = config.width, H = config.heads, D = config.head_width();
  if (C % 2 != 0) {
    throw InputError(
        fmt::format("encoding '{}' pairs sines with cosines: width must be even, and is {}", name, C));
  }
  const double deviation = conventions_.xavier ? 0 : 0.02, bound = std::sqrt(3.0 / static_cast<double>(C));
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::string suffix = fmt::format(".{}", layer), pair = conventions_.untied ? suffix : "";
    if (layer == 0 || conventions_.untied) {
      content_.push_back(layout.no_decay(layout.normal(name + ".u" + pair, H, D, deviation)));
      position_.push_back(layout.no_decay(layout.normal(name + ".w" + pair, H, D, deviation)));
    }
    projection_.push_back(conventions_.xavier ? layout.uniform(name + ".projection" + suffix, C, C, -bound, bound)
                                              : layout.normal(name + ".projection" + suffix, C, C, 0.02));
    if (conventions_.learned_scale) {
      scales_.push_back(layout.constant(name + ".scale" + suffix, 1, 1, 1 / std::sqrt(static_cast<double>(D))));
    }
  }
}

void RelativeSinusoids::tables(const Parameters& p, const Positions& positions, Tables& tables) const {
  const Index C = config_.width, pairs = C / 2;
  Constants& constants = tables.constants<Constants>();
  Matrix distances;
  distinct_distances(positions, config_.causal, distances, constants.pairs.index);
  classify_tiles(constants.pairs);
  const Index N = distances.cols();
  Matrix& sinusoids = constants.sinusoids;
  sinusoids.resize(N, C);
  for (Index m = 0; m < pairs; ++m) {
    const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(m) / static_cast<double>(C));
    const Index sine = conventions_.interleaved ? 2 * m : m,
                cosine = conventions_.interleaved ? 2 * m + 1 : pairs + m;
    for (Index n = 0; n < N; ++n) {
      double argument = static_cast<double>(distances(0, n));
      if (conventions_.argument == SinusoidArgument::key_minus_query) argument = -argument;
      if (conventions_.argument == SinusoidArgument::absolute) argument = std::abs(argument);
      if (conventions_.clamp > 0) {
        argument = std::clamp(argument, -double{1} * conventions_.clamp, double{1} * conventions_.clamp);
      }
      sinusoids(n, sine) = static_cast<Real>(std::sin(argument * frequency));
      sinusoids(n, cosine) = static_cast<Real>(std::cos(argument * frequency));
    }
  }
  tables.values.resize(projection_.size());
  for (size_t layer = 0; layer < projection_.size(); ++layer) {
    tables.values[layer].resize(N, C);
    multiply(sinusoids, p[projection_[layer]], tables.values[layer]);
  }
}

void RelativeSinusoids::tables_backward(const Parameters&, const Positions&, const Tables& tables,
                                        const Matrices& d_projected, Gradients& d) const {
  const Matrix& sinusoids = tables.constants<Constants>().sinusoids;
  for (size_t layer = 0; layer < projection_.size(); ++layer) {
    multiply_add(sinusoids.transpose(), d_projected[layer], d[projection_[layer]]);
  }
}

Matrix& RelativeSinusoids::shifted(const AttentionInput& in, const std::vector<Parameter>& bias, size_t h) const {
  Matrix& shifted = in.scratch(in.length(), config_.head_width());
  shifted = in.q[h];
  shifted.rowwise() += in.parameters[of_layer(bias, in.layer)].row(static_cast<Index>(h));
  return shifted;
}

Real RelativeSinusoids::score_scale(const AttentionInput& in) const {
  return conventions_.learned_scale ? in.parameters[scales_[in.layer]](0, 0) : scale();
}

void RelativeSinusoids::content(const AttentionInput& in, Heads& content) const {
  for (size_t h = 0; h < content.size(); ++h)
    dot_product(in.q[h], in.k[h], score_scale(in), config_.causal, content[h]);
}

void RelativeSinusoids::score(const AttentionInput& in, Heads& scores) const {
  const Index D = config_.head_width();
  const Real s = score_scale(in);
  const Matrix& projected = in.tables.values[in.layer];
  const PairRows& pairs = in.tables.constants<Constants>().pairs;
  for (size_t h = 0; h < scores.size(); ++h) {
    dot_product(shifted(in, content_, h), in.k[h], s, config_.causal, scores[h]);
    const PairVectors vectors{projected.middleCols(static_cast<Index>(h) * D, D), pairs, config_.causal,
                              in.scratch};
    add_row_products(shifted(in, position_, h), vectors, {Side::query, s}, scores[h]);
  }
}

void RelativeSinusoids::score_backward(const AttentionInput& in, const Heads& d_scores,
                                       AttentionGradient& d) const {
  const Index T = in.length(), D = config_.head_width();
  const Real s = score_scale(in);
  const Matrix& projected = in.tables.values[in.layer];
  const PairRows& pairs = in.tables.constants<Constants>().pairs;
  Matrix& d_projected = d.tables[in.layer];
  auto d_u = d.parameters[of_layer(content_, in.layer)], d_w = d.parameters[of_layer(position_, in.layer)];
  for (size_t h = 0; h < d_scores.size(); ++h) {
    const Index column = static_cast<Index>(h) * D, row = static_cast<Index>(h);
    const Matrix &content = shifted(in, content_, h), &position = shifted(in, position_, h);
    Matrix &d_content = in.scratch(T, D), &d_position = in.scratch(T, D);
    d_content.setZero();
    d_position.setZero();
    dot_product_backward(content, in.k[h], s, config_.causal, d_scores[h], d_content, d.k[h]);
    const PairVectors vectors{projected.middleCols(column, D), pairs, config_.causal, in.scratch};
    add_row_products_backward(position, vectors, {Side::query, s}, d_scores[h], d_position,
                              d_projected.middleCols(column, D));
    d.q[h] += d_content + d_position;
    add_column_sums(d_content, d_u.row(row));
    add_column_sums(d_position, d_w.row(row));
    if (conventions_.learned_scale) {  // scores are linear in content and position, so the sums are s d_s
      d.parameters[scales_[in.layer]](0, 0) += (dot(content, d_content) + dot(position, d_position)) / s;
    }
  }
}

}  // namespace posbench::inline POSBENCH_REAL
