// Computes the maps of an attention layer that `inspect` plots.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/attention_layer.h"
#include "model/hidden.h"

namespace posbench {
namespace {

/// Returns the four terms of scores that are bilinear in (content, position) of the query and (content, position)
/// of the key. They are found by setting q, k or both to zero. Returns nothing if scores are not bilinear, or if
/// no term depends on content and position: then "positional part" has everything.
std::vector<AttentionMap> four_terms(const AttentionStages& stages, const AttentionInput& in,
                                     const Heads& scores) {
  Heads zero_q = in.q, zero_k = in.k, double_q = in.q;
  for (Matrix& q : zero_q) q.setZero();
  for (Matrix& k : zero_k) k.setZero();
  for (Matrix& q : double_q) q *= 2;
  const auto score = [&](const Heads& q, const Heads& k) {
    Heads result(scores);
    stages.score(
        {in.sequence, in.parameters, in.tables, in.recurrent_state, in.layer, in.x, q, k, in.v, in.scratch},
        result);
    return result;
  };
  const Heads without_q = score(zero_q, in.k), without_k = score(in.q, zero_k), neither = score(zero_q, zero_k),
              doubled = score(double_q, in.k);
  std::vector<AttentionMap> terms{{"content-content", scores},
                                  {"content-position", without_k},
                                  {"position-content", without_q},
                                  {"position-position", neither}};
  double crossed = 0, wrong = 0, largest = 0;
  for (size_t h = 0; h < scores.size(); ++h) {
    terms[1].values[h] -= neither[h];
    terms[2].values[h] -= neither[h];
    terms[0].values[h] -= terms[1].values[h] + without_q[h];
    for (Index i = 0; i < in.length(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        if (is_hidden(scores[h](i, j))) continue;
        crossed =
            std::max<double>({crossed, std::abs(terms[1].values[h](i, j)), std::abs(terms[2].values[h](i, j))});
        const double expected = 2 * scores[h](i, j) - without_q[h](i, j);
        wrong = std::max<double>(wrong, std::abs(doubled[h](i, j) - expected));
        largest = std::max<double>(largest, std::abs(scores[h](i, j)));
      }
    }
  }
  constexpr double kRounding = 1e-4;  // of a float's sums, relative
  const bool bilinear = std::isfinite(wrong) && wrong <= kRounding * (1 + largest);
  return bilinear && crossed > kRounding * (1 + largest) ? terms : std::vector<AttentionMap>{};
}

}  // namespace

std::vector<AttentionMap> AttentionLayer::inspect(const SequenceInput& s, AttentionActivations& a,
                                                  AttentionWorkspace& workspace) const {
  const AttentionInput in = input(s, a, workspace.scratch);
  Heads scores, positional;
  resize(scores, config_.heads, in.length(), in.length());
  resize(positional, config_.heads, in.length(), in.length());
  stages_.score(in, scores);
  stages_.encoding().PositionEncoding::score(in, positional);
  for (size_t h = 0; h < positional.size(); ++h) positional[h] = scores[h] - positional[h];
  adjustment_.apply(scores);
  using Kind = AttentionMap::Kind;
  std::vector<AttentionMap> maps{{"score", scores, Kind::score},
                                 {"positional part", positional, Kind::positional_part},
                                 {"attention", a.attention, Kind::attention}};
  for (AttentionMap& map : stages_.encoding().inspect(in)) maps.push_back(std::move(map));
  for (AttentionMap& map : four_terms(stages_, in, scores)) maps.push_back(std::move(map));
  workspace.scratch.release();
  return maps;
}

}  // namespace posbench
