// Measures the four properties of position encodings. Parameters have their initial values, or random ones if all
// are equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encodings/registry.h"
#include "harness/check/certify.h"
#include "model/attention_layer.h"
#include "model/hidden.h"

namespace posbench {
namespace {

constexpr int kTrained = 24, kLongest = 4 * kTrained;
constexpr int kSegment = 4;  // tokens; longer sequences have more segments
constexpr int kDraws = 16;   // of parameters, queries and keys
constexpr int kPositions =
    96;  // draws of positions in training for each draw of parameters, if positions are random
constexpr double kNothing = 1e-9;  // relative; smaller differences are rounding errors
/// Factors of the keys. A strong key opens a contextual gate wide, or closes it.
constexpr double kStrengths[] = {1, -1, 16, -16, 4096, -4096};

ModelConfig layer_config(const Spec& spec) {
  ModelConfig config;
  config.vocabulary = 7;
  config.layers = encodings().find(spec.name).info.min_layers;
  config.heads = 2;
  config.width = 32;
  config.trained_length = kTrained;
  config.longest = kLongest;
  return config;
}

using ReachedRows = std::set<std::pair<std::string, Index>>;  // of parameters, by name

/// One layer of attention that reads a sequence of equal tokens.
class Layer {
 public:
  Layer(const Spec& spec, std::uint64_t seed)
      : rng_(make_rng(seed, "properties")),
        config_(layer_config(spec)),
        encoding_(make_encoding(spec, config_, layout_)),
        encoding_entries_(layout_.entries().size()),
        layer_(config_, *encoding_, 0, "blocks.0.attention", layout_),
        parameters_(initialize(layout_, seed)),
        token_(1, config_.width) {
    for (size_t n = 0; n < encoding_entries_; ++n) {
      MatrixView values = parameters_[layout_.entries()[n].parameter];
      if ((values.array() != values(0, 0)).any()) continue;
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += static_cast<Real>(normal(rng_));
    }
    encoding_->constrain(parameters_);
    fill_normal(rng_, 1, token_);
    for (EigenMatrix* projection : {&query_, &key_}) {
      projection->resize(config_.width, config_.width);
      fill_normal(rng_, 1 / std::sqrt(config_.width), *projection);
    }
  }

  /// Draws positions. Returns true if they differ from the previous ones.
  bool draw_positions(int length, bool training) {
    const Positions before = sequence_.positions;
    sequence_.tokens.assign(length, 0);
    sequence_.training = training;
    sequence_.segments.clear();
    sequence_.digit_positions.clear();
    for (int t = 0; t < length; ++t) {
      sequence_.segments.push_back(t / kSegment);
      // Numbers have length / 4 digits, so they are longer in longer sequences.
      sequence_.digit_positions.push_back(t % (length / 4 + 1));
    }
    sequence_.positions = encoding_->positions(sequence_, rng_);
    encoding_->tables(parameters_, sequence_.positions, tables_);
    x_.resize(length, config_.width);
    x_.rowwise() = token_.row(0);
    recurrent_state_.clear();
    encoding_->embed(sequence_, parameters_, tables_, x_, recurrent_state_);
    return !(sequence_.positions == before);
  }

  /// Computes the scores of keys `strength` times as long.
  void compute_scores(double strength) {
    const Index T = x_.rows(), D = config_.head_width(), H = config_.heads;
    for (Heads* heads : {&q_, &k_, &v_}) resize(*heads, H, T, D);
    content.clear();
    for (Index h = 0; h < H; ++h) {
      q_[h] = x_ * query_.middleCols(h * D, D);
      k_[h] = static_cast<Real>(strength) * x_ * key_.middleCols(h * D, D);
      v_[h] = k_[h];
      const EigenMatrix q = token_ * query_.middleCols(h * D, D), k = token_ * key_.middleCols(h * D, D);
      content.push_back(strength * q.cwiseProduct(k).sum() / std::sqrt(D));
    }
    resize(scores, H, T, T);
    StageCall(layer_.encoding(), input())->score(input(), scores);
  }

  /// Computes the attention from the scores.
  void normalize_scores() {
    resize(attention, config_.heads, x_.rows(), x_.rows());
    StageCall(layer_.encoding(), input())->normalize(input(), scores, attention);
  }

