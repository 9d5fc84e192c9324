// Reference checks of the encodings in encodings/rotary.
#include "encodings/parts/rotary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns a row of the section, rotated to position 3.
EigenMatrix rotated(const Json& s, const Json& row, Pairing pairing, bool back) {
  const std::vector<double> frequencies = rope_frequencies(s.at("d"), s.at("base"));
  EigenMatrix angle(1, 2);
  angle << 3 * frequencies[0], 3 * frequencies[1];
  const EigenMatrix x = matrix(row), cosine = angle.array().cos(), sine = angle.array().sin();
  EigenMatrix y = EigenMatrix::Zero(1, 4);
  back ? rotate_backward(x, cosine, sine, pairing, y) : rotate(x, cosine, sine, pairing, y);
  return y;
}

/// Returns sqrt(D) times the score of query x at m and key y at n.
double score(const Json& s, const std::string& pairing, int m, int n) {
  Bench bench("rope:pairing=" + pairing, 8, s.at("d"), 1, false);
  bench.q[0].row(m) = matrix(s.at("x"));
  bench.k[0].row(n) = matrix(s.at("y"));
  return bench.score()[0](m, n) * 2;
}

const RegisterChecks rope{
    "rope",
    {{"d", "base", "x", "y"},
     {{"inv_freq",
       [](const Json& s) {
         const std::vector<double> frequencies = rope_frequencies(s.at("d"), s.at("base"));
         for (size_t n = 0; n < 2; ++n) check_close(frequencies.at(n), s.at("inv_freq").at(n));
       }},
      {"interleaved_x_at_p3",
       [](const Json& s) {
         check_close(rotated(s, s.at("x"), Pairing::interleaved, false), s.at("interleaved_x_at_p3"));
       }},
      {"half_split_x_at_p3",
       [](const Json& s) {
         check_close(rotated(s, s.at("x"), Pairing::half_split, false), s.at("half_split_x_at_p3"));
       }},
      {"interleaved_logit_unscaled_q_x_at_m7_k_y_at_n4",
       [](const Json& s) {
         check_close(score(s, "interleaved", 7, 4), s.at("interleaved_logit_unscaled_q_x_at_m7_k_y_at_n4"));
       }},
      {"half_split_logit_unscaled_q_x_at_m7_k_y_at_n4",
       [](const Json& s) {
         check_close(score(s, "half_split", 7, 4), s.at("half_split_logit_unscaled_q_x_at_m7_k_y_at_n4"));
       }},
      {"interleaved_logit_same_offset_m3_n0",
       [](const Json& s) {
         check_close(score(s, "interleaved", 3, 0), s.at("interleaved_logit_same_offset_m3_n0"));
       }},
      {"interleaved_logit_opposite_sign_m4_n7",
       [](const Json& s) {
         check_close(score(s, "interleaved", 4, 7), s.at("interleaved_logit_opposite_sign_m4_n7"));
       }},
      {"backward_grad_x_given_dout_y_interleaved_p3", [](const Json& s) {
         check_close(rotated(s, s.at("y"), Pairing::interleaved, true),
                     s.at("backward_grad_x_given_dout_y_interleaved_p3"));
       }}}}};

Bench one_head(const std::string& spec, int length, int width) { return Bench(spec, length, width, 1, true); }

const Rotations& rotations(const Bench& bench) { return bench.tables.constants<Rotations>(); }

/// Returns the radians per position of every pair, read from the tables at position 1.
EigenMatrix frequencies(const Bench& bench) {
  const Rotations& r = rotations(bench);
  EigenMatrix w(1, r.cosine.cols());
  for (Index n = 0; n < w.cols(); ++n) w(0, n) = std::atan2(r.sine(1, n), r.cosine(1, n));
  return w;
}
double amplitude(const Bench& bench) {
  return std::hypot(rotations(bench).cosine(1, 0), rotations(bench).sine(1, 0));
}

void check_frequencies(const std::string& spec, int length, int width, const Json& expected) {
  check_close(frequencies(one_head(spec, length, width)), expected);
}

/// Returns the base with which RoPE's second pair has the frequency of this encoding's second pair.
double base(const Bench& bench, int width) { return std::pow(frequencies(bench)(0, 1), -width / 2.0); }

