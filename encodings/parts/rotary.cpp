#include "encodings/parts/rotary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/spec.h"
#include "encodings/registry.h"
#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Calls f(a, b, n) for the two components a, b of each pair n.
template <class F>
void for_each_pair(Pairing pairing, Index pairs, F f) {
  if (pairing == Pairing::interleaved) {
    for (Index n = 0; n < pairs; ++n) f(2 * n, 2 * n + 1, n);
  } else {
    for (Index n = 0; n < pairs; ++n) f(n, n + pairs, n);
  }
}

}  // namespace

void rotate(const In& x, const In& cosine, const In& sine, Pairing pairing, Out y) {
  const Index pairs = cosine.cols(), rest = x.cols() - 2 * pairs;
  for (Index t = 0; t < x.rows(); ++t) {
    const Real *from = x.row(t).data(), *c = cosine.row(t).data(), *s = sine.row(t).data();
    Real* to = y.row(t).data();
    for_each_pair(pairing, pairs, [=](Index a, Index b, Index n) {
      to[a] = from[a] * c[n] - from[b] * s[n];
      to[b] = from[a] * s[n] + from[b] * c[n];
    });
  }
  y.rightCols(rest) = x.rightCols(rest);
}

void rotate_backward(const In& d_y, const In& cosine, const In& sine, Pairing pairing, Out d_x) {
  const Index pairs = cosine.cols(), rest = d_y.cols() - 2 * pairs;
  for (Index t = 0; t < d_y.rows(); ++t) {
    const Real *from = d_y.row(t).data(), *c = cosine.row(t).data(), *s = sine.row(t).data();
    Real* to = d_x.row(t).data();
    for_each_pair(pairing, pairs, [=](Index a, Index b, Index n) {
      to[a] += from[a] * c[n] + from[b] * s[n];
      to[b] += from[b] * c[n] - from[a] * s[n];
    });
  }
  d_x.rightCols(rest) += d_y.rightCols(rest);
}

void rotate_angle_backward(const In& y, const In& d_y, Pairing pairing, Out d_angle) {
  for (Index t = 0; t < y.rows(); ++t) {
    const Real *value = y.row(t).data(), *d = d_y.row(t).data();
    Real* to = d_angle.row(t).data();
    for_each_pair(pairing, d_angle.cols(),
                  [=](Index a, Index b, Index n) { to[n] += d[b] * value[a] - d[a] * value[b]; });
  }
}

void rotate_factors_backward(const In& x, const In& d_y, Pairing pairing, Out d_cosine, Out d_sine) {
  for (Index t = 0; t < x.rows(); ++t) {
    const Real *from = x.row(t).data(), *d = d_y.row(t).data();
    Real *d_c = d_cosine.row(t).data(), *d_s = d_sine.row(t).data();
    for_each_pair(pairing, d_cosine.cols(), [=](Index a, Index b, Index n) {
      d_c[n] += d[a] * from[a] + d[b] * from[b];
      d_s[n] += d[b] * from[a] - d[a] * from[b];
    });
  }
}

std::vector<double> rope_frequencies(Index width, double base) {
  std::vector<double> frequencies;
  for (Index n = 0; n < width / 2; ++n) {
    frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(n) / static_cast<double>(width)));
  }
  return frequencies;
}

void round_wavelengths(std::vector<double>& frequencies) {
  constexpr double kTurn = 2 * std::numbers::pi;
  for (double& w : frequencies) {
    if (w != 0) w = kTurn / std::max(1.0, std::round(kTurn / w));
  }
}

void require_pairs(const ModelConfig& config, const std::string& name) {
  if (config.head_width() % 2 == 0) return;
  throw InputError(
      fmt::format("encoding '{}' rotates pairs: the head width must be even, and width {} over {} heads gives {}",
                  name, config.width, config.heads, config.head_width()));
}

Rotary::Rotary(const ModelConfig& config, Pairing pairing, const std::string& name)
    : PositionEncoding(config), pairing_(pairing) {
  require_pairs(config, name);
}

