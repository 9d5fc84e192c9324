// Reference checks of the encodings in encodings/contextual with contextual positions, biases and reflections.
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns CoPE on the vectors of the section, with these options.
Bench cope(const Json& s, const std::string& options) {
  Bench bench("cope:positions=" + s.at("npos").dump() + options, s.at("T"), s.at("d"), 1, true);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.learned("cope.table.0") = matrix(s.at("e_rows_are_positions_0_to_npos_minus_1"));
  return bench;
}

/// Returns the clamped positions. They are read from the scores: with the table e[n] = (n, 0), q_i = (1, 1) and
/// gates from the values, t(i, j) = p(i, j).
EigenMatrix positions(const Json& gates, int rows) {
  const EigenMatrix g = matrix(gates);
  const int T = static_cast<int>(g.rows());
  // One query at a time, since the gates of all queries have rank T in general.
  EigenMatrix p = EigenMatrix::Zero(T, T);
  for (int i = 0; i < T; ++i) {
    Bench bench("cope:gates=values,scaling=none,positions=" + std::to_string(rows), T, 2, 1, true);
    for (int m = 0; m <= i; ++m) bench.v[0](m, 1) = std::log(g(i, m) / (1 - g(i, m)));
    bench.q[0].row(i) << 1, 1;
    auto table = bench.learned("cope.table.0");
    for (int n = 0; n < rows; ++n) table.row(n) << n, 0;
    p.row(i).head(i + 1) = bench.score()[0].row(i).head(i + 1);
  }
  return p;
}

void check_scores(Bench& bench, const Json& expected) {
  check_close(bench.score()[0], expected.at("logits_before_softmax"));
  check_close(positions(expected.at("gates"), 100), expected.at("positions_unclamped"));
  if (expected.contains("positions_clamped")) {
    check_close(positions(expected.at("gates"), 3), expected.at("positions_clamped"));
  }
}

/// Checks the gates of the file against their closed form.
void check_gates(const Json& q, const Json& keys, double scale, const Json& expected) {
  const EigenMatrix logits = scale * matrix(q) * matrix(keys).transpose();
  check_close(logits.array().logistic().matrix(), expected);
}

void check_gradients(const Json& s, const std::string& options, const Json& expected) {
  Bench bench = cope(s, options);
  check_scores(bench, expected);
  check_gates(s.at("q"), s.at("k"), s.at("scale"), expected.at("gates"));
  check_close(bench.attend()[0], expected.at("attention"));
  Heads upstream(1);
  upstream[0] = Matrix(matrix(s.at("upstream_grad_on_logits")));
  bench.score_backward(upstream);
  check_close(bench.d_q[0], expected.at("dq"));
  check_close(bench.d_k[0], expected.at("dk"));
  check_close(bench.d_parameters.flat.head(6).reshaped<Eigen::RowMajor>(3, 2), expected.at("de"));
}

const RegisterChecks contextual{
    "cope",
    {{"T", "d", "npos", "scale", "q", "k", "e_rows_are_positions_0_to_npos_minus_1", "upstream_grad_on_logits"},
     {{"repo_default", [](const Json& s) { check_gradients(s, "", s.at("repo_default")); }},
      {"repo_nodiv", [](const Json& s) { check_gradients(s, ",scaling=content", s.at("repo_nodiv")); }},
      {"paper_eq_no_scaling",
       [](const Json& s) {
         const Json& expected = s.at("paper_eq_no_scaling");
         Bench bench = cope(s, ",scaling=none");
         check_scores(bench, expected);
         check_gates(s.at("q"), s.at("k"), 1, expected.at("gates"));
       }},
      {"sep_keys_repo_default",
       [](const Json& s) {
         const Json& expected = s.at("sep_keys_repo_default");
         Bench bench = cope(s, ",gates=separate");
         bench.x = matrix(expected.at("k_gate"));  // through an identity projection
         bench.learned("cope.gate.0.weight").setIdentity();
         check_scores(bench, expected);
         check_gates(s.at("q"), expected.at("k_gate"), s.at("scale"), expected.at("gates"));
       }},
      {"all_gates_one_positions_T4", [](const Json& s) {
         Json ones = s.at("all_gates_one_positions_T4");
         for (Json& row : ones) {
           for (Json& entry : row) {
             if (!entry.is_null()) entry = 1 - 1e-13;  // near 1, with a finite logit
           }
         }
         check_close(positions(ones, 100), s.at("all_gates_one_positions_T4"));
       }}}}};