void check_yarn(int width, double scale, double original, const Json& expected) {
  const Bench bench =
      one_head(fmt::format("interpolated:method=yarn,scale={},original={}", scale, original), 4, width);
  const EigenMatrix w = frequencies(bench);
  check_close(w, expected.at("inv_freq"));
  check_close(amplitude(bench), expected.at("mscale"));
  // The ramp is linear. Two pairs inside it determine its ends.
  const std::vector<double> before = rope_frequencies(width, 10000);
  std::vector<std::pair<Index, double>> within;
  for (Index n = 0; n < w.cols(); ++n) {
    const double ramp = (1 - w(0, n) / before[static_cast<size_t>(n)]) / (1 - 1 / scale);
    if (ramp > 1e-6 && ramp < 1 - 1e-6) within.emplace_back(n, ramp);
  }
  REQUIRE(within.size() >= 2);
  const double slope = within[1].second - within[0].second;
  const double low = static_cast<double>(within[0].first) - within[0].second / slope;
  check_close(low, expected.at("low"));
  check_close(low + 1 / slope, expected.at("high"));
  const auto pair_that_turns = [&](double times) {
    return width * std::log(original / (2 * M_PI * times)) / (2 * std::log(10000));
  };
  check_close(pair_that_turns(32), expected.at("correction_dim_fast"));
  check_close(pair_that_turns(1), expected.at("correction_dim_slow"));
  CHECK(std::max(0.0, std::floor(pair_that_turns(32))) == expected.at("low"));
  CHECK(std::ceil(pair_that_turns(1)) == expected.at("high"));
}

const RegisterChecks extension{
    "rope_extension",
    {{},
     {{"pi_d8_s4_inv_freq",
       [](const Json& s) { check_frequencies("interpolated:scale=4", 4, 8, s.at("pi_d8_s4_inv_freq")); }},
      {"ntk_aware_d8_s4",
       [](const Json& s) {
         const Json& expected = s.at("ntk_aware_d8_s4");
         check_frequencies("interpolated:method=ntk,scale=4", 4, 8, expected.at("inv_freq"));
         check_close(base(one_head("interpolated:method=ntk,scale=4", 4, 8), 8), expected.at("base"));
       }},
      {"dynamic_ntk_d8_L0_64_L_256_alpha1",
       [](const Json& s) {
         check_frequencies("interpolated:method=ntk_dynamic,original=64", 256, 8,
                           s.at("dynamic_ntk_d8_L0_64_L_256_alpha1").at("inv_freq"));
         check_frequencies("interpolated:method=ntk_dynamic,original=64", 64, 8, {1, 0.1, 0.01, 0.001});
       }},
      {"dynamic_ntk_d8_L0_64_L_256_alpha2",
       [](const Json& s) {
         check_frequencies("interpolated:method=ntk_dynamic,original=64,alpha=2", 256, 8,
                           s.at("dynamic_ntk_d8_L0_64_L_256_alpha2").at("inv_freq"));
       }},
      {"yarn_code_d16_s4_L0_128", [](const Json& s) { check_yarn(16, 4, 128, s.at("yarn_code_d16_s4_L0_128")); }},
      {"yarn_code_d64_s8_L0_2048",
       [](const Json& s) { check_yarn(64, 8, 2048, s.at("yarn_code_d64_s8_L0_2048")); }},
      {"yarn_paper_ramp_d16_s4_L0_128_inv_freq",
       [](const Json& s) {
         check_frequencies("interpolated:method=yarn,ramp=paper,scale=4,original=128", 4, 16,
                           s.at("yarn_paper_ramp_d16_s4_L0_128_inv_freq"));
       }},
      {"p_rope_d8_p0.5_inv_freq",
       [](const Json& s) { check_frequencies("rope_p:fraction=0.5", 4, 8, s.at("p_rope_d8_p0.5_inv_freq")); }},
      {"p_rope_d8_p0.75_inv_freq",
       [](const Json& s) { check_frequencies("rope_p:fraction=0.75", 4, 8, s.at("p_rope_d8_p0.75_inv_freq")); }},
      {"partial_rotary_d8_rotary_dim4_inv_freq",
       [](const Json& s) {
         check_frequencies("rope_partial:width=4", 4, 8, s.at("partial_rotary_d8_rotary_dim4_inv_freq"));
         check_frequencies("rope_partial:fraction=0.5", 4, 8, s.at("partial_rotary_d8_rotary_dim4_inv_freq"));
       }},
      {"base_500000_d8_inv_freq",
       [](const Json& s) { check_frequencies("rope:base=500000", 4, 8, s.at("base_500000_d8_inv_freq")); }},
      {"hope_d8_L64_inv_freq", [](const Json& s) {
         check_frequencies("rope_hope:length=64", 4, 8, s.at("hope_d8_L64_inv_freq"));
         check_frequencies("rope_hope:taper=3", 4, 8, {1, 0.1, 0.005, 0});
       }}}}};

