#include "harness/verify/double_precision/properties.h"

#include <cmath>
#include <map>
#include <set>

#include "encodings/parts/decorator.h"
#include "model/attention.h"

namespace posbench {
namespace {

constexpr int kTrained = 24, kLongest = 4 * kTrained;
constexpr int kSegment = 4;     // tokens, at every length: longer sequences have more segments
constexpr int kDraws = 16;      // of parameters, queries and keys
constexpr int kPositions = 96;  // draws of positions in training, for each of them, where they are random
constexpr double kNothing = 1e-9;
/// Factors of the keys: a strong key opens a contextual gate wide, or closes it.
constexpr double kStrengths[] = {1, -1, 16, -16, 4096, -4096};

void fill(Rng& rng, double deviation, Out m) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = static_cast<Real>(deviation * normal(rng));
  }
}

ModelShape shape() {
  ModelShape shape;
  shape.vocabulary = 7;
  shape.layers = 1;
  shape.heads = 2;
  shape.width = 32;
  shape.trained_length = kTrained;
  shape.longest = kLongest;
  return shape;
}

using Rows = std::set<std::pair<std::string, Index>>;  // of parameters, by name

/// One layer of attention, reading a sequence of equal tokens.
class Layer {
 public:
  Layer(const Spec& spec, std::uint64_t seed)
      : rng_(stream(seed, "properties")),
        shape_(shape()),
        encoding_(make_encoding(spec, shape_, layout_)),
        parameters_(initialize(layout_, seed)),
        token_(1, shape_.width) {
    for (const auto& entry : layout_.entries()) {
      MatrixView values = parameters_[entry.parameter];
      if ((values.array() != values(0, 0)).any()) continue;
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += static_cast<Real>(normal(rng_));
    }
    encoding_->constrain(parameters_);
    fill(rng_, 1, token_);
    for (RowMajor* projection : {&query_, &key_}) {
      projection->resize(shape_.width, shape_.width);
      fill(rng_, 1 / std::sqrt(shape_.width), *projection);
    }
  }

  /// Draws positions. Returns whether they differ from those before.
  bool place(int length, bool training) {
    const Positions before = sequence_.positions;
    sequence_.tokens.assign(length, 0);
    sequence_.training = training;
    sequence_.segments.clear();
    sequence_.places.clear();
    for (int t = 0; t < length; ++t) {
      sequence_.segments.push_back(t / kSegment);
      sequence_.places.push_back(t %
                                 (length / 4 + 1));  // numbers of length / 4 digits, longer in longer sequences
    }
    sequence_.positions = encoding_->positions(sequence_, rng_);
    tables_.clear();
    encoding_->tables(parameters_, sequence_.positions, tables_);
    x_.resize(length, shape_.width);
    x_.rowwise() = token_.row(0);
    carried_.clear();
    encoding_->embed(sequence_, parameters_, tables_, x_, carried_);
    return sequence_.positions.at != before.at;
  }

  /// Attends with keys `strength` times as long.
  void attend(double strength) {
    const Index T = x_.rows(), D = shape_.head_width(), H = shape_.heads;
    for (Heads* heads : {&q_, &k_, &v_}) resize(*heads, H, T, D);
    content.clear();
    for (Index h = 0; h < H; ++h) {
      q_[h] = x_ * query_.middleCols(h * D, D);
      k_[h] = static_cast<Real>(strength) * x_ * key_.middleCols(h * D, D);
      v_[h] = k_[h];
      const RowMajor q = token_ * query_.middleCols(h * D, D), k = token_ * key_.middleCols(h * D, D);
      content.push_back(strength * q.cwiseProduct(k).sum() / std::sqrt(D));
    }
    for (Heads* heads : {&scores, &attention}) resize(*heads, H, T, T);
    encoding_->score(input(), scores);
    scratch_.release();
    encoding_->normalize(input(), scores, attention);
    scratch_.release();
  }

