#include "encodings/parts/digit_places.h"

#include <cmath>

namespace posbench {

DigitPlaces::DigitPlaces(const std::string& name, Moved moved, const Options& options, const ModelShape& shape,
                         ParameterLayout& layout)
    : PositionEncoding(shape),
      moved_(moved),
      max_offset_(options.max_offset),
      table_(layout.normal(name + ".table", options.rows, shape.width, 1 / std::sqrt(shape.width))) {}

Positions DigitPlaces::positions(const Sequence& s, Rng& rng) const {
  const int offset = s.training ? uniform(rng, 0, max_offset_) : 0;
  Positions positions;
  positions.at.resize(s.tokens.size());
  for (size_t t = 0; t < s.tokens.size(); ++t) {
    const int place = s.places.empty() ? 0 : s.places[t];
    positions.at[t] = static_cast<Real>(place > 0 || moved_ == Moved::all ? place + offset : 0);
  }
  return positions;
}

void DigitPlaces::embed(const Sequence& s, const Parameters& p, const Tables&, Matrix& x, Tables&) const {
  const auto table = p[table_];
  for (Index t = 0; t < x.rows(); ++t) x.row(t) += table.row(row(s, t));
}

void DigitPlaces::embed_backward(const Sequence& s, const Parameters&, const Tables&, const Matrix&, const Tables&,
                                 Matrix& d_x, Tables&, Gradients& d) const {
  auto d_table = d[table_];
  for (Index t = 0; t < d_x.rows(); ++t) d_table.row(row(s, t)) += d_x.row(t);
}

}  // namespace posbench