Bench xpos(const Json& s, int length, const Json& scale_base) {
  return one_head(fmt::format("xpos:gamma={},scale_base={}", s.at("gamma").dump(), scale_base.dump()), length,
                  s.at("d"));
}

/// Returns sqrt(D) times the score of query q at m and key k at n.
double xpos_score(const Json& s, int m, int n, const Json& scale_base) {
  Bench bench = xpos(s, m + 1, scale_base);
  bench.q[0].row(m) = matrix(s.at("q"));
  bench.k[0].row(n) = matrix(s.at("k"));
  return bench.score()[0](m, n) * 2;
}

/// Returns a vector at a position, rotated as a query or as a key. The encoding counts exponents from the middle
/// of the eight positions, and the section from 0.
EigenMatrix xpos_vector(const Json& s, const Json& vector, int position, bool key) {
  const Bench bench = xpos(s, 8, s.at("scale_base"));
  const Rotations& r = rotations(bench);
  const EigenMatrix x = matrix(vector), cosine = (key ? r.key_cosine : r.cosine).row(position),
                    sine = (key ? r.key_sine : r.sine).row(position);
  EigenMatrix y(1, 4);
  rotate(x, cosine, sine, Pairing::interleaved, y);
  for (Index e = 0; e < 4; ++e) {
    const double factor =
        std::pow(numbers(s.at("zeta")).at(static_cast<size_t>(e / 2)), 3.5 / s.at("scale_base").get<double>());
    y(0, e) *= key ? 1 / factor : factor;
  }
  return y;
}

const RegisterChecks xpos_checks{
    "xpos",
    {{"d", "gamma", "scale_base", "q", "k"},
     {{"zeta",
       [](const Json& s) {  // zeta is the factor of one position, to the power of the scale base.
         const Bench bench = xpos(s, 8, s.at("scale_base"));
         for (Index n = 0; n < 2; ++n) {
           const auto magnitude = [&](Index t) {
             return std::hypot(rotations(bench).cosine(t, n), rotations(bench).sine(t, n));
           };
           check_close(std::pow(magnitude(7) / magnitude(6), s.at("scale_base").get<double>()),
                       s.at("zeta").at(static_cast<size_t>(n)));
         }
       }},
      {"q_at_7", [](const Json& s) { check_close(xpos_vector(s, s.at("q"), 7, false), s.at("q_at_7")); }},
      {"k_at_4_downscaled",
       [](const Json& s) { check_close(xpos_vector(s, s.at("k"), 4, true), s.at("k_at_4_downscaled")); }},
      {"logit_unscaled_m7_n4",
       [](const Json& s) { check_close(xpos_score(s, 7, 4, s.at("scale_base")), s.at("logit_unscaled_m7_n4")); }},
      {"logit_unscaled_m103_n100",
       [](const Json& s) {
         check_close(xpos_score(s, 103, 100, s.at("scale_base")), s.at("logit_unscaled_m103_n100"));
       }},
      {"logit_unscaled_m7_n4_scale_base8",
       [](const Json& s) { check_close(xpos_score(s, 7, 4, 8), s.at("logit_unscaled_m7_n4_scale_base8")); }}}}};

