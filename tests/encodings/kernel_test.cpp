// Tests that the kernel which an encoding states is one that can compute its attention.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "model/attention.h"
#include "model/attention_layer.h"
#include "model/hidden.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"
// After the macros of model/tensor.h.
#include <Eigen/SVD>

using namespace posbench;

namespace {

constexpr Index kTokens = 40;
constexpr double kNothing = 1e-9;

/// One attention layer whose queries, keys, values and input are drawn separately.
struct Stages {
  explicit Stages(const Spec& spec)
      : f([&](const ModelConfig& c, ParameterLayout& layout) { return make_encoding(spec, c, layout); },
          fitted(spec, long_config()), kTokens, /*seed=*/7) {
    f.forward();
    const AttentionActivations& first = f.workspace.activations.blocks[0].attention;
    state = first.recurrent_state;
    x = first.input;
    q = first.q, k = first.k, v = first.v;
    Rng rng = make_rng(7, "kernel");
    for (Heads* heads : {&q, &k, &v}) {
      for (Matrix& head : *heads) fill_normal(rng, 1, head);
    }
    f.encoding->tables(f.parameters, f.sequence.positions, tables);
    compute();
  }

  static ModelConfig long_config() {
    ModelConfig config = small_config(2, true, true);
    config.trained_length = config.longest = kTokens;
    return config;
  }

  void compute() {
    const Index H = static_cast<Index>(q.size());
    resize(scores, H, kTokens, kTokens);
    resize(attention, H, kTokens, kTokens);
    resize(output, H, kTokens, q[0].cols());
    Scratch scratch;
    const AttentionInput in{f.sequence, f.parameters, tables, state, 0, x, q, k, v, scratch};
    attend(*f.encoding, in, scores, attention, output);
  }

  /// Returns true if the score of the pair does not change when queries and keys of other tokens and heads do.
  bool is_local(Index i, Index j) {
    const Heads all_q = q, all_k = k;
    const Heads before = scores;
    bool is_same = true;
    for (size_t h = 0; h < all_q.size(); ++h) {
      Rng rng = make_rng(8, "kernel");
      for (Heads* heads : {&q, &k}) {
        for (Matrix& head : *heads) fill_normal(rng, 1, head);
      }
      q[h].row(i) = all_q[h].row(i);
      k[h].row(j) = all_k[h].row(j);
      compute();
      const double score = before[h](i, j), change = std::abs(scores[h](i, j) - score);
      is_same = is_same && (is_hidden(score) || change <= kNothing * (1 + std::abs(score)));
    }
    q = all_q, k = all_k;
    compute();
    return is_same;
  }

  /// Returns true if the attention is the softmax of the scores.
  bool is_softmax() const {
    for (size_t h = 0; h < scores.size(); ++h) {
      Matrix expected(kTokens, kTokens);
      softmax(scores[h], true, expected);
      for (Index i = 0; i < kTokens; ++i) {
        if ((expected.row(i).head(i + 1) - attention[h].row(i).head(i + 1)).norm() > kNothing) return false;
      }
    }
    return true;
  }

  /// Returns the rank of the scores of late queries and early keys of a head.
  Index rank(size_t h) const {
    constexpr Index kHalf = kTokens / 2;
    const EigenMatrix block = scores[h].block(kHalf, 0, kHalf, kHalf);
    const Eigen::JacobiSVD<EigenMatrix> svd(block);
    const auto& values = svd.singularValues();
    return (values.array() > kNothing * values(0)).count();
  }

  /// Returns the largest difference of q k / sqrt(D) + bias from scores, with the bias of each distance taken from
  /// the last pair that has it.
  double error_of_bias() const {
    double error = 0;
    const double scale = 1 / std::sqrt(static_cast<double>(q[0].cols()));
    const Positions& p = f.sequence.positions;
    for (size_t h = 0; h < scores.size(); ++h) {
      const EigenMatrix product = scale * q[h] * k[h].transpose();
      std::map<Real, double> bias;
      for (Index i = 0; i < kTokens; ++i) {
        for (Index j = 0; j <= i; ++j) {
          if (is_hidden(scores[h](i, j))) continue;
          const double rest = scores[h](i, j) - product(i, j);
          const auto [known, is_new] = bias.emplace(p.distance(i, j), rest);
          if (!is_new) error = std::max(error, std::abs(known->second - rest));
        }
      }
    }
    return error;
  }

