// Reference checks of the encodings in encodings/contextual whose scores have gates.
#include <cmath>
#include <string>
#include <vector>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns an encoding of one head whose gate logit is channel 0 of x. q and k are zero, so that scores are
/// biases. With `from` = 1, a token precedes those of the section. Then all of their logits have an effect, since
/// a bias does not contain the key's gate.
Bench with_gate_logits(const std::string& spec, const std::string& parameter, const Json& logits, int from) {
  const std::vector<double> values = numbers(logits);
  Bench bench(spec, static_cast<int>(values.size()) + from, 4, 1, true);
  bench.learned(parameter).setZero();
  bench.learned(parameter)(0, 0) = 1;
  for (size_t t = 0; t < values.size(); ++t) bench.x(static_cast<Index>(t) + from, 0) = values[t];
  return bench;
}

Bench fox(const Json& s, int from) {
  return with_gate_logits("fox", "fox.gate.0.weight", s.at("gate_logits"), from);
}

const RegisterChecks fox_checks{
    "fox",
    {{"gate_logits", "upstream_grad"},
     {{"log_f",
       [](const Json& s) {
         Bench bench = fox(s, 1);
         check_close(EigenMatrix(bench.score()[0].diagonal(-1).transpose()), s.at("log_f"));
       }},
      {"cumsum_inclusive",
       [](const Json& s) {
         Bench bench = fox(s, 1);
         check_close(EigenMatrix(bench.score()[0].col(0).tail(4).transpose()), s.at("cumsum_inclusive"));
       }},
      {"bias", [](const Json& s) { check_close(fox(s, 0).score()[0], s.at("bias")); }},
      {"grad_gate_logits",
       [](const Json& s) {
         Bench bench = fox(s, 0);
         Heads upstream(1);
         upstream[0] = Matrix(matrix(s.at("upstream_grad")));
         bench.score_backward(upstream);
         check_close(EigenMatrix(bench.d_x.col(0).transpose()), s.at("grad_gate_logits"));
       }},
      {"data_independent_gate_bias_for_decay_time_T", [](const Json& s) {
         const Json& pairs = s.at("data_independent_gate_bias_for_decay_time_T");
         Bench bench("fox:data_independent=true,shortest=" + pairs.front().at(0).dump() +
                         ",longest=" + pairs.back().at(0).dump(),
                     2, 6, 3, true);
         REQUIRE(pairs.size() == 3);
         for (Index h = 0; h < 3; ++h) {
           check_close(bench.learned("fox.gate.0.bias")(0, h), pairs.at(static_cast<size_t>(h)).at(1));
         }
       }}}}};

/// Returns wall attention with one head whose gate logits are x plus the biases of the section.
Bench wall(const Json& s, const std::string& spec) {
  Bench bench = with_vectors(spec, s);
  bench.learned("wall.gate.0.weight").setIdentity();
  bench.learned("wall.gate.0.bias") = matrix(s.at("gate_bias"));
  bench.x = matrix(s.at("gate_logits_without_bias"));
  return bench;
}

/// Returns the gradients of q, k and x from the gradient of the scores.
Bench wall_gradients(const Json& s) {
  Bench bench = wall(s, "wall");
  Heads upstream(1);
  upstream[0] = Matrix(matrix(s.at("upstream_grad")));
  bench.score_backward(upstream);
  return bench;
}

const RegisterChecks wall_checks{
    "wall",
    {{"q", "k", "gate_logits_without_bias", "gate_bias", "upstream_grad", "scalar_gate_weight"},
     {{"scores", [](const Json& s) { check_close(wall(s, "wall").score()[0], s.at("scores")); }},
      {"grad_q", [](const Json& s) { check_close(wall_gradients(s).d_q[0], s.at("grad_q")); }},
      {"grad_k", [](const Json& s) { check_close(wall_gradients(s).d_k[0], s.at("grad_k")); }},
      {"grad_gate_logits", [](const Json& s) { check_close(wall_gradients(s).d_x, s.at("grad_gate_logits")); }},
      {"scores_with_scalar_gate", [](const Json& s) {
         Bench bench = wall(s, "wall:scalar_gate=true");
         bench.learned("wall.scalar.gate.0.weight") = matrix(s.at("scalar_gate_weight")).transpose();
         bench.learned("wall.scalar.gate.0.bias").setZero();
         check_close(bench.score()[0], s.at("scores_with_scalar_gate"));
       }}}}};