  /// Marks the rows of parameters that random gradients of scores and outputs reach. The sequence is then spent.
  void mark_reached(Rows& reached) {
    const Index T = x_.rows(), D = shape_.head_width(), H = shape_.heads;
    Gradients d_parameters(layout_);
    Heads d_q, d_k, d_v, d_scores, d_attention, d_output;
    for (Heads* heads : {&d_q, &d_k, &d_v}) resize(*heads, H, T, D), set_zero(*heads);
    for (Heads* heads : {&d_scores, &d_attention}) resize(*heads, H, T, T), set_zero(*heads);
    resize(d_output, H, T, D);
    for (Index h = 0; h < H; ++h) {
      fill(rng_, 1, d_output[h]);
      for (Index i = 0; i < T; ++i) fill(rng_, 1, d_scores[h].row(i).head(i + 1));
    }
    Tables d_tables = tables_, d_carried = carried_;
    set_zero(d_tables);
    set_zero(d_carried);
    Matrix d_x(T, shape_.width);
    d_x.setZero();
    AttentionGradient d{d_parameters, d_tables, d_carried, d_x, d_q, d_k, d_v};
    encoding_->mix_backward(input(), attention, d_output, d_attention, d);
    scratch_.release();
    encoding_->score_backward(input(), d_scores, d);
    scratch_.release();
    for (Index h = 0; h < H; ++h) {
      d_x += d_q[h] * query_.middleCols(h * D, D).transpose() + d_k[h] * key_.middleCols(h * D, D).transpose();
    }
    x_.rowwise() = token_.row(0);  // as embed received it
    encoding_->embed_backward(sequence_, parameters_, tables_, x_, d_carried, d_x, d_tables, d_parameters);
    encoding_->tables_backward(parameters_, sequence_.positions, tables_, d_tables, d_parameters);
    for (const auto& entry : layout_.entries()) {
      const MatrixView gradient = d_parameters[entry.parameter];
      for (Index row = 0; row < gradient.rows(); ++row) {
        if (!gradient.row(row).isZero(0)) reached.emplace(entry.name, row);
      }
    }
  }

  Index heads() const { return shape_.heads; }

  Heads scores, attention;      // H x (T, T)
  std::vector<double> content;  // H: the score that all pairs would have without positions

 private:
  AttentionInput input() { return {sequence_, parameters_, tables_, carried_, 0, x_, q_, k_, v_, scratch_}; }

  Rng rng_;
  ModelShape shape_;
  ParameterLayout layout_;
  std::unique_ptr<PositionEncoding> encoding_;
  Parameters parameters_;
  RowMajor token_, query_, key_;
  Sequence sequence_;
  Tables tables_, carried_;
  Matrix x_;
  Heads q_, k_, v_;
  Scratch scratch_;
};

/// How high positions lift scores over what content alone gives them, over all that is shown to it.
struct Reach {
  double high = 0, width = 0;  // width: the widest range of the scores of one sequence
  bool finite = true;
  void widen(const Matrix& scores, double content) {
    double sequence_low = INFINITY, sequence_high = -INFINITY;
    for (Index i = 0; i < scores.rows(); ++i) {
      const auto row = scores.row(i).head(i + 1);
      sequence_low = std::min(sequence_low, static_cast<double>(row.minCoeff()));
      sequence_high = std::max(sequence_high, static_cast<double>(row.maxCoeff()));
      finite = finite && row.allFinite();
    }
    high = std::max(high, sequence_high - content);
    width = std::max(width, sequence_high - sequence_low);
  }
  /// How far `other` reaches beyond, in widths.
  double exceeded_by(const Reach& other) const {
    const double beyond = other.high - high;
    return beyond <= kNothing * std::max(1.0, width) ? 0 : beyond / std::max(width, kNothing);
  }
};

