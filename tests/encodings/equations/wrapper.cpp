// Equations of the encodings in encodings/wrapper.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "model/attention.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns the 1.5-entmax of row i, by sorting (Peters et al. 2019, algorithm 2).
double entmax15(const Case& c, int h, int i, int j) {
  std::vector<double> z;
  for (Index m = 0; m < num_visible_keys(i, c.T, c.causal); ++m) z.push_back(c.scores[h](i, m) / 2);
  std::sort(z.begin(), z.end(), std::greater<>());
  double sum = 0, squares = 0, tau = 0;
  for (size_t rho = 1; rho <= z.size(); ++rho) {
    sum += z[rho - 1];
    squares += z[rho - 1] * z[rho - 1];
    const double mean = sum / rho, spread = squares - sum * mean;
    if (spread > 1) break;
    const double candidate = mean - std::sqrt((1 - spread) / rho);
    if (candidate <= z[rho - 1]) tau = candidate;
  }
  return std::pow(std::max(c.scores[h](i, j) / 2 - tau, 0.0), 2);
}

double asentmax_score(const Case& c, int h, int i, int j) {
  if (h < 2) return c.dot(h, i, j) - (i - j) / (h + 1.0);
  const double gamma = 2 * std::tanh(c.x_dot("asentmax.gamma.1", i, h - 2));
  const double factor = 1 + softplus(c.x_dot("asentmax.beta.1", i, h - 2)) * std::pow(std::log(i + 2), gamma);
  return factor * c.dot(h, i, j);
}
const RegisterEquation row_asentmax_score("asentmax", Stage::score, Models::causal, asentmax_score);

const RegisterEquation asentmax_normalize("asentmax", Stage::normalize, entmax15);

double entmax_score(const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - (h < 2 ? (i - j) / (h + 1.0) : 0);
}
const RegisterEquation row_entmax_score("entmax", Stage::score, Models::causal, entmax_score);

const RegisterEquation entmax_normalize("entmax", Stage::normalize, entmax15);

/// Returns the sparsemax. Its threshold tau leaves a sum of 1.
double sparsemax(const Case& c, int h, int i, int j) {
  std::vector<double> z;
  for (Index m = 0; m < num_visible_keys(i, c.T, c.causal); ++m) z.push_back(c.scores[h](i, m));
  std::sort(z.begin(), z.end(), std::greater<>());
  double sum = 0, tau = 0;
  for (size_t n = 1; n <= z.size(); ++n) {
    sum += z[n - 1];
    if (1 + n * z[n - 1] > sum) tau = (sum - 1) / n;
  }
  return std::max(c.scores[h](i, j) - tau, 0.0);
}
const RegisterEquation row_sparsemax("entmax:alpha=2,base=none", Stage::normalize, sparsemax);

const RegisterEquation heads("heads", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - (h < 2 ? 0 : std::exp2(-8.0 * (h - 1) / 2) * std::abs(i - j));
});

/// Returns the score of RoPE.
double rope_score(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) { return (i - j) * std::pow(10000.0, -2.0 * n / c.D); });
}

double gated_output(const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < num_visible_keys(i, c.T, c.causal); ++j) sum += c.attention[h](i, j) * c.v[h](j, channel);
  return sum * sigmoid(c.x_dot("gated.weight.1", i, h * c.D + channel));
}
const RegisterEquation gated_score("gated", Stage::score, rope_score);
const RegisterEquation row_gated_output("gated", Stage::mix, gated_output);

double head_gated_output(const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < num_visible_keys(i, c.T, c.causal); ++j) sum += c.attention[h](i, j) * c.v[h](j, channel);
  return sum * sigmoid(c.x_dot("gated.weight.1", i, h));
}
const RegisterEquation row_head_gated_output("gated:base=none,gate=head", Stage::mix, head_gated_output);

double attention_with_sink(const Case& c, int h, int i, int j) {
  double sum = std::exp(c.learned("sink_logit.logit.1", 0, h));
  for (Index m = 0; m < num_visible_keys(i, c.T, c.causal); ++m) sum += std::exp(c.scores[h](i, m));
  return std::exp(c.scores[h](i, j)) / sum;
}
const RegisterEquation sink_logit_score("sink_logit", Stage::score, rope_score);
const RegisterEquation row_attention_with_sink("sink_logit", Stage::normalize, attention_with_sink);

constexpr double kUnseen = -INFINITY;