  /// Marks the rows of parameters that random gradients of scores and outputs reach. If this is not needed, it
  /// only draws the gradients, so that positions that are drawn later are the same. This is the last call for a
  /// sequence.
  void mark_reached(ReachedRows& reached, bool is_needed) {
    const Index T = x_.rows(), D = config_.head_width(), H = config_.heads;
    Gradients d_parameters(layout_);
    Heads d_q, d_k, d_v, d_scores, d_attention, d_output;
    for (Heads* heads : {&d_q, &d_k, &d_v}) resize(*heads, H, T, D), set_zero(*heads);
    for (Heads* heads : {&d_scores, &d_attention}) resize(*heads, H, T, T), set_zero(*heads);
    resize(d_output, H, T, D);
    for (Index h = 0; h < H; ++h) {
      fill_normal(rng_, 1, d_output[h]);
      for (Index i = 0; i < T; ++i) fill_normal(rng_, 1, d_scores[h].row(i).head(i + 1));
    }
    if (!is_needed) return;
    normalize_scores();
    Matrices d_tables, d_recurrent_state;
    resize_like(tables_.values, d_tables);
    resize_like(recurrent_state_, d_recurrent_state);
    set_zero(d_tables);
    set_zero(d_recurrent_state);
    Matrix d_x(T, config_.width);
    d_x.setZero();
    AttentionGradient d{d_parameters, d_tables, d_recurrent_state, d_x, d_q, d_k, d_v};
    StageCall(layer_.encoding(), input())->mix_backward(input(), attention, d_output, d_attention, d);
    StageCall(layer_.encoding(), input())->score_backward(input(), d_scores, d);
    for (Index h = 0; h < H; ++h) {
      d_x += d_q[h] * query_.middleCols(h * D, D).transpose() + d_k[h] * key_.middleCols(h * D, D).transpose();
    }
    x_.rowwise() = token_.row(0);  // as embed received it
    encoding_->embed_backward(sequence_, parameters_, tables_, x_, d_recurrent_state, d_x, d_tables, d_parameters);
    encoding_->tables_backward(parameters_, sequence_.positions, tables_, d_tables, d_parameters);
    for (const auto& entry : layout_.entries()) {
      const MatrixView gradient = d_parameters[entry.parameter];
      for (Index row = 0; row < gradient.rows(); ++row) {
        if (!gradient.row(row).isZero(0)) reached.emplace(entry.name, row);
      }
    }
  }

  /// Returns true if all rows of the encoding's parameters are marked. The projections of the layer do not count,
  /// since an encoding reads them whole or not at all.
  bool has_reached_all(const ReachedRows& reached) const {
    return std::all_of(layout_.entries().begin(),
                       layout_.entries().begin() + static_cast<std::ptrdiff_t>(encoding_entries_),
                       [&](const auto& entry) {
                         for (Index row = 0; row < entry.parameter.rows; ++row) {
                           if (!reached.contains({entry.name, row})) return false;
                         }
                         return true;
                       });
  }

  Index heads() const { return config_.heads; }

  Heads scores, attention;      // H x (T, T)
  std::vector<double> content;  // H: the score that all pairs would have without positions

 private:
  AttentionInput input() {
    return {sequence_, parameters_, tables_, recurrent_state_, 0, x_, q_, k_, v_, scratch_};
  }

