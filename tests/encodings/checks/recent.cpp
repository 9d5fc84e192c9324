// Encodings of 2024 to 2026, compared with values that their authors' programs compute.
#include <fmt/format.h>

#include "encodings/parts/entmax_rows.h"
#include "encodings/parts/rotary.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Queries and keys of every head whose scaled products are these logits: as many components as keys.
Bench with_logits(const std::string& spec, const Json& logits, int heads) {
  const int T = static_cast<int>(logits.size());
  Bench bench(spec, T, heads * T, heads, true);
  for (int h = 0; h < heads; ++h) {
    bench.q[h] = std::sqrt(static_cast<Real>(T)) * matrix(logits);
    bench.k[h].setIdentity();
  }
  return bench;
}

/// One head whose queries and keys are those of the section.
Bench with_vectors(const std::string& spec, const Json& s, int trained_length = 64) {
  const RowMajor q = matrix(s.at("q"));
  Bench bench(spec, static_cast<int>(q.rows()), static_cast<int>(q.cols()), 1, true, trained_length);
  bench.q[0] = q;
  bench.k[0] = matrix(s.at("k"));
  return bench;
}

/// The score without the content, q . k / sqrt(D).
RowMajor bias(Bench& bench) {
  const RowMajor content = bench.q[0] * bench.k[0].transpose() / std::sqrt(static_cast<Real>(bench.q[0].cols()));
  return bench.score()[0] - content;
}

const RegisterChecks ssmax_checks{
    "ssmax",
    {{"scaled_logits", "s"},
     {{"weights",
       [](const Json& s) {
         Bench bench = with_logits("ssmax:base=none", s.at("scaled_logits"), 1);
         bench.learned("ssmax.scale.0").setConstant(s.at("s"));
         check_close(bench.attend()[0], s.at("weights"));
       }},
      {"weights_log_n",
       [](const Json& s) {
         check_close(with_logits("ssmax:base=none,factor=log", s.at("scaled_logits"), 1).attend()[0],
                     s.at("weights_log_n"));
       }},
      {"weights_log_ratio_L2",
       [](const Json& s) {
         check_close(
             with_logits("ssmax:base=none,factor=log_ratio,length=2", s.at("scaled_logits"), 1).attend()[0],
             s.at("weights_log_ratio_L2"));
       }},
      {"weights_beyond_L2", [](const Json& s) {
         check_close(
             with_logits("ssmax:base=none,factor=log_ratio_beyond,length=2", s.at("scaled_logits"), 1).attend()[0],
             s.at("weights_beyond_L2"));
       }}}}};

const RegisterChecks hard_alibi_checks{
    "hard_alibi", {{"scaled_logits"}, {{"weights_by_head", [](const Json& s) {
                                          Bench bench =
                                              with_logits("hard_alibi:heads=2", s.at("scaled_logits"), 2);
                                          bench.attend();
                                          for (size_t h = 0; h < 2; ++h)
                                            check_close(bench.attention[h], s.at("weights_by_head").at(h));
                                        }}}}};

Bench asentmax(const Json& s) {
  Bench bench = with_logits("asentmax", s.at("scaled_logits"), 2);
  bench.x = matrix(s.at("x"));
  bench.learned("asentmax.beta.0") = matrix(s.at("beta_weight")).transpose();
  bench.learned("asentmax.gamma.0") = matrix(s.at("gamma_weight")).transpose();
  bench.update();
  return bench;
}

void check_slopes(const std::string& spec, const Json& slopes) {
  Bench bench(spec, 2, 8, 8, true);
  const Heads& scores = bench.score();
  for (size_t h = 0; h < 8; ++h) check_close(-scores[h](1, 0), slopes.at(h));
}