/// Returns sqrt(D) times the score of query q at m and key k at n.
double pope_score(const Json& s, int m, int n) {
  Bench bench("pope", 6, s.at("d"), 1, false);
  bench.learned("pope.delta") = matrix(s.at("bias_delta"));
  bench.update();
  bench.q[0].row(m) = matrix(s.at("q"));
  bench.k[0].row(n) = matrix(s.at("k"));
  return bench.score()[0](m, n) * std::sqrt(2);
}

const RegisterChecks pope{
    "pope",
    {{"d", "q", "k", "bias_delta"},
     {{"inv_freq", [](const Json& s) { check_frequencies("pope", 4, s.at("d"), s.at("inv_freq")); }},
      {"logit_unscaled_m5_n2",
       [](const Json& s) { check_close(pope_score(s, 5, 2), s.at("logit_unscaled_m5_n2")); }},
      {"logit_unscaled_m3_n0",
       [](const Json& s) { check_close(pope_score(s, 3, 0), s.at("logit_unscaled_m3_n0")); }},
      {"logit_unscaled_m2_n5",
       [](const Json& s) { check_close(pope_score(s, 2, 5), s.at("logit_unscaled_m2_n5")); }}}}};

Bench fope(const Json& s, const std::string& padding) {
  Bench bench = with_vectors(fmt::format("fope:learned=true,base={},length={},padding={}", s.at("base").dump(),
                                         s.at("length").dump(), padding),
                             s);
  bench.learned("fope.cosine.0") = matrix(s.at("cos_coef"));
  bench.learned("fope.sine.0") = matrix(s.at("sin_coef"));
  bench.update();
  return bench;
}

const RegisterChecks fope_checks{
    "fope",
    {{"base", "length", "sin_coef", "cos_coef", "q", "k"},
     {{"frequencies",
       [](const Json& s) {  // The table of pair 0 is their sum, weighted by the coefficients.
         const Bench bench = fope(s, "identity");
         const std::vector<double> w = numbers(s.at("frequencies"));
         const EigenMatrix c = matrix(s.at("cos_coef"));
         double sum = 0;
         for (size_t m = 0; m < w.size(); ++m) sum += c(static_cast<Index>(m), 0) * std::cos(3 * w[m]);
         check_close(bench.tables.values[0](3, 0), sum);
       }},
      {"step_eye",
       [](const Json& s) {
         Bench bench = with_vectors("fope:learned=true,gain=0,base=10,length=24", s);
         check_close(bench.learned("fope.cosine.0"), s.at("step_eye"));
         check_close(bench.learned("fope.sine.0"), s.at("step_eye"));
       }},
      {"scores_padded_with_ones",
       [](const Json& s) { check_close(fope(s, "ones").score()[0], s.at("scores_padded_with_ones")); }},
      {"scores_padded_with_identity",
       [](const Json& s) { check_close(fope(s, "identity").score()[0], s.at("scores_padded_with_identity")); }}}}};

/// Checks cosines and sines at position 3, divided by the amplitude.
void check_angles(const std::string& spec, const Json& s, const Json& frequencies, double amplitude) {
  const Bench bench(spec, 4, s.at("d"), 1, true, 128);
  for (size_t n = 0; n < frequencies.size(); ++n) {
    const double angle = 3 * frequencies[n].get<double>();
    check_close(rotations(bench).cosine(3, static_cast<Index>(n)) / amplitude, std::cos(angle));
    check_close(rotations(bench).sine(3, static_cast<Index>(n)) / amplitude, std::sin(angle));
  }
}

/// Checks that angles return after one wavelength.
void check_wavelengths(const std::string& spec, const Json& s, const Json& wavelengths) {
  const int length = wavelengths[3].get<int>() + 1;
  const Bench bench(spec, length, s.at("d"), 1, true, 128);
  for (Index n = 0; n < 4; ++n) {
    const Index turn = wavelengths[static_cast<size_t>(n)].get<Index>();
    check_close(rotations(bench).cosine(turn, n), rotations(bench).cosine(0, n));
    CHECK(std::abs(rotations(bench).sine(turn, n)) < 1e-9);
  }
}

const std::string kResonantYarn = "interpolated:method=yarn,scale=4,original=128,resonance=true";