/// Returns two heads of three tokens. Their scaled products are the logits of section `dape`.
Bench dape(const Json& logits, const std::string& spec) {
  Bench bench(spec + ":hidden=2", 3, 8, 2, true);
  for (size_t h = 0; h < 2; ++h) {
    bench.q[h].leftCols(3) = 2 * matrix(logits.at(h));
    bench.k[h].setIdentity();
  }
  return bench;
}

void check_dape_scores(Bench& bench, const Json& expected) {
  const Heads& scores = bench.score();
  for (size_t h = 0; h < 2; ++h) check_close(scores[h], expected.at(h));
}

const RegisterChecks dape_checks{"dape",
                                 {{"scaled_logits_A", "mlp", "activation"},
                                  {{"alibi_bias_B",
                                    [](const Json& s) {
                                      Bench bench("alibi", 3, 8, 2, true);
                                      check_dape_scores(bench, s.at("alibi_bias_B"));
                                    }},
                                   {"out", [](const Json& s) {
                                      Bench bench = dape(s.at("scaled_logits_A"), "dape");
                                      const Json& network = s.at("mlp");
                                      bench.learned("dape.0.in.weight") = matrix(network.at("W1_2x2H"));
                                      bench.learned("dape.0.in.bias") = matrix(network.at("b1"));
                                      bench.learned("dape.0.out.weight") = matrix(network.at("W2_Hx2"));
                                      bench.learned("dape.0.out.bias") = matrix(network.at("b2"));
                                      check_dape_scores(bench, s.at("out"));
                                    }}}}};

/// Copies a kernel (outputs, inputs, 3) to the entries of the encoding's parameter.
template <class Entry>
void set_kernel(const Json& kernel, Entry entry) {
  for (size_t o = 0; o < kernel.size(); ++o) {
    for (size_t i = 0; i < kernel[o].size(); ++i) {
      for (size_t tap = 0; tap < 3; ++tap) {
        entry(static_cast<Index>(o), static_cast<Index>(i), static_cast<Index>(tap)) =
            kernel[o][i][tap].get<double>();
      }
    }
  }
}

const RegisterChecks dape_v2_checks{
    "dape_v2",
    {{"kernels", "note"},
     {{"out", [](const Json& s) {
         const Json all =
             Json::parse(std::ifstream(POSBENCH_SOURCE_DIR "/tests/encodings/checks/encoding_checks.json"));
         Bench bench = dape(all.at("dape").at("scaled_logits_A"), "dape_v2");
         const Json& kernels = s.at("kernels");
         auto in = bench.learned("dape_v2.0.in.weight"), out = bench.learned("dape_v2.0.out.weight");
         set_kernel(kernels.at("K1_w_in_3"),
                    [&](Index o, Index i, Index tap) -> Real& { return in(o, tap * 4 + i); });
         set_kernel(kernels.at("K2_H_w_3"),
                    [&](Index o, Index i, Index tap) -> Real& { return out(tap * 2 + o, i); });
         bench.learned("dape_v2.0.in.bias") = matrix(kernels.at("b1"));
         bench.learned("dape_v2.0.out.bias") = matrix(kernels.at("b2"));
         check_dape_scores(bench, s.at("out"));
       }}}}};

/// Returns the section's vectors in the first of two heads. x holds w in channels 0 and 1, the logits of beta / 2
/// in channel 2, and the gate logits of section `fox` in channel 3.
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
         check_close(EigenMatrix(std::sqrt(2.0) * path(s, "path").score()[0]), s.at("unscaled_logits"));
       }},
      {"scaled_logits", [](const Json& s) { check_close(path(s, "path").score()[0], s.at("scaled_logits")); }},
      {"path_fox_scaled_logits_with_log_gates_of_fox_section", [](const Json& s) {
         check_close(path(s, "path_fox").score()[0], s.at("path_fox_scaled_logits_with_log_gates_of_fox_section"));
       }}}}};

}  // namespace
}  // namespace posbench
