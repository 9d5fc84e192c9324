#include "encodings/parts/t5_buckets.h"
#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// The scores of zero queries and keys: the bias alone.
RowMajor bias(Bench& bench, size_t head = 0) { return bench.score()[head]; }

/// The gradient of a parameter from score_backward.
MatrixView gradient(Bench& bench, const std::string& name) {
  const MatrixView parameter = bench.learned(name);
  return {bench.d_parameters.flat.data() + (parameter.data() - bench.parameters.flat.data()), parameter.rows(),
          parameter.cols()};
}

/// T5's buckets, read from a table in which row n is n.
void check_buckets(const std::string& options, bool causal, int buckets, int length, const Json& runs) {
  Bench bench("t5_bias" + options, length, 4, 1, causal);
  auto table = bench.learned("t5_bias.table");
  for (int n = 0; n < buckets; ++n) table(n, 0) = n;
  bench.update();
  const RowMajor scores = bias(bench);
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
       [](const Json& s) {  // never seen by a query; the function is defined all the same
         int distance = 0;
         for (const Json& bucket : s.at("causal_future_keys_bucket")) CHECK(T5Buckets{}.of(--distance) == bucket);
       }}}}};

/// KERPLE with one head and these scalars.
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

/// Sandwich of the section's width and heads over distances 0 to 5, (H, 6), nearest first.
RowMajor sandwich(const Json& s, const std::string& options) {
  const int heads = s.at("H");
  Bench bench("sandwich:width=" + s.at("bar_d").dump() + options, 6, 4 * heads, heads, true);
  RowMajor rows(heads, 6);
  for (int h = 0; h < heads; ++h) rows.row(h) = bias(bench, static_cast<size_t>(h)).row(5).reverse();
  return rows;
}

/// The inner product from which every head's bias is computed.
void check_inner_product(const Json& s, const std::string& options, const Json& expected) {
  const RowMajor rows = sandwich(s, options);
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
         const RowMajor scores = bias(bench);
         RowMajor raw(1, 6);
         Index n = 0;
         for (const Index distance : {0, 1, 2, 10, 100, 1000})
           raw(0, n++) = 8 * scores(1000, 1000 - distance) + 64;
         check_close(raw, s.at("bar_d128_index_from_0_raw_d_0_1_2_10_100_1000"));
       }}}}};

/// FIRE with two heads and the parameters of the section.
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
                                    [](const Json& s) {  // through a network that is the identity
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

}  // namespace
}  // namespace posbench