  Fixture f;
  Tables tables;
  Matrices state;
  Matrix x;
  Heads q, k, v, scores, attention, output;
};

/// Returns the rank of the maps from values of early tokens to outputs of late ones in a head, each divided by its
/// weight. It is that of one map if each map is a product of a matrix of the query and one of the key.
Index rank_of_values(Stages& s, size_t h) {
  constexpr Index kPlaces = 4, kLate = 30, kEarly = 3;
  const Index D = s.v[0].cols();
  for (Heads* heads : {&s.q, &s.k}) {
    for (Matrix& head : *heads) head *= 0.1;  // so that no weight is tiny
  }
  s.compute();
  const EigenMatrix before = s.output[h], weights = s.attention[h];
  EigenMatrix maps(kPlaces * D, kPlaces * D);
  for (Index j = 0; j < kPlaces; ++j) {
    for (Index d = 0; d < D; ++d) {
      for (Matrix& head : s.v) head(kEarly + j, d) += 1;
      s.compute();
      for (Matrix& head : s.v) head(kEarly + j, d) -= 1;
      for (Index i = 0; i < kPlaces; ++i) {
        const Index query = kLate + i;
        maps.col(j * D + d).segment(i * D, D) =
            (s.output[h].row(query) - before.row(query)).transpose() / weights(query, kEarly + j);
      }
    }
  }
  const Eigen::JacobiSVD<EigenMatrix> svd(maps);
  return (svd.singularValues().array() > 1e-6 * svd.singularValues()(0)).count();
}

/// Returns true if the output is the sum of values with the attention as weights.
bool is_weighted_sum(const Stages& s) {
  for (size_t h = 0; h < s.output.size(); ++h) {
    EigenMatrix weights = s.attention[h];
    for (Index i = 0; i < kTokens; ++i) weights.row(i).tail(kTokens - 1 - i).setZero();
    if ((weights * s.v[h] - s.output[h]).norm() > kNothing * (1 + s.output[h].norm())) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("an encoding for any kernel has scores that are products of a vector of the query and one of the key") {
  for (const std::string& text : all_specs()) {
    const Spec spec = Spec::parse(text);
    if (kernel_of(spec) != Kernel::any) continue;
    INFO(text);
    Stages s(spec);
    CHECK(s.is_softmax());
    for (size_t h = 0; h < s.scores.size(); ++h) {
      CHECK(s.rank(h) <= 2 * s.q[0].cols());
      CHECK(rank_of_values(s, h) <= s.v[0].cols());
    }
  }
}

TEST_CASE("an encoding whose kernel adds a bias has plain scores and a number for each distance") {
  for (const std::string& text : all_specs()) {
    const Spec spec = Spec::parse(text);
    if (kernel_of(spec) != Kernel::bias || encodings().find(spec.name).members(spec).size() > 1) continue;
    INFO(text);
    Stages s(spec);
    CHECK(s.is_softmax());
    CHECK(is_weighted_sum(s));
    if (spec.name != "ssmax") CHECK(s.error_of_bias() < kNothing);  // it multiplies the biases of each query
    CHECK(s.rank(0) != s.q[0].cols());
  }
}

TEST_CASE("an encoding whose kernel modifies scores reads no other queries and keys, and all others do") {
  // The scores of these are local too. They need several products, gates of channels, or a sum or a product of
  // matrices for each pair, and tape mixes positions by the attention.
  const std::set<std::string> local{"tapa", "wall", "grape_ap", "remapped", "path", "path_fox", "tape"};
  for (const std::string& text : all_specs()) {
    const Spec spec = Spec::parse(text);
    const Kernel kernel = kernel_of(spec);
    if (kernel == Kernel::any || kernel == Kernel::bias) continue;
    if (encodings().find(spec.name).members(spec).size() > 1) continue;  // one head or layer decides
    INFO(text);
    Stages s(spec);
    const bool is_modifier = s.is_softmax() && is_weighted_sum(s) && s.is_local(30, 11) && s.is_local(30, 28);
    CHECK(is_modifier == (kernel == Kernel::score_modifier || local.contains(spec.name)));
  }
}

TEST_CASE("a wrapper and a preset need the kernel of those that they wrap, or more") {
  CHECK(kernel_of(Spec::parse("randomized:base=alibi")) == Kernel::bias);
  CHECK(kernel_of(Spec::parse("entmax:base=rope")) == Kernel::own);
  CHECK(kernel_of(Spec::parse("sum:of=(cope,rope)")) == Kernel::own);
  CHECK(kernel_of(Spec::parse("layers:of=(rope,alibi)")) == Kernel::bias);
  CHECK(kernel_of(Spec::parse("smollm3")) == Kernel::any);
  CHECK(cached_values(Spec::parse("layers:of=(fox,fox)")) == "H sums of logarithms of gates");
  CHECK(cached_values(Spec::parse("rope")) == "-");
}
