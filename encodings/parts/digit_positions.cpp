#include "encodings/parts/digit_positions.h"

#include <cmath>
#include <string>

namespace posbench {

DigitPositions::DigitPositions(const std::string& name, Moved moved, const Options& options,
                               const ModelConfig& config, ParameterLayout& layout)
    : PositionEncoding(config),
      moved_(moved),
      max_offset_(options.max_offset),
      table_(layout.no_decay(
          layout.normal(name + ".table", options.rows, config.width, 1 / std::sqrt(config.width)))) {}

Positions DigitPositions::positions(const Sequence& s, Rng& rng) const {
  const int offset = s.training ? uniform(rng, 0, max_offset_) : 0;
  Positions positions;
  positions.at.resize(s.tokens.size());
  for (size_t t = 0; t < s.tokens.size(); ++t) {
    const int digit = s.digit_positions.empty() ? 0 : s.digit_positions[t];
    positions.at[t] = static_cast<Real>(digit > 0 || moved_ == Moved::all ? digit + offset : 0);
  }
  return positions;
}

void DigitPositions::embed(const Sequence& s, const Parameters& p, const Tables&, Matrix& x, Matrices&) const {
  const auto table = p[table_];
  for (Index t = 0; t < x.rows(); ++t) x.row(t) += table.row(row(s, t));
}

void DigitPositions::embed_backward(const Sequence& s, const Parameters&, const Tables&, const Matrix&,
                                    const Matrices&, Matrix& d_x, Matrices&, Gradients& d) const {
  auto d_table = d[table_];
  for (Index t = 0; t < d_x.rows(); ++t) d_table.row(row(s, t)) += d_x.row(t);
}

}  // namespace posbench
