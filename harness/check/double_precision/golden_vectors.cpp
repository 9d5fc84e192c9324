#include "harness/check/golden_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "encodings/parts/additive_bias.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/fixture.h"
#include "model/attention.h"
#include "model/attention_layer.h"
#include "model/transformer.h"

namespace posbench {
namespace {

using Axes = std::vector<std::string>;

const Axes kVectors{"head", "position", "channel"}, kPairs{"head", "query", "key"};

/// Returns a matrix as an array with two axes, or with one if it has one row.
GoldenArray to_array(std::string name, Axes axes, const In& m) {
  GoldenArray array{std::move(name), std::move(axes), {}, {}};
  if (array.axes.size() == 2) array.shape.push_back(m.rows());
  array.shape.push_back(m.cols());
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) array.values.push_back(m(i, j));
  }
  return array;
}

GoldenArray to_array(std::string name, Axes axes, const Heads& heads) {
  GoldenArray array{std::move(name), std::move(axes), {}, {}};
  array.shape = {static_cast<std::int64_t>(heads.size()), heads.front().rows(), heads.front().cols()};
  for (const Matrix& m : heads) array.values.insert(array.values.end(), m.data(), m.data() + m.size());
  return array;
}

GoldenArray to_array(std::string name, const std::vector<int>& values) {
  return {std::move(name), {"position"}, {std::ssize(values)}, {values.begin(), values.end()}, /*whole=*/true};
}

/// Replaces the values by those of the input of the same name, if there is one. `values` are contiguous.
template <class Values>
void replace(const GoldenRequest& request, const GoldenArray& drawn, Values& values, Index first) {
  for (const GoldenArray& input : request.inputs) {
    if (input.name != drawn.name) continue;
    if (input.shape != drawn.shape) {
      throw InputError(fmt::format(
          "input '{}' has shape ({}), expected ({}) for {}; correct the input, or --heads, "
          "--head-width and --length",
          input.name, fmt::join(input.shape, ", "), fmt::join(drawn.shape, ", "), fmt::join(drawn.axes, ", ")));
    }
    const auto begin = input.values.begin() + first;
    std::copy(begin, begin + values.size(), values.data());
  }
}

ModelConfig model_config(const GoldenRequest& request) {
  ModelConfig config;
  config.vocabulary = kCertificateVocabulary;
  config.heads = request.heads;
  config.width = request.heads * request.head_width;
  config.causal = request.causal;
  config.trained_length = request.trained_length;
  config.longest = request.longest > 0 ? request.longest : std::max(request.length, request.trained_length);
  config.layers = std::max(2, encodings().find(Spec::parse(request.encoding).name).info.min_layers);
  return config;
}

/// Returns the positions that the user gives. Throws InputError if the encoding cannot take them.
Positions given_positions(const GoldenRequest& request, const ModelConfig& config, Positions positions) {
  const Spec spec = Spec::parse(request.encoding);
  const TakesPositions takes = encodings().find(innermost(spec).name).info.takes_positions;
  if (takes == TakesPositions::no || encodings().find(spec.name).chooses_positions(spec)) {
    throw InputError(fmt::format("encoding '{}' does not take its positions from outside; leave out --positions",
                                 request.encoding));
  }
  double last = -1;
  for (size_t t = 0; t < request.positions.size(); ++t) {
    const double p = request.positions[t];
    if (!(p > last))
      throw InputError(fmt::format("position {} follows {}; give them in ascending order", p, last));
    if (takes == TakesPositions::whole_positions && (p != std::floor(p) || p >= config.longest)) {
      throw InputError(
          fmt::format("position {}: encoding '{}' has one row for each of {} whole positions; --longest "
                      "changes their number",
                      p, request.encoding, config.longest));
    }
    positions.at[t] = last = p;
  }
  return positions;
}

/// Returns true if every angle is the position times inv_freq.
bool is_linear(const Rotations& r, const Positions& positions, const Matrix& inv_freq) {
  for (Index t = 0; t < r.cosine.rows(); ++t) {
    for (Index n = 0; n < r.cosine.cols(); ++n) {
      const Real angle = positions.at[t] * inv_freq(0, n), length = std::hypot(r.cosine(t, n), r.sine(t, n));
      const Real error =
          std::hypot(r.cosine(t, n) - length * std::cos(angle), r.sine(t, n) - length * std::sin(angle));
      if (!(error <= 1e-9 * std::max(Real(1), positions.at[t]))) return false;
    }
  }
  return true;
}

/// One layer with an encoding, and one sequence.
class GoldenLayer {
 public:
  explicit GoldenLayer(const GoldenRequest& request)
      : request_(request),
        config_(model_config(request)),
        encoding_(make_encoding(Spec::parse(request.encoding), config_, layout_)),
        encoding_entries_(layout_.entries().size()),
        model_(config_, layout_, *encoding_),
        parameters_(initialize(layout_, request.seed)) {
    draw_sequence();
    q_ = draw("q", request.heads, kVectors, request.head_width);
    k_ = draw("k", request.heads, kVectors, request.head_width);
    v_ = draw("v", request.heads, kVectors, request.head_width);
    x_ = draw("x", 1, {"position", "channel"}, config_.width).front();
    draw_parameters();
    refuse_unknown_inputs();
  }