const RegisterChecks resonance_checks{
    "resonance_rope",
    {{"d", "yarn_mscale_s4"},
     {{"wavelengths", [](const Json& s) { check_wavelengths("resonance_rope", s, s.at("wavelengths")); }},
      {"inv_freq", [](const Json& s) { check_angles("resonance_rope", s, s.at("inv_freq"), 1); }},
      {"yarn_s4_L128_wavelengths",
       [](const Json& s) { check_wavelengths(kResonantYarn, s, s.at("yarn_s4_L128_wavelengths")); }},
      {"yarn_s4_L128_inv_freq", [](const Json& s) {
         check_angles(kResonantYarn, s, s.at("yarn_s4_L128_inv_freq"), s.at("yarn_mscale_s4"));
       }}}}};

Bench algebraic(const Json& s, const std::string& options) {
  const EigenMatrix q = matrix(s.at("q"));
  Bench bench("algebraic" + options, 4, 4, 1, false);
  bench.q[0] = q;
  bench.k[0] = matrix(s.at("k"));
  bench.learned("algebraic.generators") = matrix(s.at("primitive"));
  bench.update();
  return bench;
}

const RegisterChecks algebraic_checks{
    "algebraic",
    {{"primitive", "q", "k"},
     {{"map_3",
       [](const Json& s) {  // W^3 k is read from the scores of unit queries at 0 with k at 3.
         const EigenMatrix map = matrix(s.at("map_3"));
         Bench bench = algebraic(s, ":decay=1");
         const EigenMatrix moved = map * bench.k[0].row(3).transpose();
         for (Index e = 0; e < 4; ++e) {
           bench.q[0].row(0).setZero();
           bench.q[0](0, e) = 2;
           check_close(bench.score()[0](0, 3), moved(e, 0));
         }
       }},
      {"scores", [](const Json& s) { check_close(algebraic(s, "").score()[0], s.at("scores")); }},
      {"scores_without_mediator",
       [](const Json& s) { check_close(algebraic(s, ":decay=1").score()[0], s.at("scores_without_mediator")); }},
      {"initial_angles_head_width_8", [](const Json& s) {
         Bench bench("algebraic", 2, 8, 1, true);
         const EigenMatrix b = bench.learned("algebraic.generators"), generator = b - b.transpose();
         for (Index n = 0; n < 4; ++n)
           check_close(generator(2 * n, 2 * n + 1),
                       s.at("initial_angles_head_width_8").at(static_cast<size_t>(n)));
       }}}}};

/// Returns two heads. The queries, keys and values of the second are ones, which have no effect.
Bench rope_pp(const Json& s) {
  Bench bench("rope_pp:pairing=half_split", 5, 8, 2, true);
  for (Heads* side : {&bench.q, &bench.k, &bench.v}) (*side)[1].setOnes();
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.v[0] = matrix(s.at("v"));
  return bench;
}

Bench with_rope_pp_gradients(const Json& s) {
  Bench bench = rope_pp(s);
  Heads upstream(2);
  upstream[0] = Matrix(matrix(s.at("upstream_on_real")));
  upstream[1] = Matrix(matrix(s.at("upstream_on_imaginary")));
  bench.score_backward(upstream);
  CHECK((bench.d_q[1].isZero(0) && bench.d_k[1].isZero(0)));
  return bench;
}

const RegisterChecks rope_pp_checks{
    "rope_pp",
    {{"q", "k", "v", "upstream_on_real", "upstream_on_imaginary"},
     {{"scores_real", [](const Json& s) { check_close(rope_pp(s).score()[0], s.at("scores_real")); }},
      {"scores_imaginary", [](const Json& s) { check_close(rope_pp(s).score()[1], s.at("scores_imaginary")); }},
      {"output_real", [](const Json& s) { check_close(rope_pp(s).mix()[0], s.at("output_real")); }},
      {"output_imaginary", [](const Json& s) { check_close(rope_pp(s).mix()[1], s.at("output_imaginary")); }},
      {"grad_q", [](const Json& s) { check_close(with_rope_pp_gradients(s).d_q[0], s.at("grad_q")); }},
      {"grad_k", [](const Json& s) { check_close(with_rope_pp_gradients(s).d_k[0], s.at("grad_k")); }}}}};

}  // namespace
}  // namespace posbench
