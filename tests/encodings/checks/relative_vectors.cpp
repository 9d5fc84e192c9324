// Reference checks of the encodings in encodings/relative_vectors.
#include <algorithm>
#include <cmath>
#include <string>

#include "model/layers.h"
#include "tests/encodings/checks/checks.h"
// clang-format off
#include <Eigen/Cholesky>  // after model/tensor.h, which defines the effect of a failed assertion of Eigen
// clang-format on

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

/// Returns the scores of Transformer-XL. The section describes head 0 of two.
EigenMatrix transformer_xl(const Json& s, bool causal) {
  REQUIRE(s.at("d_head") == 2);
  Bench bench("txl", 4, s.at("d_model"), 2, causal);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.learned("txl.u").row(0) = matrix(s.at("u"));
  bench.learned("txl.w").row(0) = matrix(s.at("v"));
  bench.learned("txl.projection.0").leftCols(2) = matrix(s.at("W_kR_dhead_x_dmodel")).transpose();
  bench.update();
  return bench.score()[0];
}

const RegisterChecks transformer_xl_checks{
    "transformer_xl",
    {{"d_model", "d_head", "W_kR_dhead_x_dmodel", "u", "v", "q", "k", "relative_argument"},
     {{"logits_scaled_causal_T4",
       [](const Json& s) { check_close(transformer_xl(s, true), s.at("logits_scaled_causal_T4")); }},
      {"logits_scaled_bidirectional_T4",
       [](const Json& s) { check_close(transformer_xl(s, false), s.at("logits_scaled_bidirectional_T4")); }}}}};

/// Returns DeBERTa's scores for the vectors of the section, which describe head 0 of two. P is the identity, so
/// the projections are the 4 rows of the section.
EigenMatrix deberta(const Json& s, const std::string& options) {
  REQUIRE(s.at("scale") == "1/sqrt(3*d_head)");
  Bench bench("deberta:size=" + s.at("k").dump() + options, 4, 4, 2, false);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k_content"));
  bench.learned("deberta.table").setIdentity();
  bench.learned("deberta.key.0").leftCols(2) = matrix(s.at("K_r_2k_rows"));
  bench.learned("deberta.query.0").leftCols(2) = matrix(s.at("Q_r_2k_rows"));
  bench.update();
  return bench.score()[0];
}

/// Returns the row of P that each pair reads. Row n is n, so the unscaled scores with q = (1, 0) are the row
/// numbers.
EigenMatrix row_numbers(const std::string& options, int rows, int length) {
  Bench bench("deberta:" + options, length, 2, 1, false);
  bench.q[0].col(0).setOnes();
  auto table = bench.learned("deberta.table");
  table.setZero();
  for (int n = 0; n < rows; ++n) table(n, 0) = n;
  bench.learned("deberta.key.0").setIdentity();
  bench.update();
  return std::sqrt(6.0) * bench.score()[0];
}

const RegisterChecks deberta_checks{
    "deberta",
    {{"k", "q", "k_content", "K_r_2k_rows", "Q_r_2k_rows", "scale"},
     {{"index_delta_ij", [](const Json& s) { check_close(row_numbers("size=2", 4, 4), s.at("index_delta_ij")); }},
      {"logits_code_c2p_p2c", [](const Json& s) { check_close(deberta(s, ""), s.at("logits_code_c2p_p2c")); }},
      {"logits_paper_c2p_p2c",
       [](const Json& s) { check_close(deberta(s, ",third=paper"), s.at("logits_paper_c2p_p2c")); }},
      {"log_bucket_size8_max16_r_-20_20",
       [](const Json& s) {
         const EigenMatrix rows = row_numbers("size=8,max_distance=16", 16, 41);
         int covered = 0;
         for (const Json& run : s.at("log_bucket_size8_max16_r_-20_20")) {
           for (int r = run.at(1); r <= run.at(2); ++r, ++covered) check_close(rows(20, 20 - r) - 8, run.at(0));
         }
         CHECK(covered == 41);
       }},
      {"log_bucket_size256_max512_samples_r_to_bucket", [](const Json& s) {
         const EigenMatrix rows = row_numbers("size=256,max_distance=512", 512, 601);
         for (const Json& sample : s.at("log_bucket_size256_max512_samples_r_to_bucket")) {
           const int r = sample.at(0);
           check_close(rows(std::max(r, 0), std::max(-r, 0)) - 256, sample.at(1));
         }
       }}}}};

/// Returns head 0 of four with the projected positions of the section. With 5 rows, token t reads row t + 1. The
/// normalized rows are linearly independent, so there are projections that give the values of the section.
Bench tupe(const Json& s, const std::string& options) {
  REQUIRE(s.at("scale") == "1/sqrt(2*d_head)");
  const bool reset = options != "reset=never";
  Bench bench("tupe_a:" + options, 4, 8, 4, false, 4);
  auto table = bench.learned("tupe_a.positions");
  const Index R = table.rows();
  REQUIRE(R == (reset ? 5 : 4));
  Matrix normalized(R, 8), deviation(R, 1), y(R, 8);
  layer_norm(table, bench.learned("tupe_a.norm.weight"), bench.learned("tupe_a.norm.bias"), normalized, deviation,
             y);
  const auto solve = [&](const std::string& projection, const std::string& field) {
    const EigenMatrix target = matrix(s.at(field)).bottomRows(R);
    const EigenMatrix gram = y * y.transpose();
    bench.learned("tupe_a." + projection + ".weight").leftCols(2) = y.transpose() * gram.ldlt().solve(target);
  };
  solve("query", "projected_pos_q_5_rows");
  solve("key", "projected_pos_k_5_rows");
  bench.update();
  return bench;
}

const RegisterChecks tupe_checks{
    "tupe",
    {{"projected_pos_q_5_rows", "projected_pos_k_5_rows", "scale"},
     {{"theta_cls_to_others",
       [](const Json& s) { check_close(tupe(s, "reset=always").score()[0](0, 2), s.at("theta_cls_to_others")); }},
      {"theta_others_to_cls",
       [](const Json& s) { check_close(tupe(s, "reset=always").score()[0](2, 0), s.at("theta_others_to_cls")); }},
      {"abs_bias_T4",
       [](const Json& s) { check_close(tupe(s, "reset=bidirectional").score()[0], s.at("abs_bias_T4")); }},
      {"logits_tupe_a",
       [](const Json& s) {
         Bench bench = tupe(s, "reset=always");  // q and k are those of the file's other sections
         bench.q[0] << 0.6, -0.4, 1.0, 0.5, -0.8, 1.2, 0.9, 0.7;
         bench.k[0] << 0.5, 1.0, -1.0, 0.3, 0.7, 0.8, 0.2, -0.6;
         check_close(bench.score()[0], s.at("logits_tupe_a"));
       }},
      {"untied_no_cls_reset_abs_bias_T4", [](const Json& s) {
         check_close(tupe(s, "reset=never").score()[0], s.at("untied_no_cls_reset_abs_bias_T4"));
       }}}}};

}  // namespace
}  // namespace posbench
