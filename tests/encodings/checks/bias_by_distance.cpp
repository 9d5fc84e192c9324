// Reference checks of the encodings in encodings/bias_by_distance.
#include <string>
#include <vector>

#include "encodings/parts/slopes.h"
#include "encodings/parts/t5_buckets.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Checks the scores of zero queries and keys, which are the bias.
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
           check_close(Eigen::Map<const EigenMatrix>(actual.data(), 1, static_cast<Index>(actual.size())), slopes);
         }
       }},
      {"causal_bias_H2_T4", [](const Json& s) { check_bias("alibi", true, s.at("causal_bias_H2_T4")); }},
      {"bidirectional_symmetric_H2_T4",
       [](const Json& s) { check_bias("alibi", false, s.at("bidirectional_symmetric_H2_T4")); }},
      {"bidirectional_ruoss_offset_H2_T4",
       [](const Json& s) { check_bias("alibi:sides=offset", false, s.at("bidirectional_ruoss_offset_H2_T4")); }},
      {"bidirectional_split_heads_H2_T4_note",
       [](const Json&) {  // The first half sees keys to the left only, the second half keys to the right.
         Bench bench("alibi:sides=split", 4, 4, 2, false);
         const Heads& attention = bench.attend();
         for (Index i = 0; i < 4; ++i) {
           for (Index j = 0; j < 4; ++j) {
             CHECK((attention[0](i, j) > 1e-100) == (j <= i));
             CHECK((attention[1](i, j) > 1e-100) == (j >= i));
           }
         }
       }}}}};

/// Returns the scores of zero queries and keys, which are the bias.
EigenMatrix bias(Bench& bench, size_t head = 0) { return bench.score()[head]; }

/// Returns the gradient of a parameter from score_backward.
MatrixView gradient(Bench& bench, const std::string& name) {
  const MatrixView parameter = bench.learned(name);
  return {bench.d_parameters.flat.data() + (parameter.data() - bench.parameters.flat.data()), parameter.rows(),
          parameter.cols()};
}

/// Checks T5's buckets, read from a table in which row n is n.
void check_buckets(const std::string& options, bool causal, int buckets, int length, const Json& runs) {
  Bench bench("t5_bias" + options, length, 4, 1, causal);
  auto table = bench.learned("t5_bias.table");
  for (int n = 0; n < buckets; ++n) table(n, 0) = n;
  bench.update();
  const EigenMatrix scores = bias(bench);
  int covered = 0;
  for (const Json& run : runs) {
    const int first = run.at(1), last = run.at(2);
    for (int n = first; n <= last; ++n, ++covered) {  // causal: i - j; bidirectional: j - i
      CAPTURE(n);
      CHECK(scores(causal || n < 0 ? length - 1 : 0, causal  ? length - 1 - n
                                                     : n < 0 ? length - 1 + n
                                                             : n) == run.at(0));
    }
  }
  CHECK(covered == (causal ? length : 2 * length - 1));
}

const RegisterChecks t5_buckets{
    "t5_buckets",
    {{"format", "note"},
     {{"causal_nb32_md128_d0_200",
       [](const Json& s) { check_buckets("", true, 32, 201, s.at("causal_nb32_md128_d0_200")); }},
      {"bidirectional_nb32_md128_r-200_200",
       [](const Json& s) { check_buckets("", false, 32, 201, s.at("bidirectional_nb32_md128_r-200_200")); }},
      {"causal_nb8_md16_d0_40",
       [](const Json& s) {
         check_buckets(":buckets=8,max_distance=16", true, 8, 41, s.at("causal_nb8_md16_d0_40"));
       }},
      {"bidirectional_nb8_md16_r-40_40",
       [](const Json& s) {
         check_buckets(":buckets=8,max_distance=16", false, 8, 41, s.at("bidirectional_nb8_md16_r-40_40"));
       }},
      {"causal_nb16_md64_d0_100",
       [](const Json& s) {
         check_buckets(":buckets=16,max_distance=64", true, 16, 101, s.at("causal_nb16_md64_d0_100"));
       }},
      {"causal_future_keys_bucket",
       [](const Json& s) {  // No query sees these keys, but the function is defined for them.
         int distance = 0;
         for (const Json& bucket : s.at("causal_future_keys_bucket")) CHECK(T5Buckets{}.of(--distance) == bucket);
       }}}}};

