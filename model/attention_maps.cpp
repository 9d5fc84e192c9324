// Computes the maps of an attention layer that `inspect` plots.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/attention.h"
#include "model/attention_layer.h"
#include "model/hidden.h"
#include "model/product.h"
#include "model/token_convolution.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr double kRounding = 1e-4;  // of a float's sums, relative

Heads& operator+=(Heads& a, const Heads& b) {
  for (size_t h = 0; h < a.size(); ++h) a[h] += b[h];
  return a;
}
Heads operator-(Heads a, const Heads& b) {
  for (size_t h = 0; h < a.size(); ++h) a[h] -= b[h];
  return a;
}
Heads operator*(Real factor, Heads a) {
  for (Matrix& head : a) head *= factor;
  return a;
}

/// The terms by the part of the query, then by the part of the key.
struct FourTerms {
  Heads content_content, content_position, position_content, position_position;
};

/// Computes scores of the layer for other queries and keys.
class Scores {
 public:
  Scores(const PositionEncoding& encoding, const AttentionInput& in) : encoding_(encoding), in_(in) {}

  Heads operator()(const Heads& q, const Heads& k) const {
    Heads result;
    resize(result, static_cast<Index>(q.size()), in_.length(), in_.length());
    const AttentionInput in{in_.sequence, in_.parameters, in_.tables, in_.recurrent_state, in_.layer, in_.x, q, k,
                            in_.v,        in_.scratch};
    StageCall(encoding_, in)->score(in, result);
    return result;
  }

 private:
  const PositionEncoding& encoding_;
  const AttentionInput& in_;
};

/// Calls f(h, i, j) for every pair that the encoding does not hide.
template <class F>
void for_each_visible(const Heads& scores, bool causal, F f) {
  for (size_t h = 0; h < scores.size(); ++h) {
    const Index T = scores[h].rows();
    for (Index i = 0; i < T; ++i) {
      for (Index j = 0; j < num_visible_keys(i, T, causal); ++j)
        if (!is_hidden(scores[h](i, j))) f(h, i, j);
    }
  }
}

double largest(const Heads& values, const Heads& scores, bool causal) {
  double largest = 0;
  for_each_visible(scores, causal, [&](size_t h, Index i, Index j) {
    const double value = std::abs(values[h](i, j));
    if (!(value <= largest)) largest = value;  // also if it is not a number
  });
  return largest;
}

/// Returns the terms of `scores`, those of in.q and in.k, if they are a sum of products of a part of the query, or
/// of nothing, with a part of the key, or of nothing. Terms that the encoding adds without content belong to
/// position.
FourTerms compute_terms(const Scores& score, const Heads& scores, const QueryKeyParts& parts) {
  const Heads zero = Real(0) * parts.content_q;
  const Heads neither = score(zero, zero), query = score(parts.content_q, zero),
              key = score(zero, parts.content_k);
  if (!parts.has_positions) return {scores - (query - neither) - key, query - neither, key - neither, neither};
  return {score(parts.content_q, parts.content_k) - (query - neither) - key,
          score(parts.content_q, parts.position_k) - score(zero, parts.position_k),
          score(parts.position_q, parts.content_k) - score(parts.position_q, zero),
          score(parts.position_q, parts.position_k)};
}

