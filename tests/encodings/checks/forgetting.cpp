#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// An encoding of one head whose gate's logit is channel 0 of x; q and k are zero, so that scores are biases. With
/// `from` = 1 an additional first token comes before those of the section, so that all of their logits have an
/// effect: a bias leaves out the key's.
Bench reading(const std::string& spec, const std::string& parameter, const Json& logits, int from) {
  const std::vector<double> values = numbers(logits);
  Bench bench(spec, static_cast<int>(values.size()) + from, 4, 1, true);
  bench.learned(parameter).setZero();
  bench.learned(parameter)(0, 0) = 1;
  for (size_t t = 0; t < values.size(); ++t) bench.x(static_cast<Index>(t) + from, 0) = values[t];
  return bench;
}

Bench fox(const Json& s, int from) { return reading("fox", "fox.gate.0.weight", s.at("gate_logits"), from); }

const RegisterChecks fox_checks{
    "fox",
    {{"gate_logits", "upstream_grad"},
     {{"log_f",
       [](const Json& s) {
         Bench bench = fox(s, 1);
         check_close(RowMajor(bench.score()[0].diagonal(-1).transpose()), s.at("log_f"));
       }},
      {"cumsum_inclusive",
       [](const Json& s) {
         Bench bench = fox(s, 1);
         check_close(RowMajor(bench.score()[0].col(0).tail(4).transpose()), s.at("cumsum_inclusive"));
       }},
      {"bias", [](const Json& s) { check_close(fox(s, 0).score()[0], s.at("bias")); }},
      {"grad_gate_logits",
       [](const Json& s) {
         Bench bench = fox(s, 0);
         Heads upstream(1);
         upstream[0] = Matrix(matrix(s.at("upstream_grad")));
         bench.score_backward(upstream);
         check_close(RowMajor(bench.d_x.col(0).transpose()), s.at("grad_gate_logits"));
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
         check_close(reading("cable", "cable.gate.0.weight", s.at("u"), 0).score()[0], s.at("bias"));
       }},
      {"equals_fox_with_negated_gate_logits",
       [](const Json& s) {
         Bench bench = reading("fox", "fox.gate.0.weight", s.at("u"), 0);
         bench.x *= -1;
         CHECK(s.at("equals_fox_with_negated_gate_logits") == true);
         check_close(bench.score()[0], s.at("bias"));
       }},
      {"published_form", [](const Json& section) {
         const Json& s = section.at("published_form");
         Bench sums = reading("cable:form=paper_unweighted", "cable.step.0.weight", s.at("pre_relu"), 1);
         check_close(RowMajor(-sums.score()[0].col(0).tail(4).transpose()), s.at("S_inclusive"));

         Bench bench = reading("cable:form=paper", "cable.step.0.weight", s.at("pre_relu"), 0);
         bench.learned("cable.query.0.weight") << 0, 1, 0, 0;
         bench.x.col(1) = matrix(s.at("pre_softplus_weight")).transpose();
         check_close(bench.score()[0], s.at("bias_negative_sign"));
       }}}}};

}  // namespace
}  // namespace posbench