  Rng rng_;
  ModelConfig config_;
  ParameterLayout layout_;
  std::unique_ptr<PositionEncoding> encoding_;
  size_t encoding_entries_;  // the number of leading entries of the layout that belong to the encoding
  AttentionLayer layer_;     // its projection may be used by an encoding
  Parameters parameters_;
  EigenMatrix token_, query_, key_;
  Sequence sequence_;
  Tables tables_;
  Matrices recurrent_state_;
  Matrix x_;
  Heads q_, k_, v_;
  Scratch scratch_;
};

/// The range by which positions raise scores above those of content alone, over all added sequences.
struct ScoreRange {
  double high = 0, width = 0;  // width: the widest range of the scores of one sequence
  bool finite = true;
  void widen(const Matrix& scores, double content) {
    double sequence_low = INFINITY, sequence_high = -INFINITY;
    for (Index i = 0; i < scores.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) {
        const double score = scores(i, j);
        if (is_hidden(score)) continue;
        sequence_low = std::min(sequence_low, score);
        sequence_high = std::max(sequence_high, score);
        finite = finite && std::isfinite(score);
      }
    }
    high = std::max(high, sequence_high - content);
    width = std::max(width, sequence_high - sequence_low);
  }
  /// Returns how far `other` exceeds this range, in widths.
  double exceeded_by(const ScoreRange& other) const {
    const double beyond = other.high - high;
    return beyond <= kNothing * std::max(1.0, width) ? 0 : beyond / std::max(width, kNothing);
  }
};

/// Returns the number of keys that differ from all earlier keys in some row.   rows: (1, keys) each
int distinct_columns(const std::vector<EigenMatrix>& rows) {
  const auto same = [&](Index a, Index b) {
    return std::all_of(rows.begin(), rows.end(), [&](const EigenMatrix& row) {
      return std::abs(row(a) - row(b)) <= kNothing * (std::abs(row(a)) + std::abs(row(b)));
    });
  };
  int count = 0;
  for (Index a = 0; a < rows.front().cols(); ++a) {
    Index b = 0;
    while (b < a && !same(a, b)) ++b;
    count += b == a;
  }
  return count;
}

/// Returns Kendall's rank correlation of attention with distance: -1 if each key gets less than all nearer ones, 0
/// if no two differ.
double trend(const EigenMatrix& row) {
  const Index T = row.cols();
  int rises = 0;
  for (Index far = 0; far < T; ++far) {
    for (Index near = far + 1; near < T; ++near) {
      const double difference = row(far) - row(near);
      if (std::abs(difference) > kNothing * row(near)) rises += difference > 0 ? 1 : -1;
    }
  }
  return 2.0 * rises / static_cast<double>(T * (T - 1));
}

/// Returns the largest change of a score if both tokens are one segment later, relative to the largest score.
double moved_by_a_segment(const Matrix& scores) {
  const Index T = scores.rows();
  double largest = 0, moved = 0;
  for (Index i = kSegment; i + kSegment < T; ++i) {
    for (Index j = kSegment; j <= i; ++j) {
      const double before = scores(i, j), later = scores(i + kSegment, j + kSegment);
      if (is_hidden(before) && is_hidden(later)) continue;
      if (!is_hidden(before)) largest = std::max(largest, std::abs(before));
      moved = std::max(moved, std::abs(later - before));
    }
  }
  return largest > 0 ? moved / largest : 0;
}

/// Returns the property that an encoding states, or that of its base for `as_base`.
template <class Capability>
Capability expected(Spec spec, Qualified<Capability> EncodingInfo::*property) {
  while (true) {
    const Capability value = (encodings().find(spec.name).info.*property).value;
    if (value != Capability::as_base) return value;
    spec = wrapped(spec).value();
  }
}

/// The result of a measurement with equal tokens. none: positions make no difference
enum class MeasuredRelative { none, yes, no };

MeasuredRelative measurable(Relative relative) {
  switch (relative) {
    case Relative::not_applicable:
    case Relative::between_predicted_positions:  // equal tokens predict equal positions
      return MeasuredRelative::none;
    case Relative::yes:
    case Relative::accumulated:
    case Relative::counted:
    case Relative::order_of_keys:
    case Relative::between_segments:
      return MeasuredRelative::yes;
    case Relative::no:
    case Relative::nearly:
    case Relative::partly:
    case Relative::between_learned_positions:
    case Relative::as_base:
      break;
  }
  return MeasuredRelative::no;
}

std::string to_string(MeasuredRelative measured) {
  return measured == MeasuredRelative::none ? "none" : measured == MeasuredRelative::yes ? "yes" : "no";
}

Properties measure(const Spec& spec) {
  Properties p{.trained = kTrained, .longest = kLongest, .finite = true};
  ReachedRows reached, reached_far;
  std::vector<EigenMatrix> near_rows, far_rows;  // attention of the last query, for each draw and head
  std::vector<double> growths;                   // for each draw and head
  int falling = 0, differing = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Layer layer(spec, draw);
    std::vector<ScoreRange> near(layer.heads()), far(layer.heads());
    const auto visit = [&](int length, bool training, int draws, std::vector<ScoreRange>& ranges,
                           ReachedRows& rows) {
      const int strengths = static_cast<int>(std::size(kStrengths));
      for (int n = 0; n < draws; ++n) {
        if (!layer.draw_positions(length, training) && n >= strengths) break;  // positions are not random
        layer.compute_scores(kStrengths[n < strengths ? n : strengths - 1 - n % 2]);
        for (size_t h = 0; h < ranges.size(); ++h) ranges[h].widen(layer.scores[h], layer.content[h]);
        // Rows beyond the trained length matter only while some row is not trained.
        layer.mark_reached(rows, !layer.has_reached_all(reached) && !layer.has_reached_all(rows));
      }
    };
    visit(kTrained, true, kPositions, near, reached);
    visit(kLongest, false, 6, far, reached_far);
    for (size_t h = 0; h < near.size(); ++h) {
      growths.push_back(near[h].exceeded_by(far[h]));
      p.finite = p.finite && far[h].finite;
    }

    layer.draw_positions(kTrained, false);
    layer.compute_scores(1);
    layer.normalize_scores();
    for (const Matrix& head : layer.attention) near_rows.emplace_back(head.bottomRows(1));
    for (const Matrix& head : layer.scores) p.moved = std::max(p.moved, moved_by_a_segment(head));
    layer.draw_positions(kLongest, false);
    layer.compute_scores(1);
    layer.normalize_scores();
    for (const Matrix& head : layer.attention) {
      far_rows.emplace_back(head.bottomRows(1));
      const double t = trend(far_rows.back());
      differing += t != 0;
      falling += t < -0.5;
    }
  }
  std::sort(growths.begin(), growths.end());
  p.growth = growths[growths.size() * 4 / 5];
  p.distinct = distinct_columns(near_rows);
  p.distinct_far = distinct_columns(far_rows);
  p.positional = p.distinct_far > 1;
  for (const auto& row : reached_far) p.untrained_rows += static_cast<int>(!reached.contains(row));
  if (differing > 0) p.falling = static_cast<double>(falling) / differing;
  return p;
}

