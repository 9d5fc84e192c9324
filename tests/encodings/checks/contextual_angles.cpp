// Reference checks of the encodings in encodings/contextual that turn queries and keys by angles.
#include <cmath>

#include "encodings/parts/contextual_rotary.h"
#include "encodings/parts/cumsum.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns the angles (T, pairs) of the tokens.
EigenMatrix angles(const Bench& bench) {
  return dynamic_cast<const ContextualRotary&>(*bench.encoding).angles(bench.input());
}

double logit(double p) { return std::log(p / (1 - p)); }

/// Returns the angles of Selective RoPE for the increments of the section. The tokens are unit vectors, and the
/// projections and the convolution are identities.
EigenMatrix selective_angles(const Json& s) {
  Bench bench("selective_rope:rank=4,theta=10000", 4, 4, 1, true);
  bench.x = 1e6 * EigenMatrix::Identity(4, 4);  // large compared with the epsilon of its norm
  bench.learned("selective_rope.down.0").setIdentity();
  bench.learned("selective_rope.up.0") = matrix(s.at("phi_increment"));
  bench.learned("selective_rope.taps.0").setZero();
  bench.learned("selective_rope.taps.0").row(3).setOnes();
  return angles(bench);
}

const RegisterChecks selective{
    "selective_rope",
    {{"phi_increment", "x"},
     {{"temperature",
       [](const Json& s) {
         const EigenMatrix angles = selective_angles(s), sums = matrix(s.at("phi_cumsum_inclusive"));
         check_close(angles.row(3).cwiseQuotient(sums.row(3)), s.at("temperature"));
       }},
      {"phi_cumsum_inclusive",
       [](const Json& s) {
         const EigenMatrix temperature = matrix(s.at("temperature"));
         check_close(selective_angles(s) * temperature.row(0).cwiseInverse().asDiagonal(),
                     s.at("phi_cumsum_inclusive"));
       }},
      {"x_rotated_half_split_at_t", [](const Json& s) {
         const EigenMatrix x = matrix(s.at("x")).replicate(4, 1), angle = selective_angles(s);
         const EigenMatrix cosine = angle.array().cos(), sine = angle.array().sin();
         EigenMatrix y(4, 4);
         rotate(x, cosine, sine, Pairing::half_split, y);
         check_close(y, s.at("x_rotated_half_split_at_t"));
       }}}}};

/// Returns the angles of CARoPE with two pairs, for tokens that give the section's f.
EigenMatrix carope_angles(const Json& s) {
  Bench bench("carope", 4, 4, 1, true);
  bench.learned("carope.weight.0") << 1, 0, 0, 0;
  for (Index t = 0; t < 4; ++t) {
    bench.x(t, 0) =
        std::log(std::expm1(1 / s.at("carope_f_per_token").at(static_cast<size_t>(t)).get<double>() - 1));
  }
  return angles(bench);
}

const RegisterChecks phase{"contextual_phase",
                           {{"omega"},
                            {{"grape_exclusive_cumsum",
                              [](const Json& s) {
                                Bench bench("grape_ctx", 4, 2, 1, true);
                                bench.learned("grape_ctx.weight.0") << 1, 0;
                                bench.learned("grape_ctx.bias.0").setZero();
                                for (Index t = 0; t < 4; ++t)
                                  bench.x(t, 0) = 16 * logit(s.at("omega").at(static_cast<size_t>(t)));
                                check_close(angles(bench).transpose(), s.at("grape_exclusive_cumsum"));
                              }},
                             {"inclusive_cumsum",
                              [](const Json& s) {
                                EigenMatrix sums = matrix(s.at("omega")).transpose();
                                cumsum_over_rows(sums);
                                check_close(sums.transpose(), s.at("inclusive_cumsum"));
                              }},
                             {"carope_f_per_token",
                              [](const Json& s) {  // The first pair's angle grows by f.
                                EigenMatrix steps = carope_angles(s).leftCols(1);
                                for (Index t = 3; t > 0; --t) steps(t, 0) -= steps(t - 1, 0);
                                check_close(steps.transpose(), s.at("carope_f_per_token"));
                              }},
                             {"carope_phase_pairs_1_2_inclusive", [](const Json& s) {
                                check_close(carope_angles(s), s.at("carope_phase_pairs_1_2_inclusive"));
                              }}}}};

Bench darope(const Json& s) { return Bench("darope:length=" + s.at("L").dump(), 1, s.at("d"), 1, false); }

const RegisterChecks darope_checks{
    "darope",
    {{"L", "d"},
     {{"K_fast_pairs",
       [](const Json& s) {  // Fast pairs have RoPE's angle for every token.
         Bench bench = darope(s);
         bench.x.setOnes();
         bench.sequence.positions.at = {7};
         bench.encoding->tables(bench.parameters, bench.sequence.positions, bench.tables);
         const EigenMatrix angle = angles(bench);
         int fast = 0;
         for (Index n = 0; n < 4; ++n) fast += std::abs(angle(0, n) - 7 * std::pow(10, -n)) < 1e-12;
         CHECK(fast == s.at("K_fast_pairs"));
       }},
      {"cases_m_wx_alpha_to_c", [](const Json& s) {
         for (const Json& item : s.at("cases_m_wx_alpha_to_c")) {
           CAPTURE(item);
           Bench bench = darope(s);
           bench.learned("darope.weight.0").setZero();
           bench.learned("darope.weight.0")(0, 0) = 1;
           bench.learned("darope.alpha.0")(0, 0) = item.at(2);
           bench.x(0, 0) = item.at(1);
           bench.sequence.positions.at = {item.at(0)};
           bench.encoding->tables(bench.parameters, bench.sequence.positions, bench.tables);
           check_close(angles(bench)(0, 2) / 0.01, item.at(3));  // the third pair turns by 0.01 c
           check_close(angles(bench)(0, 3) / 0.001, item.at(3));
         }
       }}}}};

Bench accumulated(const Json& s) {
  Bench bench = with_vectors("accumulated_rope", s);
  bench.v[0] = matrix(s.at("v"));
  bench.x = matrix(s.at("x"));
  bench.learned("accumulated_rope.weight.0") = matrix(s.at("angle_weight"));
  bench.learned("accumulated_rope.bias.0") = matrix(s.at("angle_bias"));
  bench.update();
  return bench;
}

const RegisterChecks accumulated_checks{
    "accumulated_rotation",
    {{"x", "angle_weight", "angle_bias", "q", "k", "v"},
     {{"scores", [](const Json& s) { check_close(accumulated(s).score()[0], s.at("scores")); }},
      {"output", [](const Json& s) { check_close(accumulated(s).mix()[0], s.at("output")); }}}}};

}  // namespace
}  // namespace posbench