  std::vector<GoldenArray> compute() {
    add_sequence();
    encoding_->tables(parameters_, sequence_.positions, tables_);
    Matrix embedded(x_);
    encoding_->embed(sequence_, parameters_, tables_, embedded, recurrent_state_);
    const Spec spec = Spec::parse(request_.encoding);
    if (encodings().find(spec.name).replaces(spec).embed) add("embedded", {"position", "channel"}, embedded);
    const AttentionInput in{sequence_, parameters_, tables_, recurrent_state_, 0, x_, q_, k_, v_, scratch_};
    Heads scores, attention, output;
    for (Heads* square : {&scores, &attention}) {
      resize(*square, config_.heads, request_.length, request_.length);
      set_zero(*square);
    }
    resize(output, config_.heads, request_.length, request_.head_width);
    attend(*encoding_, in, scores, attention, output);
    add_rotation(scores);
    add_bias();
    for (const AttentionMap& map : encoding_->inspect(in)) {
      std::string name = "inspect." + map.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      add_pairs(name, map.values);
    }
    scratch_.release();
    add_pairs("scores", scores);
    add_pairs("attention", attention);
    arrays_.push_back(to_array("output", kVectors, output));
    return std::move(arrays_);
  }

 private:
  void add(const std::string& name, const Axes& axes, const In& m) { arrays_.push_back(to_array(name, axes, m)); }

  /// Adds an array of pairs of query and key, with zeros for keys that a causal model hides.
  void add_pairs(const std::string& name, Heads values) {
    for (Matrix& m : values) {
      for (Index i = 0; config_.causal && i < m.rows(); ++i) m.row(i).tail(m.cols() - 1 - i).setZero();
    }
    arrays_.push_back(to_array(name, kPairs, values));
  }

  /// Draws an input, or takes that of the request, and adds it to the arrays.
  Heads draw(const std::string& name, int count, const Axes& axes, int width) {
    Rng rng = make_rng(request_.seed, "golden." + name);
    Heads heads;
    resize(heads, count, request_.length, width);
    for (Matrix& m : heads) fill_normal(rng, 1, m);
    const GoldenArray drawn = axes.size() == 3 ? to_array(name, axes, heads) : to_array(name, axes, heads.front());
    Index first = 0;
    for (Matrix& m : heads) {
      replace(request_, drawn, m, first);
      first += m.size();
    }
    arrays_.push_back(axes.size() == 3 ? to_array(name, axes, heads) : to_array(name, axes, heads.front()));
    return heads;
  }

  /// Moves the parameters off their initial values, of which some are equal.
  void draw_parameters() {
    const std::span entries(layout_.entries().data(), encoding_entries_);
    for (const auto& entry : entries) {
      MatrixView values = parameters_[entry.parameter];
      Rng rng = make_rng(request_.seed, "golden.parameters." + entry.name);
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += 0.3 * normal(rng);
    }
    encoding_->constrain(parameters_);
    for (const auto& entry : entries) {
      MatrixView values = parameters_[entry.parameter];
      const std::string name = "parameters." + entry.name;
      replace(request_, to_array(name, {"row", "column"}, values), values, 0);
      add(name, {"row", "column"}, values);
    }
  }

  void draw_sequence() {
    Rng rng = make_rng(request_.seed, "golden.sequence");
    sequence_.tokens = uniform_tokens(rng, request_.length, 0, config_.vocabulary - 1);
    sequence_.digit_positions = uniform_tokens(rng, request_.length, 0, 3);
    for (int t = 0, segment = 0; t < request_.length; ++t, segment += bernoulli(rng, 0.3))
      sequence_.segments.push_back(segment);
    sequence_.positions = encoding_->positions(sequence_, rng);
    if (!request_.positions.empty()) sequence_.positions = given_positions(request_, config_, sequence_.positions);
  }

  void refuse_unknown_inputs() const {
    std::vector<std::string> names;
    for (const GoldenArray& array : arrays_) names.push_back(array.name);
    for (const GoldenArray& input : request_.inputs) {
      if (std::find(names.begin(), names.end(), input.name) == names.end())
        throw InputError(fmt::format("unknown input '{}', expected {}", input.name, fmt::join(names, ", ")));
    }
  }

  void add_sequence() {
    arrays_.push_back(to_array("tokens", sequence_.tokens));
    arrays_.push_back(to_array("segments", sequence_.segments));
    arrays_.push_back(to_array("digit_positions", sequence_.digit_positions));
    if (!sequence_.positions.sampled_distances)
      arrays_.push_back({"positions", {"position"}, {request_.length}, sequence_.positions.at});
  }