/// Returns KERPLE with one head and these scalars.
Bench kerple(const std::string& kernel, int length, const Json& scalars) {
  Bench bench("kerple_" + kernel, length, 4, 1, true);
  bench.learned("kerple_" + kernel + ".r1")(0, 0) = scalars.at("r1");
  bench.learned("kerple_" + kernel + ".r2")(0, 0) = scalars.at("r2");
  bench.update();
  return bench;
}

void check_kernel(const std::string& kernel, const Json& expected) {
  Bench bench = kerple(kernel, 9, expected);
  check_close(bias(bench).row(8).reverse(), expected.at("bias_d0_8"));
}

void check_kernel_gradient(const Json& s, const std::string& kernel) {
  Bench bench = kerple(kernel, 5, s.at(kernel));
  const Json& expected = s.at("grad");
  Heads upstream;
  resize(upstream, 1, 5, 5);
  set_zero(upstream);
  upstream[0].row(4) = matrix(expected.at("upstream_for_d0_4")).reverse();
  bench.score_backward(upstream);
  check_close(gradient(bench, "kerple_" + kernel + ".r1")(0, 0), expected.at(kernel + "_d_r1"));
  check_close(gradient(bench, "kerple_" + kernel + ".r2")(0, 0), expected.at(kernel + "_d_r2"));
}

const RegisterChecks kerple_checks{"kerple",
                                   {{},
                                    {{"log", [](const Json& s) { check_kernel("log", s.at("log")); }},
                                     {"power", [](const Json& s) { check_kernel("power", s.at("power")); }},
                                     {"grad", [](const Json& s) {
                                        check_kernel_gradient(s, "log");
                                        check_kernel_gradient(s, "power");
                                      }}}}};

/// Returns Sandwich's biases (H, 6) over distances 0 to 5 with the section's width and heads.
EigenMatrix sandwich(const Json& s, const std::string& options) {
  const int heads = s.at("H");
  Bench bench("sandwich:width=" + s.at("bar_d").dump() + options, 6, 4 * heads, heads, true);
  EigenMatrix rows(heads, 6);
  for (int h = 0; h < heads; ++h) rows.row(h) = bias(bench, static_cast<size_t>(h)).row(5).reverse();
  return rows;
}

/// Checks the inner product from which every head's bias is computed.
void check_inner_product(const Json& s, const std::string& options, const Json& expected) {
  const EigenMatrix rows = sandwich(s, options);
  for (Index h = 0; h < rows.rows(); ++h) {
    const double compression = s.at("compression_h_times_8_over_H").at(static_cast<size_t>(h));
    check_close((rows.row(h).array() * compression + s.at("bar_d").get<double>() / 2).matrix(), expected);
  }
}

const RegisterChecks sandwich_checks{
    "sandwich",
    {{"bar_d", "H", "compression_h_times_8_over_H"},
     {{"raw_inner_product_index_from_0_d0_5",
       [](const Json& s) { check_inner_product(s, "", s.at("raw_inner_product_index_from_0_d0_5")); }},
      {"raw_inner_product_index_from_1_d0_5",
       [](const Json& s) { check_inner_product(s, ",first=1", s.at("raw_inner_product_index_from_1_d0_5")); }},
      {"bias_index_from_0_minus_half_over_compression",
       [](const Json& s) { check_close(sandwich(s, ""), s.at("bias_index_from_0_minus_half_over_compression")); }},
      {"bias_index_from_1_minus_half_over_compression",
       [](const Json& s) {
         check_close(sandwich(s, ",first=1"), s.at("bias_index_from_1_minus_half_over_compression"));
       }},
      {"bar_d128_index_from_0_raw_d_0_1_2_10_100_1000", [](const Json& s) {
         Bench bench("sandwich", 1001, 4, 1, true);
         const EigenMatrix scores = bias(bench);
         EigenMatrix raw(1, 6);
         Index n = 0;
         for (const Index distance : {0, 1, 2, 10, 100, 1000})
           raw(0, n++) = 8 * scores(1000, 1000 - distance) + 64;
         check_close(raw, s.at("bar_d128_index_from_0_raw_d_0_1_2_10_100_1000"));
       }}}}};

