#include "encodings/parts/slopes.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// The scores of zero queries and keys: the bias alone.
void check_bias(const std::string& spec, bool causal, const Json& expected) {
  Bench bench(spec, 4, 4, 2, causal);
  for (size_t h = 0; h < 2; ++h) check_close(bench.score()[h], expected.at(h));
}

const RegisterChecks alibi{
    "alibi",
    {{},
     {{"slopes",
       [](const Json& s) {
         for (const auto& [heads, slopes] : s.at("slopes").items()) {
           CAPTURE(heads);
           const std::vector<double> actual = alibi_slopes(std::stoi(heads));
           check_close(Eigen::Map<const RowMajor>(actual.data(), 1, static_cast<Index>(actual.size())), slopes);
         }
       }},
      {"causal_bias_H2_T4", [](const Json& s) { check_bias("alibi", true, s.at("causal_bias_H2_T4")); }},
      {"bidirectional_symmetric_H2_T4",
       [](const Json& s) { check_bias("alibi", false, s.at("bidirectional_symmetric_H2_T4")); }},
      {"bidirectional_ruoss_offset_H2_T4",
       [](const Json& s) { check_bias("alibi:sides=offset", false, s.at("bidirectional_ruoss_offset_H2_T4")); }},
      {"bidirectional_split_heads_H2_T4_note", [](const Json&) {  // first half left only, second half right only
         Bench bench("alibi:sides=split", 4, 4, 2, false);
         const Heads& attention = bench.attend();
         for (Index i = 0; i < 4; ++i) {
           for (Index j = 0; j < 4; ++j) {
             CHECK((attention[0](i, j) > 1e-100) == (j <= i));
             CHECK((attention[1](i, j) > 1e-100) == (j >= i));
           }
         }
       }}}}};

}  // namespace
}  // namespace posbench
