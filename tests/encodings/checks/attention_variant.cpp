// Reference checks of the encodings in encodings/attention_variant.
#include <cmath>
#include <string>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns queries whose scaled products with four unit keys are these logits.
Bench with_identity_keys(const std::string& spec, const Json& logits, bool causal) {
  Bench bench(spec, 4, 4, 1, causal);
  bench.q[0] = 2 * matrix(logits);
  bench.k[0].setIdentity();
  bench.v[0].setIdentity();
  return bench;
}

Bench stick_breaking(const Json& s, const std::string& options) {
  return with_identity_keys("stick_breaking" + options, s.at("scaled_logits"), true);
}

/// Returns the part of v_i in o_i that does not come from attention.
EigenMatrix remainder(const Json& s, const std::string& options) {
  Bench bench = stick_breaking(s, options);
  const Heads& output = bench.mix();
  return (output[0] - bench.attention[0]).diagonal().transpose();
}

const RegisterChecks stick_breaking_checks{
    "stick_breaking",
    {{"scaled_logits", "upstream_on_strict_weights"},
     {{"weights_strict_past",
       [](const Json& s) { check_close(stick_breaking(s, "").attend()[0], s.at("weights_strict_past")); }},
      {"remainder_strict_past",
       [](const Json& s) { check_close(remainder(s, ":remainder=true"), s.at("remainder_strict_past")); }},
      {"weights_including_self",
       [](const Json& s) {
         check_close(stick_breaking(s, ":include_self=true").attend()[0], s.at("weights_including_self"));
       }},
      {"remainder_including_self",
       [](const Json& s) {
         check_close(remainder(s, ":include_self=true,remainder=true"), s.at("remainder_including_self"));
       }},
      {"grad_logits_strict", [](const Json& s) {
         Bench bench = stick_breaking(s, "");
         bench.attend();
         Heads d_attention(1), d_scores(1);
         d_attention[0] = Matrix(matrix(s.at("upstream_on_strict_weights")));
         d_scores[0] = d_attention[0];
         AttentionGradient d{bench.d_parameters, bench.d_tables, bench.d_recurrent_state, bench.d_x, bench.d_q,
                             bench.d_k,          bench.d_v};
         bench.encoding->normalize_backward(bench.input(), bench.scores, bench.attention, d_attention, d_scores,
                                            d);
         check_close(d_scores[0], s.at("grad_logits_strict"));
       }}}}};

/// Returns the output of DeltaFormer with one head, where the strength of each token is channel 0 of x.
EigenMatrix deltaformer(const Json& s, const std::string& options) {
  Bench bench = with_vectors("deltaformer" + options, s);
  bench.v[0] = matrix(s.at("v"));
  if (options.find("strength=one") == std::string::npos) {
    bench.learned("deltaformer.strength.0.weight") = EigenMatrix::Identity(4, 1);
    bench.x.col(0) = matrix(s.at("beta")).transpose();
  }
  return bench.mix()[0];
}

const RegisterChecks deltaformer_checks{
    "deltaformer",
    {{"q", "k", "v", "beta"},
     {{"output", [](const Json& s) { check_close(deltaformer(s, ""), s.at("output")); }},
      {"output_without_rotation",
       [](const Json& s) { check_close(deltaformer(s, ":rotary=false"), s.at("output_without_rotation")); }},
      {"output_by_queries",
       [](const Json& s) { check_close(deltaformer(s, ":similarity=queries"), s.at("output_by_queries")); }},
      {"output_by_queries_without_rotation_with_beta_one", [](const Json& s) {
         check_close(deltaformer(s, ":rotary=false,similarity=queries,strength=one"),
                     s.at("output_by_queries_without_rotation_with_beta_one"));
       }}}}};

Bench geometric(const Json& s) {
  Bench bench = with_identity_keys("geometric", s.at("logits_after_scale_and_direction_bias"), false);
  bench.learned("geometric.0.direction.weight").setZero();
  return bench;
}

const RegisterChecks geometric_checks{
    "geometric_attention",
    {{"logits_after_scale_and_direction_bias"},
     {{"unnormalised",
       [](const Json& s) {  // The first key has the sigmoid of its logit.
         Bench bench = geometric(s);
         EigenMatrix weights = bench.attend()[0];
         for (Index i = 0; i < 4; ++i) {
           const Index first = i < 3 ? i + 1 : i - 1;
           weights.row(i) *= 1 / (1 + std::exp(-bench.scores[0](i, first))) / weights(i, first);
         }
         check_close(weights, s.at("unnormalised"));
       }},
      {"l1_normalised", [](const Json& s) { check_close(geometric(s).attend()[0], s.at("l1_normalised")); }}}}};

const RegisterChecks selective_checks{
    "selective_attention",
    {{"selection_head_scaled_logits", "rule"},
     {{"F", [](const Json& s) {  // The second head's content is zero, so its score is -F.
         Bench bench("selective_attn", 4, 8, 2, true);
         bench.q[0] = 2 * matrix(s.at("selection_head_scaled_logits"));
         bench.k[0].setIdentity();
         const Heads& scores = bench.score();
         const EigenMatrix content = matrix(s.at("selection_head_scaled_logits"));
         check_close(EigenMatrix((content - scores[0]).triangularView<Eigen::Lower>()), s.at("F"));
         check_close(EigenMatrix((-scores[1]).triangularView<Eigen::Lower>()), s.at("F"));
       }}}}};

}  // namespace
}  // namespace posbench
