#include "encodings/parts/rotary.h"

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Rotates a row of the section at position 3.
RowMajor rotated(const Json& s, const Json& row, Pairing pairing, bool back) {
  const std::vector<double> frequencies = rope_frequencies(s.at("d"), s.at("base"));
  RowMajor angle(1, 2);
  angle << 3 * frequencies[0], 3 * frequencies[1];
  const RowMajor x = matrix(row), cosine = angle.array().cos(), sine = angle.array().sin();
  RowMajor y = RowMajor::Zero(1, 4);
  back ? rotate_backward(x, cosine, sine, pairing, y) : rotate(x, cosine, sine, pairing, y);
  return y;
}

/// sqrt(D) times the score of query x at m and key y at n.
double score(const Json& s, const std::string& pairing, int m, int n) {
  Bench bench("rope:pairing=" + pairing, 8, s.at("d"), 1, false);
  bench.q[0].row(m) = matrix(s.at("x"));
  bench.k[0].row(n) = matrix(s.at("y"));
  return bench.score()[0](m, n) * 2;
}

const RegisterChecks rope{
    "rope",
    {{"d", "base", "x", "y"},
     {{"inv_freq",
       [](const Json& s) {
         const std::vector<double> frequencies = rope_frequencies(s.at("d"), s.at("base"));
         for (size_t n = 0; n < 2; ++n) check_close(frequencies.at(n), s.at("inv_freq").at(n));
       }},
      {"interleaved_x_at_p3",
       [](const Json& s) {
         check_close(rotated(s, s.at("x"), Pairing::interleaved, false), s.at("interleaved_x_at_p3"));
       }},
      {"half_split_x_at_p3",
       [](const Json& s) {
         check_close(rotated(s, s.at("x"), Pairing::half_split, false), s.at("half_split_x_at_p3"));
       }},
      {"interleaved_logit_unscaled_q_x_at_m7_k_y_at_n4",
       [](const Json& s) {
         check_close(score(s, "interleaved", 7, 4), s.at("interleaved_logit_unscaled_q_x_at_m7_k_y_at_n4"));
       }},
      {"half_split_logit_unscaled_q_x_at_m7_k_y_at_n4",
       [](const Json& s) {
         check_close(score(s, "half_split", 7, 4), s.at("half_split_logit_unscaled_q_x_at_m7_k_y_at_n4"));
       }},
      {"interleaved_logit_same_offset_m3_n0",
       [](const Json& s) {
         check_close(score(s, "interleaved", 3, 0), s.at("interleaved_logit_same_offset_m3_n0"));
       }},
      {"interleaved_logit_opposite_sign_m4_n7",
       [](const Json& s) {
         check_close(score(s, "interleaved", 4, 7), s.at("interleaved_logit_opposite_sign_m4_n7"));
       }},
      {"backward_grad_x_given_dout_y_interleaved_p3", [](const Json& s) {
         check_close(rotated(s, s.at("y"), Pairing::interleaved, true),
                     s.at("backward_grad_x_given_dout_y_interleaved_p3"));
       }}}}};

}  // namespace
}  // namespace posbench