  /// Returns the frequencies as the angles at a position near 0. An angle of an encoding with several lengths is
  /// that of this length.
  Matrix measure_inv_freq() const {
    constexpr Real kNear = 1.0 / 1024;
    Positions near = sequence_.positions;
    std::fill(near.at.begin(), near.at.end(), kNear);
    Tables tables;
    encoding_->tables(parameters_, near, tables);
    const Rotations& r = tables.constants<Rotations>();
    Matrix inv_freq(1, r.cosine.cols());
    for (Index n = 0; n < inv_freq.cols(); ++n) inv_freq(0, n) = std::atan2(r.sine(0, n), r.cosine(0, n)) / kNear;
    return inv_freq;
  }

  const Rotations* rotations() const {
    try {
      return &tables_.constants<Rotations>();
    } catch (const std::bad_any_cast&) {  // the encoding has other constants
      return nullptr;
    }
  }

  void add_rotation(const Heads& scores) {
    const Rotations* found = rotations();
    if (found == nullptr) return;
    const Rotations& r = *found;
    const Axes axes{"position", "pair"};
    const Matrix inv_freq = measure_inv_freq();
    if (is_linear(r, sequence_.positions, inv_freq)) {
      add("inv_freq", {"pair"}, inv_freq);
      Matrix angles(r.cosine.rows(), r.cosine.cols());
      for (Index t = 0; t < angles.rows(); ++t) angles.row(t) = sequence_.positions.at[t] * inv_freq.row(0);
      add("angles", axes, angles);
      arrays_.push_back({"attention_factor", {"value"}, {1}, {r.amplitude}});
    }
    add("cos", axes, r.cosine);
    add("sin", axes, r.sine);
    if (r.keys_differ) {
      add("key_cos", axes, r.key_cosine);
      add("key_sin", axes, r.key_sine);
    }
    for (const Pairing pairing : {Pairing::interleaved, Pairing::half_split}) {
      if (add_rotated(r, pairing, scores)) return;
    }
  }

  /// Adds rotated queries and keys if their products are the scores, so that this is the pairing.
  bool add_rotated(const Rotations& r, Pairing pairing, const Heads& scores) {
    if (2 * r.cosine.cols() > request_.head_width) return false;
    Heads q = q_, k = k_;
    Matrix product(request_.length, request_.length);
    for (size_t h = 0; h < scores.size(); ++h) {
      rotate(q_[h], r.cosine, r.sine, pairing, q[h]);
      rotate(k_[h], r.of_keys_cosine(), r.of_keys_sine(), pairing, k[h]);
      dot_product(q[h], k[h], 1 / std::sqrt(Real(request_.head_width)), config_.causal, product);
      for (Index i = 0; i < product.rows(); ++i) {
        const Index keys = num_visible_keys(i, product.cols(), config_.causal);
        const auto difference = product.row(i).head(keys) - scores[h].row(i).head(keys);
        if (!(difference.cwiseAbs().maxCoeff() <= 1e-9 * (1 + product.row(i).head(keys).cwiseAbs().maxCoeff())))
          return false;
      }
    }
    arrays_.push_back(to_array("rotated_q", kVectors, q));
    arrays_.push_back(to_array("rotated_k", kVectors, k));
    return true;
  }

  void add_bias() {
    const AdditiveBias* additive = encoding_->as_additive_bias();
    if (additive == nullptr && !sequence_.positions.sampled_distances) return;
    Matrix distances(request_.length, request_.length);
    for (Index i = 0; i < distances.rows(); ++i) {
      for (Index j = 0; j < distances.cols(); ++j) distances(i, j) = sequence_.positions.distance(i, j);
    }
    add("distances", {"query", "key"}, distances);
    if (additive == nullptr) return;
    Heads bias;
    for (size_t h = 0; h < q_.size(); ++h) bias.push_back(additive->bias_of(tables_, 0, h));
    add_pairs("bias", std::move(bias));
  }

  const GoldenRequest& request_;
  ModelConfig config_;
  ParameterLayout layout_;
  std::unique_ptr<PositionEncoding> encoding_;
  size_t encoding_entries_;  // the number of leading entries of the layout that belong to the encoding
  Transformer model_;        // has the parameters that some encodings share with the model
  Parameters parameters_;
  Sequence sequence_;
  Tables tables_;
  Matrices recurrent_state_;
  Matrix x_;
  Heads q_, k_, v_;
  mutable Scratch scratch_;
  std::vector<GoldenArray> arrays_;
};

}  // namespace

std::vector<GoldenArray> golden_vectors(const GoldenRequest& request) {
  if (!request.positions.empty() && std::ssize(request.positions) != request.length)
    throw InputError(fmt::format("{} positions for {} tokens", request.positions.size(), request.length));
  return GoldenLayer(request).compute();
}

}  // namespace posbench