const RegisterChecks asentmax_checks{
    "asentmax",
    {{"scaled_logits", "x", "beta_weight", "gamma_weight"},
     {{"factor",
       [](const Json& s) {  // of the second head: its scores over those of none
         Bench bench = asentmax(s);
         const RowMajor logits = matrix(s.at("scaled_logits"));
         bench.score();
         for (Index i = 1; i < 4; ++i)
           check_close(bench.scores[1](i, 1) / logits(i, 1), s.at("factor").at(static_cast<size_t>(i)));
       }},
      {"penalized_head", [](const Json& s) { check_close(asentmax(s).attend()[0], s.at("penalized_head")); }},
      {"scaled_head", [](const Json& s) { check_close(asentmax(s).attend()[1], s.at("scaled_head")); }},
      {"slopes_linear_8_heads", [](const Json& s) { check_slopes("nape", s.at("slopes_linear_8_heads")); }},
      {"slopes_exponential_8_heads",
       [](const Json& s) { check_slopes("nape:slopes=exponential", s.at("slopes_exponential_8_heads")); }}}}};

/// The last row of attention, or of the gradient, in which all keys are visible.
void check_entmax(const Json& s, const std::string& alpha, bool backward) {
  const RowMajor row = matrix(s.at("z")), upstream = matrix(s.at("upstream"));
  const RowMajor scores = row.replicate(5, 1), d_attention = upstream.replicate(5, 1);
  RowMajor attention(5, 5), d_scores(5, 5);
  entmax(scores, std::stod(alpha), false, attention);
  entmax_backward(attention, std::stod(alpha), false, d_attention, d_scores);
  if (backward) {
    check_close(d_scores.bottomRows(1), s.at("grad_alpha_" + alpha));
  } else {
    check_close(attention.bottomRows(1), s.at("alpha_" + alpha));
  }
}