double windowed_rope(const Case& c, int h, int i, int j) {  // a quarter of L = 12
  return std::abs(i - j) < 3 ? rope_score(c, h, i, j) : kUnseen;
}
const RegisterEquation row_windowed_rope("local", Stage::score, windowed_rope);

double chunked_content(const Case& c, int h, int i, int j) {
  const double temperature = 1 + 0.1 * std::log(1 + std::floor((i + 1) / 3.0));
  return j < 1 || i / 4 == j / 4 ? temperature * c.dot(h, i, j) : kUnseen;
}
const RegisterEquation row_chunked_content("local:base=none,window=0,chunk=4,sinks=1,temperature=3", Stage::score,
                                           chunked_content);

/// The number of keys that query i sees in a window of 4.
double keys_of_four(const Case& c, int i, int length) {
  return std::min(i + 1, 4) + (c.causal ? 0 : std::min(length - 1 - i, 3));
}
double log_length(const Case& c, int h, int i, int j) {
  if (std::abs(i - j) >= 4) return kUnseen;
  return std::log(keys_of_four(c, i, c.T)) / std::log(keys_of_four(c, 11, 12)) * c.dot(h, i, j);
}
const RegisterEquation row_log_length("local:base=none,window=4,logit_scale=log_length", Stage::score, log_length);

// The case is in layer 1, which has no positions by default.
const RegisterEquation layers("layers");

double layers_alibi(const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
}
const RegisterEquation row_layers_alibi("layers:of=(none,alibi)", Stage::score, layers_alibi);

double layers_window(const Case& c, int h, int i, int j) {
  return i / 2 == j / 2 ? c.dot(h, i, j) * (1 + 0.1 * std::log(1.0 + (i + 1) / 6)) : kUnseen;
}
const RegisterEquation row_layers_window("layers:chunk=(0,2),temperature=(0,0.5x)", Stage::score, layers_window);

double random_float(const Case& c, int, int t, int channel) {  // L = 12 positions in an interval of length 12
  const double angle = (t + 0.5) * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}
const RegisterEquation row_random_float("random_float", Stage::embed, random_float);

const RegisterEquation random_offset("random_offset", Stage::embed, [](const Case& c, int, int t, int channel) {
  return c.learned("learned_abs.table", t, channel);
});

double randomized(const Case& c, int, int t, int channel) {
  const double angle = c.sequence.positions.at[t] * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
  return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
}
const RegisterEquation row_randomized("randomized", Stage::embed, randomized);

const RegisterEquation ssmax("ssmax", Stage::score, [](const Case& c, int h, int i, int j) {
  const double rope =
      turned(c, false, h, i, j, [&](int n) { return (i - j) * std::pow(10000.0, -2.0 * n / c.D); });
  return c.learned("ssmax.scale.1", 0, h) * std::log(c.causal ? i + 1 : c.T) * rope;
});

double ssmax_beyond(const Case& c, int h, int i, int j) {
  const double alibi = c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
  return std::max(1.0, std::log(c.causal ? i + 1 : c.T) / std::log(5)) * alibi;
}
const RegisterEquation row_ssmax_beyond("ssmax:base=alibi,factor=log_ratio_beyond,length=5", Stage::score,
                                        ssmax_beyond);

const RegisterEquation sum("sum", Stage::score, Models::causal, [](const Case& c, int h, int i, int j) {
  double p = 0;
  for (int m = j; m <= i; ++m) p += 1 / (1 + std::exp(-c.dot(h, i, m)));
  const int n = static_cast<int>(p);
  const double f = p - n;
  const double cope =
      (1 - f) * c.query_dot("sum.0.cope.table.1", h, i, n) + f * c.query_dot("sum.0.cope.table.1", h, i, n + 1);
  const double shaw = c.query_dot("sum.1.shaw_k.keys.1", h, i, std::clamp(j - i, -16, 16) + 16);
  return c.dot(h, i, j) + (cope + shaw) / std::sqrt(c.D);
});

double sum_of_three_score(const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) + c.learned("sum.1.t5_bias.table", t5_bucket(i - j, c.causal), h) -
         std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
}
const RegisterEquation row_sum_of_three_score("sum:of=(learned_abs,t5_bias,alibi)", Stage::score,
                                              sum_of_three_score);

double sum_of_three_embed(const Case& c, int, int t, int channel) {
  return c.learned("sum.0.learned_abs.table", t, channel);
}
const RegisterEquation row_sum_of_three_embed("sum:of=(learned_abs,t5_bias,alibi)", Stage::embed,
                                              sum_of_three_embed);

}  // namespace
}  // namespace posbench::equations
