#include "encodings/parts/bilevel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Calls f(t, inter, intra) for each token t, with the number of segments before its segment and the number of
/// tokens before it in its segment.
template <class F>
void for_each_position(const std::vector<int>& segments, F f) {
  int inter = 0, intra = 0;
  for (size_t t = 0; t < segments.size(); ++t) {
    const bool first = t > 0 && segments[t] != segments[t - 1];
    inter += first;
    intra = t == 0 || first ? 0 : intra + 1;
    f(static_cast<Index>(t), inter, intra);
  }
}

}  // namespace

Bilevel::Bilevel(const std::string& name, int rows, double stride, const Spec& inner, const ModelConfig& config,
                 ParameterLayout& layout)
    : Decorator(config, make_encoding(inner, config, layout)),
      stride_(stride),
      intra_(layout.no_decay(layout.normal(name + ".intra", rows, config.width, 1 / std::sqrt(config.width)))) {}

Positions Bilevel::positions(const Sequence& s, Rng& rng) const {
  Positions positions = inner().positions(s, rng);
  for_each_position(s.segments,
                    [&](Index t, int inter, int) { positions.at[t] = static_cast<Real>(stride_ * inter); });
  return positions;
}

void Bilevel::embed(const Sequence& s, const Parameters& p, const Tables& tables, Matrix& x,
                    Matrices& recurrent_state) const {
  const auto table = p[intra_];
  for_each_position(s.segments, [&](Index t, int, int intra) {
    x.row(t) += table.row(std::min<Index>(intra, table.rows() - 1));
  });
  inner().embed(s, p, tables, x, recurrent_state);
}

void Bilevel::embed_backward(const Sequence& s, const Parameters& p, const Tables& tables, const Matrix& x,
                             const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables,
                             Gradients& d) const {
  inner().embed_backward(s, p, tables, x, d_recurrent_state, d_x, d_tables, d);
  auto d_table = d[intra_];
  for_each_position(s.segments, [&](Index t, int, int intra) {
    d_table.row(std::min<Index>(intra, d_table.rows() - 1)) += d_x.row(t);
  });
}

}  // namespace posbench::inline POSBENCH_REAL
