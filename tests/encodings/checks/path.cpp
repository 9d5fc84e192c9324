#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// The section's vectors in the first of two heads; x holds w in channels 0 and 1, the logits of beta / 2 in
/// channel 2 and those of the section `fox`'s gates in channel 3.
Bench path(const Json& s, const std::string& encoding) {
  Bench bench(encoding + ":convolution=false", 4, 4, 2, true);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.x.leftCols(2) = matrix(s.at("w_unit_norm"));
  const std::vector<double> beta = numbers(s.at("beta"));
  for (Index t = 0; t < 4; ++t)
    bench.x(t, 2) = std::log(beta[static_cast<size_t>(t)] / (2 - beta[static_cast<size_t>(t)]));
  bench.x.col(3) << 0.3, -1.2, 0.8, 2.0;
  for (const char* identity : {".0.down", ".0.up"}) {
    auto map = bench.learned(encoding + identity);
    map.setZero();
    map(0, 0) = map(1, 1) = 1;
  }
  auto strength = bench.learned(encoding + ".0.strength.weight");
  strength.setZero();
  strength(2, 0) = 1;
  if (encoding == "path_fox") {
    bench.learned("path_fox.gate.0.weight").setZero();
    bench.learned("path_fox.gate.0.weight")(3, 0) = 1;
  }
  return bench;
}

const RegisterChecks path_checks{
    "path_attention",
    {{"q", "k", "w_unit_norm", "beta"},
     {{"unscaled_logits",
       [](const Json& s) {
         check_close(RowMajor(std::sqrt(2.0) * path(s, "path").score()[0]), s.at("unscaled_logits"));
       }},
      {"scaled_logits", [](const Json& s) { check_close(path(s, "path").score()[0], s.at("scaled_logits")); }},
      {"path_fox_scaled_logits_with_log_gates_of_fox_section", [](const Json& s) {
         check_close(path(s, "path_fox").score()[0], s.at("path_fox_scaled_logits_with_log_gates_of_fox_section"));
       }}}}};

}  // namespace
}  // namespace posbench