void Rotary::rotations(const Positions& positions, const Spectrum& spectrum, double, Rotations& rotations) const {
  const Index pairs = static_cast<Index>(spectrum.frequencies.size());
  const size_t axes = std::max<size_t>(1, positions.coordinates.size());
  rotations.cosine.resize(positions.size(), pairs);
  rotations.sine.resize(positions.size(), pairs);
  rotations.amplitude = static_cast<Real>(spectrum.amplitude);
  rotations.keys_differ = false;
  for (Index t = 0; t < positions.size(); ++t) {
    for (Index n = 0; n < pairs; ++n) {  // in double precision, because positions may be large
      const Rounding r = positions.rounding;
      const double position = positions.coordinate(static_cast<size_t>(n) % axes)[t];
      const double angle = rounded_angle(r, position * rounded_frequency(r, spectrum.frequencies[n]));
      rotations.cosine(t, n) = static_cast<Real>(rounded_cosine(r, spectrum.amplitude * std::cos(angle)));
      rotations.sine(t, n) = static_cast<Real>(rounded_cosine(r, spectrum.amplitude * std::sin(angle)));
    }
  }
}

void Rotary::score_head(const AttentionInput& in, size_t h, const Rotations& of_queries, const Rotations& of_keys,
                        RotaryScratch& s, Out scores) const {
  const Index T = in.length();
  rotate(in.q[h], of_queries.cosine.topRows(T), of_queries.sine.topRows(T), pairing_, s.q);
  rotate(in.k[h], of_keys.of_keys_cosine().topRows(T), of_keys.of_keys_sine().topRows(T), pairing_, s.k);
  dot_product(s.q, s.k, scale(), config_.causal, scores);
}

void Rotary::score_head_backward(const AttentionInput& in, size_t h, const Rotations& of_queries,
                                 const Rotations& of_keys, const In& d_scores, RotaryScratch& s,
                                 AttentionGradient& d) const {
  const Index T = in.length();
  const auto key_cosine = of_keys.of_keys_cosine().topRows(T), key_sine = of_keys.of_keys_sine().topRows(T);
  rotate(in.q[h], of_queries.cosine.topRows(T), of_queries.sine.topRows(T), pairing_, s.q);
  rotate(in.k[h], key_cosine, key_sine, pairing_, s.k);
  s.d_q.setZero();
  s.d_k.setZero();
  dot_product_backward(s.q, s.k, scale(), config_.causal, d_scores, s.d_q, s.d_k);
  rotate_backward(s.d_q, of_queries.cosine.topRows(T), of_queries.sine.topRows(T), pairing_, d.q[h]);
  rotate_backward(s.d_k, key_cosine, key_sine, pairing_, d.k[h]);
}

void Rotary::score(const AttentionInput& in, Heads& scores) const {
  const Rotations& r = in.tables.constants<Rotations>();
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  for (size_t h = 0; h < scores.size(); ++h) score_head(in, h, r, r, scratch, scores[h]);
}

void Rotary::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  const Rotations& r = in.tables.constants<Rotations>();
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  for (size_t h = 0; h < d_scores.size(); ++h) score_head_backward(in, h, r, r, d_scores[h], scratch, d);
}

void describe_values(OptionTable& o, RotaryValues& values) {
  o.choice("values", values, {"plain", "rotated"},
           "values as they are, or rotated as keys are, with the output rotated back by the query's position");
}

void mix_rotated(const In& attention, const In& v, const ValueRotations& r, Out output) {
  rotate(v, r.key_cosine, r.key_sine, r.pairing, r.scratch.k);
  weighted_sum(attention, r.scratch.k, r.causal, r.scratch.q);
  output.setZero();
  rotate_backward(r.scratch.q, r.cosine, r.sine, r.pairing, output);
}

