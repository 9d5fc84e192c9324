#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

Bench shaw(const Json& s, const std::string& encoding, bool causal) {
  Bench bench(encoding + ":clip=" + s.at("clip_k").dump(), 4, 2, 1, causal);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.v[0] = matrix(s.at("v"));
  bench.learned(encoding + ".keys.0") = matrix(s.at("aK_rows_r_-k_to_k"));
  if (encoding == "shaw_kv") bench.learned("shaw_kv.values.0") = matrix(s.at("aV_rows_r_-k_to_k"));
  return bench;
}

const RegisterChecks shaw_checks{
    "shaw",
    {{"clip_k", "q", "k", "v", "aK_rows_r_-k_to_k", "aV_rows_r_-k_to_k", "table_index"},
     {{"logits_scaled_bidirectional",
       [](const Json& s) {
         check_close(shaw(s, "shaw_k", false).score()[0], s.at("logits_scaled_bidirectional"));
         check_close(shaw(s, "shaw_kv", false).score()[0], s.at("logits_scaled_bidirectional"));
       }},
      {"out_keys_and_values_bidirectional",
       [](const Json& s) {
         check_close(shaw(s, "shaw_kv", false).mix()[0], s.at("out_keys_and_values_bidirectional"));
       }},
      {"out_keys_and_values_causal", [](const Json& s) {
         check_close(shaw(s, "shaw_kv", true).mix()[0], s.at("out_keys_and_values_causal"));
       }}}}};

}  // namespace
}  // namespace posbench
