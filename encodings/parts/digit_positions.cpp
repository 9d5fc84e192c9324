#include "encodings/parts/digit_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace posbench::inline POSBENCH_REAL {

DigitPositions::DigitPositions(const Reading& reading, const Options& options, const ModelConfig& config,
                               ParameterLayout& layout)
    : PositionEncoding(config),
      digits_(reading.digits),
      reads_coordinates_(reading.coordinates > 0),
      max_offset_(options.max_offset) {
  const auto make_table = [&](const std::string& name) {
    return layout.no_decay(layout.normal(name, options.rows, config.width, 1 / std::sqrt(config.width)));
  };
  const int count = std::max(1, reading.coordinates);
  if (reading.shared || count == 1) {
    tables_.assign(static_cast<size_t>(count), make_table(reading.name + ".table"));
  } else {
    for (int n = 0; n < count; ++n) tables_.push_back(make_table(fmt::format("{}.table.{}", reading.name, n)));
  }
}

std::vector<Real> DigitPositions::with_offset(const Sequence& s, const std::vector<int>& stated, Moved moved,
                                              Rng& rng) const {
  const int offset = s.training ? uniform(rng, 0, max_offset_) : 0;
  std::vector<Real> positions(s.tokens.size());
  for (size_t t = 0; t < positions.size(); ++t) {
    const int position = stated.empty() ? 0 : stated[t];
    positions[t] = static_cast<Real>(position > 0 || moved == Moved::all ? position + offset : 0);
  }
  return positions;
}

Positions DigitPositions::positions(const Sequence& s, Rng& rng) const {
  Positions positions;
  if (reads_coordinates_) {
    for (const std::vector<int>& stated : s.coordinates)
      positions.coordinates.push_back(with_offset(s, stated, Moved::stated, rng));
  }
  positions.at = positions.coordinates.empty() ? with_offset(s, s.digit_positions, digits_, rng)
                                               : positions.coordinates.front();
  return positions;
}

void DigitPositions::embed(const Sequence& s, const Parameters& p, const Tables&, Matrix& x, Matrices&) const {
  for (size_t n = 0; n < tables_.size(); ++n) {
    const auto table = p[tables_[n]];
    for (Index t = 0; t < x.rows(); ++t) x.row(t) += table.row(row(s, n, t));
  }
}

void DigitPositions::embed_backward(const Sequence& s, const Parameters&, const Tables&, const Matrix&,
                                    const Matrices&, Matrix& d_x, Matrices&, Gradients& d) const {
  for (size_t n = 0; n < tables_.size(); ++n) {
    auto d_table = d[tables_[n]];
    for (Index t = 0; t < d_x.rows(); ++t) d_table.row(row(s, n, t)) += d_x.row(t);
  }
}

}  // namespace posbench::inline POSBENCH_REAL