/// How many keys differ from each other in some row.   rows: (1, keys) each
int distinct_columns(const std::vector<RowMajor>& rows) {
  const auto same = [&](Index a, Index b) {
    return std::all_of(rows.begin(), rows.end(), [&](const RowMajor& row) {
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

/// Kendall's rank correlation of attention with distance: -1 where each key gets less than all nearer ones, and 0
/// where no two differ.
double trend(const RowMajor& row) {
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

/// The most that a score changes one segment later, relative to the largest score.
double moved_by_a_segment(const Matrix& scores) {
  const Index T = scores.rows();
  double largest = 0, moved = 0;
  for (Index i = kSegment; i + kSegment < T; ++i) {
    const auto here = scores.row(i).segment(kSegment, i - kSegment + 1);
    const auto later = scores.row(i + kSegment).segment(2 * kSegment, i - kSegment + 1);
    largest = std::max(largest, static_cast<double>(here.cwiseAbs().maxCoeff()));
    moved = std::max(moved, static_cast<double>((later - here).cwiseAbs().maxCoeff()));
  }
  return largest > 0 ? moved / largest : 0;
}

const std::string& stated(const EncodingInfo& info, const std::string& property) {
  if (property == "distinct") return info.distinct;
  if (property == "extrapolates") return info.extrapolates;
  if (property == "relative") return info.relative;
  return info.fades;
}

std::string first_words(const std::string& text) { return text.substr(0, text.find_first_of(",;")); }

/// What the taxonomy's words for "relative" let one expect of equal tokens.
std::string expected_relative(const std::string& words) {
  static const std::map<std::string, std::string> meanings{
      {"-", "none"},
      {"between predicted positions", "none"},  // equal tokens predict equal ones
      {"yes", "yes"},
      {"accumulated", "yes"},
      {"counted", "yes"},
      {"order of keys", "yes"},
      {"between segments", "yes"},
      {"nearly", "no"},
      {"partly", "no"},
      {"between learned positions", "no"},
      {"no", "no"}};
  const auto found = meanings.find(words);
  return found == meanings.end() ? "?" : found->second;
}

}  // namespace

Properties measure_properties(const Spec& spec) {
  Properties p{.trained = kTrained, .longest = kLongest, .finite = true};
  Rows reached, reached_far;
  std::vector<RowMajor> near_rows, far_rows;  // attention of the last query, for each draw and head
  std::vector<double> growths;                // for each draw and head
  int falling = 0, differing = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    Layer layer(spec, draw);
    std::vector<Reach> near(layer.heads()), far(layer.heads());
    const auto visit = [&](int length, bool training, int draws, std::vector<Reach>& ranges, Rows& rows) {
      const int strengths = static_cast<int>(std::size(kStrengths));
      for (int n = 0; n < draws; ++n) {
        if (!layer.place(length, training) && n >= strengths) break;  // the same again
        layer.attend(kStrengths[n < strengths ? n : strengths - 1 - n % 2]);
        for (size_t h = 0; h < ranges.size(); ++h) ranges[h].widen(layer.scores[h], layer.content[h]);
        layer.mark_reached(rows);
      }
    };
    visit(kTrained, true, kPositions, near, reached);
    visit(kLongest, false, 6, far, reached_far);
    for (size_t h = 0; h < near.size(); ++h) {
      growths.push_back(near[h].exceeded_by(far[h]));
      p.finite = p.finite && far[h].finite;
    }

    layer.place(kTrained, false);
    layer.attend(1);
    for (const Matrix& head : layer.attention) near_rows.emplace_back(head.bottomRows(1));
    for (const Matrix& head : layer.scores) p.moved = std::max(p.moved, moved_by_a_segment(head));
    layer.place(kLongest, false);
    layer.attend(1);
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
  for (const auto& row : reached_far) p.untrained_rows += static_cast<int>(reached.count(row) == 0);
  if (differing > 0) p.falling = static_cast<double>(falling) / differing;
  return p;
}

std::vector<PropertyWord> property_words(const Spec& spec, const Properties& p) {
  const bool trained = p.finite && p.untrained_rows == 0;
  std::vector<PropertyWord> words{{"distinct", p.distinct == p.trained ? "yes"
                                               : p.distinct > 1        ? "partly"
                                                                       : "no"},
                                  {"extrapolates", !trained         ? "no"
                                                   : p.growth > 0.1 ? "defined"
                                                                    : "yes"},
                                  {"relative", !p.positional        ? "none"
                                               : p.moved < kNothing ? "yes"
                                                                    : "no"},
                                  {"fades", p.falling > 0.95 ? "yes" : "no"}};
  for (PropertyWord& word : words) {
    Spec of = spec;
    word.stated = stated(encodings().find(spec.name).info, word.property);
    std::string meant = first_words(word.stated);
    while (meant == "as its base") {
      of = wrapped(of).value();
      meant = first_words(stated(encodings().find(of.name).info, word.property));
    }
    word.expected = word.property == "relative" ? expected_relative(meant) : meant;
  }
  return words;
}

}  // namespace posbench
