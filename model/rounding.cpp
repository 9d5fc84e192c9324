#include "model/rounding.h"

#include <algorithm>
#include <cmath>

namespace posbench::inline POSBENCH_REAL {
namespace {

/// The number of bits of a significand, with the leading one, and the exponent of the least normal number.
struct Format {
  int bits, least_exponent;
  double largest;
};
constexpr Format kBfloat16{8, -126, 0x1.fep127}, kFloat16{11, -14, 65504};

/// Returns the number of the format that is nearest to x. Numbers beyond the largest become infinite.
double nearest(const Format& format, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.least_exponent);
  const double unit = std::ldexp(1.0, exponent - format.bits + 1);
  const double result = std::nearbyint(x / unit) * unit;
  return std::abs(result) > format.largest ? std::copysign(HUGE_VAL, x) : result;
}

/// Rounds if the rounding is one of bfloat16 or float16 for this place, or for all places.
double round_at(Rounding rounding, Rounding in_bfloat16, Rounding in_float16, double x) {
  if (rounding == in_bfloat16 || rounding == Rounding::bfloat16_all) return nearest(kBfloat16, x);
  if (rounding == in_float16 || rounding == Rounding::float16_all) return nearest(kFloat16, x);
  return x;
}

}  // namespace

const EnumNames<Rounding>& names_of(Rounding) {
  static const EnumNames<Rounding> names{{Rounding::none, "none"},
                                         {Rounding::bfloat16_positions, "bfloat16_positions"},
                                         {Rounding::bfloat16_angles, "bfloat16_angles"},
                                         {Rounding::bfloat16_cosines, "bfloat16_cosines"},
                                         {Rounding::bfloat16_all, "bfloat16_all"},
                                         {Rounding::float16_positions, "float16_positions"},
                                         {Rounding::float16_angles, "float16_angles"},
                                         {Rounding::float16_cosines, "float16_cosines"},
                                         {Rounding::float16_all, "float16_all"}};
  return names;
}

double rounded_position(Rounding rounding, double x) {
  return round_at(rounding, Rounding::bfloat16_positions, Rounding::float16_positions, x);
}
double rounded_frequency(Rounding rounding, double x) {
  return round_at(rounding, Rounding::bfloat16_all, Rounding::float16_all, x);
}
double rounded_angle(Rounding rounding, double x) {
  return round_at(rounding, Rounding::bfloat16_angles, Rounding::float16_angles, x);
}
double rounded_cosine(Rounding rounding, double x) {
  return round_at(rounding, Rounding::bfloat16_cosines, Rounding::float16_cosines, x);
}

bool rounds_rotation(Rounding rounding) {
  return rounding != Rounding::none && rounding != Rounding::bfloat16_positions &&
         rounding != Rounding::float16_positions;
}

}  // namespace posbench::inline POSBENCH_REAL
