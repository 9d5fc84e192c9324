// Tests the formats of 16 bits with known values.
#include "model/rounding.h"

#include <cmath>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "model/round_positions.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("numbers are rounded to the nearest of bfloat16, and halfway ones to even") {
  const auto round = [](double x) { return rounded_position(Rounding::bfloat16_positions, x); };
  CHECK(round(255) == 255);
  CHECK(round(257) == 256);
  CHECK(round(259) == 260);
  CHECK(round(-513) == -512);
  CHECK(round(0.1) == 0.10009765625);
  CHECK(round(1e39) == HUGE_VAL);
}

TEST_CASE("numbers are rounded to the nearest of float16, and too large ones are infinite") {
  const auto round = [](double x) { return rounded_position(Rounding::float16_positions, x); };
  CHECK(round(2047) == 2047);
  CHECK(round(2049) == 2048);
  CHECK(round(2051) == 2052);
  CHECK(round(0.1) == 0.0999755859375);
  CHECK(round(65504) == 65504);
  CHECK(round(65520) == HUGE_VAL);
  CHECK(round(std::ldexp(1.0, -24)) == std::ldexp(1.0, -24));
  CHECK(round(std::ldexp(1.0, -26)) == 0);
}

TEST_CASE("a rounding acts on its place alone, or on all places") {
  CHECK(rounded_angle(Rounding::bfloat16_positions, 257) == 257);
  CHECK(rounded_angle(Rounding::bfloat16_angles, 257) == 256);
  CHECK(rounded_cosine(Rounding::bfloat16_angles, 0.1) == 0.1);
  CHECK(rounded_cosine(Rounding::float16_cosines, 0.1) == 0.0999755859375);
  CHECK(rounded_frequency(Rounding::bfloat16_angles, 0.1) == 0.1);
  for (const auto& rounded : {rounded_position, rounded_frequency, rounded_angle, rounded_cosine}) {
    CHECK(rounded(Rounding::none, 0.1) == 0.1);
    CHECK(rounded(Rounding::bfloat16_all, 0.1) == 0.10009765625);
    CHECK(rounded(Rounding::float16_all, 0.1) == 0.0999755859375);
  }
}

TEST_CASE("rope turns tokens 256 and 257 by the same angles if their positions are rounded to bfloat16") {
  ParameterLayout layout;
  const auto rope = make_encoding(Spec{"rope", {}}, small_config(2, true, true), layout);
  const auto rotations = [&](Rounding rounding) {
    Positions positions{.at = {255, 256, 257, 258}};
    round_positions(rounding, positions);
    Tables tables;
    rope->tables(Parameters(layout), positions, tables);
    return tables.constants<Rotations>();
  };
  const Rotations exact = rotations(Rounding::none), rounded = rotations(Rounding::bfloat16_positions),
                  cosines = rotations(Rounding::bfloat16_cosines);
  CHECK(rounded.cosine.row(1) == rounded.cosine.row(2));
  CHECK(rounded.cosine.row(2) != rounded.cosine.row(3));
  CHECK(exact.cosine.row(1) != exact.cosine.row(2));
  CHECK(cosines.sine.row(2) != exact.sine.row(2));
  CHECK((cosines.sine - exact.sine).cwiseAbs().maxCoeff() <= 0.002);
}