void mix_rotated_backward(const In& attention, const In& v, const ValueRotations& r, const In& d_output,
                          Out d_attention, Out d_v) {
  RotaryScratch& s = r.scratch;
  rotate(v, r.key_cosine, r.key_sine, r.pairing, s.k);
  rotate(d_output, r.cosine, r.sine, r.pairing, s.d_q);
  s.d_k.setZero();
  weighted_sum_backward(attention, s.k, r.causal, s.d_q, d_attention, s.d_k);
  rotate_backward(s.d_k, r.key_cosine, r.key_sine, r.pairing, d_v);
}

ValueRotations Rotary::value_rotations(const AttentionInput& in, RotaryScratch& scratch) const {
  const Rotations& r = in.tables.constants<Rotations>();
  const Index T = in.length();
  return {r.cosine.topRows(T),
          r.sine.topRows(T),
          r.of_keys_cosine().topRows(T),
          r.of_keys_sine().topRows(T),
          pairing_,
          config_.causal,
          scratch};
}

/// Divides the turned components by the square of the amplitude, since values are rotated and not scaled.
static void remove_amplitude(const Rotations& r, Out rows) {
  if (r.amplitude != 1) rows.leftCols(2 * r.cosine.cols()) /= r.amplitude * r.amplitude;
}

void Rotary::mix_values(const AttentionInput& in, const Heads& attention, Heads& output) const {
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  const ValueRotations r = value_rotations(in, scratch);
  for (size_t h = 0; h < output.size(); ++h) {
    mix_rotated(attention[h], in.v[h], r, output[h]);
    remove_amplitude(in.tables.constants<Rotations>(), output[h]);
  }
}

void Rotary::mix_values_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output,
                                 Heads& d_attention, AttentionGradient& d) const {
  RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
  const ValueRotations r = value_rotations(in, scratch);
  Matrix& d_rows = in.scratch(in.length(), config_.head_width());
  for (size_t h = 0; h < d_output.size(); ++h) {
    d_rows = d_output[h];
    remove_amplitude(in.tables.constants<Rotations>(), d_rows);
    mix_rotated_backward(attention[h], in.v[h], r, d_rows, d_attention[h], d.v[h]);
  }
}

void Rotary::content(const AttentionInput& in, const Rotations& r, Heads& content) const {
  Matrix& q = in.scratch(in.length(), config_.head_width());
  for (size_t h = 0; h < content.size(); ++h) {
    q = in.q[h];
    q.leftCols(2 * r.cosine.cols()) *= r.amplitude * r.amplitude;
    dot_product(q, in.k[h], scale(), config_.causal, content[h]);
  }
}

std::unique_ptr<PositionEncoding> make_rotary(const std::string& name, const std::string& text,
                                              const ModelConfig& config, ParameterLayout& layout) {
  const Spec spec = Spec::parse(text);
  const EncodingEntry& entry = encodings().find(spec.name);
  if (entry.is_rotary && entry.chooses_positions(spec)) {
    throw InputError(fmt::format(
        "encoding '{}': base is '{}', which does not take its positions from outside; leave out its options that "
        "choose positions",
        name, text));
  }
  if (entry.is_rotary) return make_encoding(spec, config, layout);
  std::vector<std::string> names = encodings().names();
  std::erase_if(names, [](const std::string& other) { return !encodings().find(other).is_rotary; });
  throw InputError(fmt::format("encoding '{}': base is '{}', expected one of the rotary ones: {}", name, text,
                               fmt::join(names, ", ")));
}

void RopeOptions::describe(OptionTable& o) {
  o.number("base", base, 1.001, 1e9,
           "base of the frequencies; RoPE's slowest pair turns once in about 2 pi base positions");
  o.choice("pairing", pairing, {"interleaved", "half_split"},
           "components of a pair: 2n and 2n + 1, or n and n + half of the rotated width");
}

Spectrum RopeVariant::spectrum() const {
  return {rope_frequencies(config_.head_width(), base_), config_.head_width(), base_};
}

}  // namespace posbench::inline POSBENCH_REAL
