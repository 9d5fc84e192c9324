#include "model/round_positions.h"

#include <vector>

namespace posbench::inline POSBENCH_REAL {

void round_positions(Rounding rounding, Positions& positions) {
  if (rounding == Rounding::none) return;
  positions.rounding = rounding;
  const auto round_all = [&](std::vector<Real>& values) {
    for (Real& value : values) value = static_cast<Real>(rounded_position(rounding, value));
  };
  round_all(positions.at);
  for (std::vector<Real>& values : positions.coordinates) round_all(values);
  for (Positions& member : positions.members) round_positions(rounding, member);
}

}  // namespace posbench::inline POSBENCH_REAL
