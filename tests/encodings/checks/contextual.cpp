#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// CoPE on the vectors of the section, with these options.
Bench cope(const Json& s, const std::string& options) {
  Bench bench("cope:positions=" + s.at("npos").dump() + options, s.at("T"), s.at("d"), 1, true);
  bench.q[0] = matrix(s.at("q"));
  bench.k[0] = matrix(s.at("k"));
  bench.learned("cope.table.0") = matrix(s.at("e_rows_are_positions_0_to_npos_minus_1"));
  return bench;
}

/// What a table e[n] = (n, ...) along q would add to the scores: the clamped positions themselves, read from the
/// scores. With q_i = (1, 0) for the table and separate keys for the gates, t(i, j) = p(i, j).
RowMajor positions(const Json& gates, int rows) {
  const RowMajor g = matrix(gates);
  const int T = static_cast<int>(g.rows());
  // One query at a time: width 2 T + 2 would suffice for all, but gates have rank T in general, so that each key
  // holds a row.
  RowMajor p = RowMajor::Zero(T, T);
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

/// The gates, from q and the keys that they are computed from: an encoding whose table is e[n] = (n, n) along a
/// gate of one key alone gives that gate; its closed form is checked against the file here, and through the scores
/// above.
void check_gates(const Json& q, const Json& keys, double scale, const Json& expected) {
  const RowMajor logits = scale * matrix(q) * matrix(keys).transpose();
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
         bench.x = matrix(expected.at("k_gate"));  // through the identity
         bench.learned("cope.gate.0.weight").setIdentity();
         check_scores(bench, expected);
         check_gates(s.at("q"), expected.at("k_gate"), s.at("scale"), expected.at("gates"));
       }},
      {"all_gates_one_positions_T4", [](const Json& s) {
         Json ones = s.at("all_gates_one_positions_T4");
         for (Json& row : ones) {
           for (Json& entry : row) {
             if (!entry.is_null()) entry = 1 - 1e-13;  // the nearest to 1 that has a logit
           }
         }
         check_close(positions(ones, 100), s.at("all_gates_one_positions_T4"));
       }}}}};

}  // namespace
}  // namespace posbench
