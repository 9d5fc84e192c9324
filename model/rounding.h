// Rounds positions, angles or cosines to the formats of 16 bits in which some programs compute them.
#pragma once
#include "base/enum_names.h"
#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// The values of a rotary encoding that are rounded, and their format. `all` rounds positions, frequencies, their
/// products and the cosines and sines of these, as a model does whose buffers are all of the format.
enum class Rounding {
  none,
  bfloat16_positions,
  bfloat16_angles,
  bfloat16_cosines,
  bfloat16_all,
  float16_positions,
  float16_angles,
  float16_cosines,
  float16_all
};
const EnumNames<Rounding>& names_of(Rounding);

/// Return the value in the format if this rounding includes positions, frequencies, angles, or cosines and sines;
/// otherwise the value itself. Halfway cases round to even.
double rounded_position(Rounding, double);
double rounded_frequency(Rounding, double);
double rounded_angle(Rounding, double);
double rounded_cosine(Rounding, double);

/// Returns true if the rounding acts on the values that a rotary encoding computes from positions.
bool rounds_rotation(Rounding);

}  // namespace posbench::inline POSBENCH_REAL
