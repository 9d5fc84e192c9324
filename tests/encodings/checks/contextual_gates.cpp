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

}  // namespace
}  // namespace posbench