/// Returns the four terms of scores that are bilinear in (content, position) of the query and (content, position)
/// of the key. Returns nothing if scores are not bilinear, or if no term depends on content and position: then
/// "positional part" has everything.
std::vector<AttentionMap> four_terms(const Scores& score, const AttentionInput& in, const Heads& scores,
                                     const QueryKeyParts& parts, bool causal) {
  FourTerms terms = compute_terms(score, scores, parts);
  Heads error;  // the difference of a score from the one that is expected of bilinear scores
  if (parts.has_positions) {
    error = Real(1) * terms.content_content;
    error += terms.content_position;
    error += terms.position_content;
    error += terms.position_position;
    error = error - scores;
  } else {
    error = score(Real(2) * in.q, in.k) - scores - (scores - score(Real(0) * in.q, in.k));
  }
  const double rounding = kRounding * (1 + largest(scores, scores, causal));
  const bool is_bilinear = largest(error, scores, causal) <= rounding;
  const double crossed =
      std::max(largest(terms.content_position, scores, causal), largest(terms.position_content, scores, causal));
  if (!is_bilinear || crossed <= rounding) return {};
  const AttentionMap::Kind kind =
      parts.has_positions ? AttentionMap::Kind::position_position : AttentionMap::Kind::other;
  std::vector<AttentionMap> maps{{"content-content", std::move(terms.content_content)},
                                 {"content-position", std::move(terms.content_position)},
                                 {"position-content", std::move(terms.position_content)},
                                 {"position-position", std::move(terms.position_position), kind}};
  for (AttentionMap& map : maps) {
    for (size_t h = 0; h < scores.size(); ++h)
      map.values[h].array() = (scores[h].array() == kHidden).select(kHidden, map.values[h].array());
  }
  return maps;
}

}  // namespace

QueryKeyParts AttentionLayer::split_parts(const Parameters& p, const AttentionActivations& a,
                                          const Matrix& input_positions) const {
  QueryKeyParts parts{.content_q = a.q, .content_k = a.k, .has_positions = input_positions.size() > 0};
  if (!parts.has_positions) return parts;
  const Index C = config_.width, D = config_.head_width();
  Matrix qkv(input_positions.rows(), 3 * C);
  multiply(input_positions, p[qkv_.weight], qkv);
  Matrix unmixed;
  if (convolution_) residual_convolution(p[*convolution_], qkv, unmixed);
  for (size_t h = 0; h < a.q.size(); ++h) {
    const Index column = static_cast<Index>(h) * D;
    Matrix q(qkv.middleCols(column, D)), k(qkv.middleCols(C + column, D));
    if (config_.qk_norm) {
      norm_summand(p, q_norm_, a.q_norm[h], q);
      norm_summand(p, k_norm_, a.k_norm[h], k);
    }
    parts.position_q.push_back(std::move(q));
    parts.position_k.push_back(std::move(k));
  }
  shift_keys(parts.position_k);
  for (size_t h = 0; h < a.q.size(); ++h) {
    parts.content_q[h] -= parts.position_q[h];
    parts.content_k[h] -= parts.position_k[h];
  }
  return parts;
}

std::vector<AttentionMap> AttentionLayer::inspect(const SequenceInput& s, const Matrix& input_positions,
                                                  AttentionActivations& a, AttentionWorkspace& workspace) const {
  const AttentionInput in = input(s, a, workspace.scratch);
  Heads content;
  resize(content, config_.heads, in.length(), in.length());
  encoding_.content(in, content);
  workspace.scratch.release();
  const Scores score(encoding_, in);
  Heads scores = score(in.q, in.k), positional = scores - content;
  std::vector<AttentionMap> terms =
      four_terms(score, in, scores, split_parts(s.parameters, a, input_positions), config_.causal);
  for (AttentionMap& term : terms) adjustment_.scale(term.values);
  adjustment_.scale(content);
  adjustment_.scale(positional);
  adjustment_.apply(scores);
  using Kind = AttentionMap::Kind;
  std::vector<AttentionMap> maps{{"score", std::move(scores), Kind::score},
                                 {"content", std::move(content), Kind::content},
                                 {"positional part", std::move(positional), Kind::positional_part},
                                 {"attention", a.attention, Kind::attention}};
  for (AttentionMap& map : encoding_.inspect(in)) maps.push_back(std::move(map));
  for (AttentionMap& map : terms) maps.push_back(std::move(map));
  workspace.scratch.release();
  return maps;
}

}  // namespace posbench::inline POSBENCH_REAL