const RegisterChecks cable_checks{
    "cable",
    {{"u"},
     {{"bias",
       [](const Json& s) {
         check_close(with_gate_logits("cable", "cable.gate.0.weight", s.at("u"), 0).score()[0], s.at("bias"));
       }},
      {"equals_fox_with_negated_gate_logits",
       [](const Json& s) {
         Bench bench = with_gate_logits("fox", "fox.gate.0.weight", s.at("u"), 0);
         bench.x *= -1;
         CHECK(s.at("equals_fox_with_negated_gate_logits") == true);
         check_close(bench.score()[0], s.at("bias"));
       }},
      {"published_form", [](const Json& section) {
         const Json& s = section.at("published_form");
         Bench sums = with_gate_logits("cable:form=paper_unweighted", "cable.step.0.weight", s.at("pre_relu"), 1);
         check_close(EigenMatrix(-sums.score()[0].col(0).tail(4).transpose()), s.at("S_inclusive"));

         Bench bench = with_gate_logits("cable:form=paper", "cable.step.0.weight", s.at("pre_relu"), 0);
         bench.learned("cable.query.0.weight") << 0, 1, 0, 0;
         bench.x.col(1) = matrix(s.at("pre_softplus_weight")).transpose();
         check_close(bench.score()[0], s.at("bias_negative_sign"));
       }}}}};

/// Returns the score minus q . k / sqrt(D).
EigenMatrix bias(Bench& bench) {
  const EigenMatrix content =
      bench.q[0] * bench.k[0].transpose() / std::sqrt(static_cast<Real>(bench.q[0].cols()));
  return bench.score()[0] - content;
}

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

Bench tra(const Json& s) {
  Bench bench = with_vectors("tra", s);
  bench.v[0] = matrix(s.at("v"));
  bench.x = matrix(s.at("x"));
  bench.learned("tra.gate.0.weight") = matrix(s.at("w"));
  bench.learned("tra.gate.0.bias") = matrix(s.at("b"));
  return bench;
}

Bench with_tra_gradients(const Json& s) {
  Bench bench = tra(s);
  Heads upstream(1);
  upstream[0] = Matrix(matrix(s.at("upstream_on_scores")));
  bench.score_backward(upstream);
  return bench;
}

EigenMatrix tra_parameter_gradient(const Json& s, const std::string& name) {
  Bench bench = with_tra_gradients(s);
  bench.parameters = bench.d_parameters;
  return bench.learned("tra.gate.0." + name);
}

const RegisterChecks tra_checks{
    "tra",
    {{"q", "k", "v", "x", "w", "b", "upstream_on_scores"},
     {{"scores_of_unmasked_keys",
       [](const Json& s) { check_close(tra(s).score()[0], s.at("scores_of_unmasked_keys")); }},
      {"attention", [](const Json& s) { check_close(tra(s).attend()[0], s.at("attention")); }},
      {"output", [](const Json& s) { check_close(tra(s).mix()[0], s.at("output")); }},
      {"grad_q", [](const Json& s) { check_close(with_tra_gradients(s).d_q[0], s.at("grad_q")); }},
      {"grad_k", [](const Json& s) { check_close(with_tra_gradients(s).d_k[0], s.at("grad_k")); }},
      {"grad_x", [](const Json& s) { check_close(with_tra_gradients(s).d_x, s.at("grad_x")); }},
      {"grad_w", [](const Json& s) { check_close(tra_parameter_gradient(s, "weight"), s.at("grad_w")); }},
      {"grad_b", [](const Json& s) { check_close(tra_parameter_gradient(s, "bias"), s.at("grad_b")); }}}}};

}  // namespace
}  // namespace posbench
