// Reference checks of the encodings in encodings/wrapper.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "encodings/parts/entmax_rows.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns the distances between tokens at these positions, query minus key.
EigenMatrix distances(const Positions& positions) {
  EigenMatrix d(positions.size(), positions.size());
  for (Index i = 0; i < d.rows(); ++i) {
    for (Index j = 0; j < d.cols(); ++j) d(i, j) = positions.distance(i, j);
  }
  return d;
}

/// Checks that draws from index `from` on are ascending and distinct, and that all draws together cover the
/// positions up to L - 1.
void check_draws(const std::string& spec, int L, int from) {
  const Bench bench(spec, 4, 4, 1, false, 4);
  Rng rng = make_rng(0, "draws");
  std::vector<int> seen(static_cast<size_t>(L));
  for (int draw = 0; draw < 200; ++draw) {
    const Positions positions = bench.encoding->positions(bench.sequence, rng);
    REQUIRE(positions.size() == 4);
    for (Index t = from; t < 4; ++t) {
      REQUIRE((t == 0 || positions.at[t] > positions.at[t - 1]));
      ++seen.at(static_cast<size_t>(positions.at[t]));
    }
  }
  CHECK(*std::min_element(seen.begin() + from, seen.end()) > 0);
}

const RegisterChecks randomized{
    "randomized",
    {{"sorted_sample"},
     {{"L",
       [](const Json& s) {
         const int L = s.at("L");
         check_draws(fmt::format("randomized:max={}", L), L, 0);
         check_draws(fmt::format("randomized:base=shaw_k,sampling=distances,max={}", L), L, 1);
       }},
      {"remap_difference_pi_minus_pj",
       [](const Json& s) {
         check_close(distances({.at = numbers(s.at("sorted_sample"))}), s.at("remap_difference_pi_minus_pj"));
       }},
      {"official_relative_alibi", [](const Json& s) {
         const Json& expected = s.at("official_relative_alibi");
         Bench bench(
             fmt::format("randomized:base=(alibi:sides=offset),sampling=distances,max={}", s.at("L").dump()), 4, 4,
             1, false, 4);
         Positions& positions = bench.sequence.positions;
         REQUIRE(positions.sampled_distances);
         positions.at = numbers(expected.at("sorted_distance_sample_s1_s3"));
         positions.at.insert(positions.at.begin(), 0);
         check_close(-distances(positions), expected.at("key_minus_query_signed"));
         bench.encoding->tables(bench.parameters, positions, bench.tables);
         check_close(256 * bench.score()[0],
                     expected.at("alibi_slope1_with_half_offset"));  // one head has the slope 2^-8
       }}}}};

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
       [](const Json& s) {  // The factor of the second head is its score divided by that of none.
         Bench bench = asentmax(s);
         const EigenMatrix logits = matrix(s.at("scaled_logits"));
         bench.score();
         for (Index i = 1; i < 4; ++i)
           check_close(bench.scores[1](i, 1) / logits(i, 1), s.at("factor").at(static_cast<size_t>(i)));
       }},
      {"penalized_head", [](const Json& s) { check_close(asentmax(s).attend()[0], s.at("penalized_head")); }},
      {"scaled_head", [](const Json& s) { check_close(asentmax(s).attend()[1], s.at("scaled_head")); }},
      {"slopes_linear_8_heads", [](const Json& s) { check_slopes("nape", s.at("slopes_linear_8_heads")); }},
      {"slopes_exponential_8_heads",
       [](const Json& s) { check_slopes("nape:slopes=exponential", s.at("slopes_exponential_8_heads")); }}}}};

/// Checks the last row of the attention or of the gradient, in which all keys are visible.
void check_entmax(const Json& s, const std::string& alpha, bool backward) {
  const EigenMatrix row = matrix(s.at("z")), upstream = matrix(s.at("upstream"));
  const EigenMatrix scores = row.replicate(5, 1), d_attention = upstream.replicate(5, 1);
  EigenMatrix attention(5, 5), d_scores(5, 5);
  entmax_rows(scores, std::stod(alpha), false, attention);
  entmax_rows_backward(attention, std::stod(alpha), false, d_attention, d_scores);
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