/// Returns FIRE with two heads and the parameters of the section.
Bench fire(const Json& s) {
  const Json& p = s.at("params");
  Bench bench("fire:hidden=3,threshold=" + p.at("init_L").dump(), s.at("T"), 4, 2, true);
  REQUIRE(p.at("eps") == 1e-6);
  REQUIRE(p.at("activation") == "relu");
  bench.learned("fire.c.0")(0, 0) = p.at("c");
  bench.learned("fire.mu.0")(0, 0) = p.at("L_multiplier");
  bench.learned("fire.w1.0") = matrix(p.at("W1_3x1"));
  bench.learned("fire.b1.0") = matrix(p.at("b1"));
  bench.learned("fire.w2.0") = matrix(p.at("W2_Hx3")).transpose();
  bench.learned("fire.b2.0") = matrix(p.at("b2"));
  bench.update();
  return bench;
}

const RegisterChecks fire_checks{"fire",
                                 {{"params", "T", "upstream_grad", "note"},
                                  {{"normalised_distance",
                                    [](const Json& s) {  // The network is the identity.
                                      Bench bench = fire(s);
                                      for (const char* name : {"fire.w1.0", "fire.b1.0", "fire.w2.0", "fire.b2.0"})
                                        bench.learned(name).setZero();
                                      bench.learned("fire.w1.0")(0, 0) = 1;
                                      bench.learned("fire.w2.0")(0, 0) = 1;
                                      bench.update();
                                      check_close(bias(bench), s.at("normalised_distance"));
                                    }},
                                   {"bias",
                                    [](const Json& s) {
                                      Bench bench = fire(s);
                                      for (size_t h = 0; h < 2; ++h)
                                        check_close(bias(bench, h), s.at("bias").at(h));
                                    }},
                                   {"grad", [](const Json& s) {
                                      Bench bench = fire(s);
                                      Heads upstream(2);
                                      for (size_t h = 0; h < 2; ++h)
                                        upstream[h] = Matrix(matrix(s.at("upstream_grad").at(h)));
                                      bench.score_backward(upstream);
                                      const Json& expected = s.at("grad");
                                      check_close(gradient(bench, "fire.c.0"), expected.at("c"));
                                      check_close(gradient(bench, "fire.mu.0"), expected.at("Lm"));
                                      check_close(gradient(bench, "fire.w1.0"), expected.at("W1"));
                                      check_close(gradient(bench, "fire.b1.0"), expected.at("b1"));
                                      check_close(gradient(bench, "fire.w2.0").transpose(), expected.at("W2"));
                                      check_close(gradient(bench, "fire.b2.0"), expected.at("b2"));
                                    }}}}};

const RegisterChecks hard_alibi_checks{
    "hard_alibi", {{"scaled_logits"}, {{"weights_by_head", [](const Json& s) {
                                          Bench bench =
                                              with_logits("hard_alibi:heads=2", s.at("scaled_logits"), 2);
                                          bench.attend();
                                          for (size_t h = 0; h < 2; ++h)
                                            check_close(bench.attention[h], s.at("weights_by_head").at(h));
                                        }}}}};

EigenMatrix bam_prior(const Json& s, double loc) {
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

}  // namespace
}  // namespace posbench