/// Writes each measurement as a word beside the one that the registration states.
void write_words(const Spec& spec, PropertyReport& report) {
  const Properties& p = report.measured;
  const EncodingInfo& info = encodings().find(spec.name).info;
  const Distinct distinct = p.distinct == p.trained ? Distinct::yes
                            : p.distinct > 1        ? Distinct::partly
                                                    : Distinct::no;
  const bool trained = p.finite && p.untrained_rows == 0;
  const Extrapolation extrapolates = !trained         ? Extrapolation::no
                                     : p.growth > 0.1 ? Extrapolation::defined
                                                      : Extrapolation::yes;
  const MeasuredRelative relative = !p.positional        ? MeasuredRelative::none
                                    : p.moved < kNothing ? MeasuredRelative::yes
                                                         : MeasuredRelative::no;
  const DistanceDecay decay = p.falling > 0.95 ? DistanceDecay::yes : DistanceDecay::no;
  report.distinct = {to_string(distinct), to_string(info.distinct),
                     to_string(expected(spec, &EncodingInfo::distinct))};
  report.extrapolates = {to_string(extrapolates), to_string(info.extrapolates),
                         to_string(expected(spec, &EncodingInfo::extrapolates))};
  report.relative = {to_string(relative), to_string(info.relative),
                     to_string(measurable(expected(spec, &EncodingInfo::relative)))};
  report.distance_decay = {to_string(decay), to_string(info.distance_decay),
                           to_string(expected(spec, &EncodingInfo::distance_decay))};
}

}  // namespace

PropertyReport measure_properties(const Spec& spec) {
  PropertyReport report{.measured = measure(spec)};
  write_words(spec, report);
  for (const auto& [property, word] : report.words()) {
    if (word.measured == word.expected) continue;
    const bool none = property == "relative" && word.measured == "none";
    report.corrections.push_back(fmt::format("{}: stated \"{}\", measured \"{}\"; write \"{}\"", property,
                                             word.stated, word.measured, none ? "-" : word.measured));
  }
  report.agrees = report.corrections.empty();
  return report;
}

}  // namespace posbench