const RegisterChecks entmax_checks{"entmax",
                                   {{"z", "upstream"},
                                    {{"alpha_1.25", [](const Json& s) { check_entmax(s, "1.25", false); }},
                                     {"alpha_1.5", [](const Json& s) { check_entmax(s, "1.5", false); }},
                                     {"alpha_2.0", [](const Json& s) { check_entmax(s, "2.0", false); }},
                                     {"grad_alpha_1.25", [](const Json& s) { check_entmax(s, "1.25", true); }},
                                     {"grad_alpha_1.5", [](const Json& s) { check_entmax(s, "1.5", true); }},
                                     {"grad_alpha_2.0", [](const Json& s) { check_entmax(s, "2.0", true); }}}}};

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
       [](const Json& s) {  // that of pair 0: the sum of them, weighted by the coefficients
         const Bench bench = fope(s, "identity");
         const std::vector<double> w = numbers(s.at("frequencies"));
         const RowMajor c = matrix(s.at("cos_coef"));
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

void check_gates(const Json& s, const std::string& gates) {
  const std::string name = "grape_a_" + gates;
  Bench bench = with_vectors(name, s);
  bench.learned(name + ".0.strength").setConstant(s.at("omega"));
  if (gates != "querygated") bench.learned(name + ".0.key_gate") = matrix(s.at("u"));
  if (gates != "keygated") bench.learned(name + ".0.query_gate") = matrix(s.at("v"));
  check_close(bias(bench), s.at("bias_" + gates));
}

const RegisterChecks grape_checks{
    "grape",
    {{"q", "k", "log_freq", "log_freq_scale", "u", "v", "omega"},
     {{"initial_log_freq_D8",
       [](const Json& s) {
         Bench bench("grape_m:slowness=" + s.at("log_freq_scale").dump(), 2, 8, 1, true);
         check_close(bench.learned("grape_m.log_frequencies.0"), s.at("initial_log_freq_D8"));
       }},
      {"scores_noncontextual",
       [](const Json& s) {
         Bench bench = with_vectors("grape_m", s);
         bench.learned("grape_m.log_frequencies.0") = matrix(s.at("log_freq"));
         bench.update();
         check_close(bench.score()[0], s.at("scores_noncontextual"));
       }},
      {"bias_keygated", [](const Json& s) { check_gates(s, "keygated"); }},
      {"bias_querygated", [](const Json& s) { check_gates(s, "querygated"); }},
      {"bias_querykeygated", [](const Json& s) { check_gates(s, "querykeygated"); }}}}};

RowMajor bam_prior(const Json& s, double loc) {
  Bench bench("bam:centre=true", 5, 4, 1, false);
  bench.learned("bam.shape").setConstant(s.at("shape"));
  bench.learned("bam.scale").setConstant(s.at("scale"));
  bench.learned("bam.centre").setConstant(loc);
  bench.update();
  return bench.score()[0];
}

const RegisterChecks bam_checks{
    "bam",
    {{"shape", "scale", "loc"},
     {{"prior_centred", [](const Json& s) { check_close(bam_prior(s, 0), s.at("prior_centred")); }},
      {"prior_off_centre",
       [](const Json& s) { check_close(bam_prior(s, s.at("loc")), s.at("prior_off_centre")); }},
      {"initial_scale_8_heads", [](const Json& s) {
         Bench bench("bam", 2, 8, 8, true);
         check_close(bench.learned("bam.scale"), s.at("initial_scale_8_heads"));
       }}}}};

const Rotations& rotations(const Bench& bench) { return bench.tables.constants<Rotations>(); }

/// Cosines and sines at position 3, over the amplitude.
void check_frequencies(const std::string& spec, const Json& s, const Json& frequencies, double amplitude) {
  const Bench bench(spec, 4, s.at("d"), 1, true, 128);
  for (size_t n = 0; n < frequencies.size(); ++n) {
    const double angle = 3 * frequencies[n].get<double>();
    check_close(rotations(bench).cosine(3, static_cast<Index>(n)) / amplitude, std::cos(angle));
    check_close(rotations(bench).sine(3, static_cast<Index>(n)) / amplitude, std::sin(angle));
  }
}

/// Angles return after as many tokens as the wavelength has.
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
      {"inv_freq", [](const Json& s) { check_frequencies("resonance_rope", s, s.at("inv_freq"), 1); }},
      {"yarn_s4_L128_wavelengths",
       [](const Json& s) { check_wavelengths(kResonantYarn, s, s.at("yarn_s4_L128_wavelengths")); }},
      {"yarn_s4_L128_inv_freq", [](const Json& s) {
         check_frequencies(kResonantYarn, s, s.at("yarn_s4_L128_inv_freq"), s.at("yarn_mscale_s4"));
       }}}}};

Bench algebraic(const Json& s, const std::string& options) {
  const RowMajor q = matrix(s.at("q"));
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
       [](const Json& s) {  // W^3 k, from the score of each unit query at 0 with k at 3
         const RowMajor map = matrix(s.at("map_3"));
         Bench bench = algebraic(s, ":decay=1");
         const RowMajor moved = map * bench.k[0].row(3).transpose();
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
         const RowMajor b = bench.learned("algebraic.generators"), generator = b - b.transpose();
         for (Index n = 0; n < 4; ++n)
           check_close(generator(2 * n, 2 * n + 1),
                       s.at("initial_angles_head_width_8").at(static_cast<size_t>(n)));
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

const RegisterChecks random_float_checks{
    "random_float",
    {{"trained", "lengths"}, {{"evaluated", [](const Json& s) {
                                 for (size_t n = 0; n < s.at("lengths").size(); ++n) {
                                   const Bench bench("random_float:base=rope,range=1", s.at("lengths")[n], 4, 1,
                                                     true, s.at("trained"));
                                   const std::vector<double> expected = numbers(s.at("evaluated")[n]);
                                   for (size_t t = 0; t < expected.size(); ++t)
                                     check_close(bench.sequence.positions.at[t], expected[t]);
                                 }
                               }}}}};

}  // namespace
}  // namespace posbench
