#include "harness/verify/double_precision/certificate.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "model/attention.h"
#include "model/attention_layer.h"
#include "model/training_step.h"

namespace posbench {
namespace {

constexpr int kVocabulary = 7;

Sequence random_sequence(int length, bool training, const PositionEncoding& encoding, Rng& rng) {
  Sequence s;
  s.training = training;
  s.tokens = uniform_tokens(rng, length, 0, kVocabulary - 1);
  s.digit_positions = uniform_tokens(rng, length, 0, 3);
  int segment = 0;
  for (int t = 0; t < length; ++t) {
    if (t > 0 && s.digit_positions[t] == s.digit_positions[t - 1])
      s.digit_positions[t] = (s.digit_positions[t] + 1) % 4;  // neighbours differ, as in a number
    s.segments.push_back(segment);
    segment += chance(rng, 0.3);
    s.target_positions.push_back(t);
  }
  s.positions = encoding.positions(s, rng);
  return s;
}

/// An encoding in a model whose parameters are moved off their initial values, of which some are zero.
struct Fixture {
  Fixture(const MakeEncoding& make, const ModelShape& shape, int length, std::uint64_t seed)
      : rng(stream(seed, "certificate")),
        encoding(make(shape, layout)),
        encoding_entries(layout.entries().size()),
        model(shape, layout, *encoding),
        parameters(initialize(layout, seed)),
        workspace(layout),
        sequence(random_sequence(length, shape.dropout > 0, *encoding, rng)) {
    for (const auto& entry : layout.entries()) {
      MatrixView values = parameters[entry.parameter];
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += Real(0.3) * static_cast<Real>(normal(rng));
    }
    encoding->constrain(parameters);
  }

  /// With the same dropout masks every time.
  void forward() {
    Rng dropout = dropout_stream(0);
    model.prepare(parameters, sequence, workspace.tables, nullptr);
    model.forward(parameters, sequence, workspace.tables, &dropout, workspace.activations);
    model.finish(parameters, workspace.tables, nullptr);
  }
  void backward(const std::vector<int>& targets) {
    const LabelledSequence labelled{sequence, targets};
    loss_and_gradient(model, parameters, {&labelled, 1}, 1, dropout_stream, workspace);
  }
  const Matrix& logits() const { return workspace.activations.logits; }
  static Rng dropout_stream(size_t) { return stream(0, "dropout"); }

  Rng rng;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  size_t encoding_entries;  // the number of leading entries of the layout that are the encoding's
  Transformer model;
  Parameters parameters;
  TrainingWorkspace workspace;
  Sequence sequence;
};

/// |slope of f at 0 - derivative| / size, the slope by central differences over steps of h, from two points and where these
/// disagree from four, for functions that bend much. A kink of f between the points makes the difference wrong. A
/// smaller step rarely includes it, so the smallest disagreement counts. A derivative far below f itself is rounding
/// error, hence the lower bound of the size.
double disagreement(const std::function<double(double)>& f, double derivative, double size) {
  constexpr double kEnough = 1e-7;
  double smallest = INFINITY;
  for (const bool four_points : {false, true}) {
    for (const double h : {1e-5, 2e-6, 4e-7, 8e-8}) {
      const double above = f(h), near = above - f(-h);
      const double slope = four_points ? (8 * near - (f(2 * h) - f(-2 * h))) / (12 * h) : near / (2 * h);
      const double least = 1e-3 * std::max(1.0, std::abs(above));
      smallest = std::min(smallest, std::abs(slope - derivative) / std::max(size, least));
      if (smallest < kEnough) return smallest;
    }
  }
  return smallest;
}

/// Moves `values` along a random direction and compares f with the gradient.
void check_along(const std::string& where, Rng& rng, Out values, const In& gradient,
                 const std::function<double()>& f, Worst& worst) {
  if (values.size() == 0) return;
  const RowMajor start = values;
  RowMajor direction(values.rows(), values.cols());
  fill_normal(rng, 1, direction);
  const double derivative = gradient.cwiseProduct(direction).sum();
  const double error = disagreement(
      [&](double h) {
        values = start + static_cast<Real>(h) * direction;
        const double result = f();
        values = start;
        return result;
      },
      derivative, gradient.norm() * direction.norm());
  if (!(error <= worst.error)) worst = {error, where};
}

void check_model(Fixture& f, Worst& worst) {
  std::vector<int> targets;
  for (size_t t = 0; t < f.sequence.tokens.size(); ++t) targets.push_back(uniform(f.rng, 0, kVocabulary - 1));
  const auto loss = [&] {
    f.forward();
    f.workspace.d_logits.resize(f.logits().rows(), f.logits().cols());
    return cross_entropy(f.logits(), targets, 1, f.workspace.d_logits);
  };
  f.backward(targets);
  for (const ParameterLayout::Entry& entry : f.layout.entries()) {
    check_along(entry.name, f.rng, f.parameters[entry.parameter], f.workspace.gradients[entry.parameter], loss,
                worst);
  }
}

/// The sum of `weights` times `values` over the keys that queries see.
double visible_sum(const Heads& weights, const Heads& values, bool causal) {
  double sum = 0;
  for (size_t h = 0; h < weights.size(); ++h) {
    for (Index i = 0; i < weights[h].rows(); ++i) {
      const Index keys = visible(i, weights[h].cols(), causal);
      sum += weights[h].row(i).head(keys).cwiseProduct(values[h].row(i).head(keys)).sum();
    }
  }
  return sum;
}

/// Checks each stage of an encoding alone, for all of its inputs, in the last layer of the model.
class StageChecks {
 public:
  /// `stage` tells which stage runs.
  StageChecks(Fixture& fixture, const ModelShape& shape, std::string& stage, Worst& worst)
      : f_(fixture),
        encoding_(*fixture.encoding),
        stages_(encoding_),
        shape_(shape),
        stage_(stage),
        worst_(worst),
        T_(static_cast<Index>(fixture.sequence.tokens.size())),
        x_(T_, shape.width),
        d_x_(T_, shape.width),
        d_parameters_(fixture.layout) {
    const Index D = shape.head_width();
    fill_normal(f_.rng, 1, x_);
    q_ = random_heads(T_, D);
    k_ = random_heads(T_, D);
    v_ = random_heads(T_, D);
    stage_ = "tables";
    encoding_.tables(f_.parameters, f_.sequence.positions, tables_);
    embedded_ = x_;
    stage_ = "embed";
    encoding_.embed(f_.sequence, f_.parameters, tables_, embedded_, recurrent_state_);
  }

  void run() {
    tables();
    embed();
    x_ = embedded_;
    for (Matrix& state : recurrent_state_) fill_normal(f_.rng, 1, state);
    score();
    normalize();
    mix();
    carry();
  }

 private:
  Heads random_heads(Index rows, Index cols) {
    Heads heads;
    resize(heads, shape_.heads, rows, cols);
    for (Matrix& head : heads) fill_normal(f_.rng, 1, head);
    return heads;
  }
  Matrices random_like(const Matrices& matrices) {
    Matrices random;
    resize_like(matrices, random);
    for (Matrix& m : random) fill_normal(f_.rng, 1, m);
    return random;
  }
  /// The gradient of later keys is zero; their values are random, so that a stage that reads them fails.
  void hide_later_keys(Heads& heads) const {
    if (!shape_.causal) return;
    for (Matrix& head : heads) head = head.triangularView<Eigen::Lower>();
  }
  /// The sum of weights times values, without the values whose weight is zero: those may be undefined.
  static double sum(const Matrices& weights, const Matrices& values) {
    double sum = 0;
    for (size_t n = 0; n < values.size(); ++n) {
      for (Index m = 0; m < values[n].size(); ++m) {
        const Real weight = weights[n].data()[m];
        if (weight != 0) sum += weight * values[n].data()[m];
      }
    }
    return sum;
  }

  AttentionInput input(int layer) {
    return {f_.sequence, f_.parameters, tables_, recurrent_state_, layer, x_, q_, k_, v_, scratch_};
  }
  AttentionGradient zero_gradient() {
    d_parameters_.flat.setZero();
    d_x_.setZero();
    for (Heads* heads : {&d_q_, &d_k_, &d_v_}) {
      resize(*heads, shape_.heads, T_, shape_.head_width());
      set_zero(*heads);
    }
    resize_like(tables_.values, d_tables_);
    resize_like(recurrent_state_, d_recurrent_state_);
    set_zero(d_tables_);
    set_zero(d_recurrent_state_);
    return {d_parameters_, d_tables_, d_recurrent_state_, d_x_, d_q_, d_k_, d_v_};
  }

  using Value = std::function<double()>;
  void check_all(const std::string& name, Matrices& values, const Matrices& gradient, const Value& value) {
    for (size_t n = 0; n < values.size(); ++n) check_along(name, f_.rng, values[n], gradient[n], value, worst_);
  }
  void check_parameters(const std::string& stage, const Value& value) {
    for (size_t n = 0; n < f_.encoding_entries; ++n) {
      const ParameterLayout::Entry& entry = f_.layout.entries()[n];
      check_along(stage + ": " + entry.name, f_.rng, f_.parameters[entry.parameter],
                  d_parameters_[entry.parameter], value, worst_);
    }
  }
  void check_input(const std::string& stage, const Value& value) {
    check_all(stage + ": q", q_, d_q_, value);
    check_all(stage + ": k", k_, d_k_, value);
    check_all(stage + ": v", v_, d_v_, value);
    check_all(stage + ": tables", tables_.values, d_tables_, value);
    check_all(stage + ": recurrent state", recurrent_state_, d_recurrent_state_, value);
    check_along(stage + ": x", f_.rng, x_, d_x_, value, worst_);
    check_parameters(stage, value);
  }

  /// A random gradient of the tables' values, zero where no stage of any layer reads them.
  Matrices random_table_gradient() {
    AttentionGradient d = zero_gradient();
    Matrix d_x(T_, shape_.width);
    fill_normal(f_.rng, 1, d_x);
    stage_ = "embed";
    encoding_.embed_backward(f_.sequence, f_.parameters, tables_, x_, random_like(recurrent_state_), d_x,
                             d_tables_, d_parameters_);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      Heads d_scores = random_heads(T_, T_), attention = random_heads(T_, T_), d_attention = random_heads(T_, T_);
      hide_later_keys(d_scores);
      hide_later_keys(attention);
      stage_ = "score";
      stages_.score_backward(input(layer), d_scores, d);
      stage_ = "mix";
      stages_.mix_backward(input(layer), attention, random_heads(T_, shape_.head_width()), d_attention, d);
    }
    Matrices d_values = random_like(tables_.values);
    for (size_t n = 0; n < d_values.size(); ++n) {
      d_values[n] = (d_tables_[n].array() == Real(0)).select(Real(0), d_values[n]);
    }
    return d_values;
  }

  void tables() {
    const Matrices d_values = random_table_gradient();
    stage_ = "tables";
    zero_gradient();
    const Positions& positions = f_.sequence.positions;
    encoding_.tables_backward(f_.parameters, positions, tables_, d_values, d_parameters_);
    Tables moved;
    check_parameters("tables", [&] {
      encoding_.tables(f_.parameters, positions, moved);
      return sum(d_values, moved.values);
    });
  }

  void embed() {
    stage_ = "embed";
    if (encoding_.recurrent_states() != static_cast<int>(recurrent_state_.size())) {
      worst_ = {INFINITY, fmt::format("embed: the recurrent state has {} matrices, and recurrent_states() says {}",
                                      recurrent_state_.size(), encoding_.recurrent_states())};
    }
    zero_gradient();
    Matrix d_result(T_, shape_.width);
    fill_normal(f_.rng, 1, d_result);
    const Matrices d_state = random_like(recurrent_state_);
    d_x_ = d_result;  // becomes the gradient of x
    encoding_.embed_backward(f_.sequence, f_.parameters, tables_, x_, d_state, d_x_, d_tables_, d_parameters_);
    Matrix result;
    Matrices state;
    const Value value = [&] {
      result = x_;
      encoding_.embed(f_.sequence, f_.parameters, tables_, result, state);
      return d_result.cwiseProduct(result).sum() + sum(d_state, state);
    };
    check_all("embed: tables", tables_.values, d_tables_, value);
    check_along("embed: x", f_.rng, x_, d_x_, value, worst_);
    check_parameters("embed", value);
  }

  void score() {
    stage_ = "score";
    const AttentionInput in = input(shape_.layers - 1);
    Heads scores = random_heads(T_, T_), d_scores = random_heads(T_, T_);
    hide_later_keys(d_scores);
    AttentionGradient d = zero_gradient();
    stages_.score(in, scores);
    for (size_t h = 0; h < scores.size(); ++h) {
      // The large score of a hidden key would cancel the digits of the others in the sum.
      d_scores[h] = (scores[h].array() < Real(-1e8)).select(Real(0), d_scores[h]);
    }
    stages_.score_backward(in, d_scores, d);
    check_input("score", [&] {
      stages_.score(in, scores);
      return visible_sum(d_scores, scores, shape_.causal);
    });
  }

  void normalize() {
    stage_ = "normalize";
    const AttentionInput in = input(shape_.layers - 1);
    Heads scores = random_heads(T_, T_), attention = random_heads(T_, T_), d_scores = random_heads(T_, T_);
    const Heads d_attention = random_heads(T_, T_);
    stages_.normalize(in, scores, attention);
    stages_.normalize_backward(in, scores, attention, d_attention, d_scores);
    check_all("normalize: scores", scores, d_scores, [&] {
      stages_.normalize(in, scores, attention);
      return visible_sum(d_attention, attention, shape_.causal);
    });
  }

  void mix() {
    stage_ = "mix";
    const AttentionInput in = input(shape_.layers - 1);
    Heads attention = random_heads(T_, T_), output = random_heads(T_, shape_.head_width());
    const Heads d_output = random_heads(T_, shape_.head_width());
    hide_later_keys(attention);
    Heads d_attention = random_heads(T_, T_);
    AttentionGradient d = zero_gradient();
    stages_.mix(in, attention, output);
    stages_.mix_backward(in, attention, d_output, d_attention, d);
    hide_later_keys(d_attention);
    const Value value = [&] {
      hide_later_keys(attention);
      stages_.mix(in, attention, output);
      return visible_sum(d_output, output, false);
    };
    check_input("mix", value);
    check_all("mix: attention", attention, d_attention, value);
  }

  void carry() {
    stage_ = "carry";
    const AttentionInput in = input(0);  // which has a block after it
    Heads attention = random_heads(T_, T_), d_attention;
    hide_later_keys(attention);
    Matrices next = recurrent_state_;
    const Matrices d_next = random_like(next);
    Matrix feed_forward(T_, shape_.width), d_feed_forward(T_, shape_.width);
    fill_normal(f_.rng, 1, feed_forward);
    AttentionGradient d = zero_gradient();
    resize_like(attention, d_attention);
    set_zero(d_attention);
    d_feed_forward.setZero();
    d_recurrent_state_ = d_next;
    stages_.carry_backward(in, attention, feed_forward, d_attention, d_feed_forward, d);
    hide_later_keys(d_attention);
    const Value value = [&] {
      hide_later_keys(attention);
      next = recurrent_state_;
      stages_.carry(in, attention, feed_forward, next);
      return sum(d_next, next);
    };
    check_input("carry", value);
    check_all("carry: attention", attention, d_attention, value);
    check_along("carry: feed-forward", f_.rng, feed_forward, d_feed_forward, value, worst_);
  }

  Fixture& f_;
  const PositionEncoding& encoding_;
  AttentionStages stages_;
  ModelShape shape_;
  std::string& stage_;
  Worst& worst_;
  Index T_;
  Matrix x_, d_x_, embedded_;  // (T, C)
  Heads q_, k_, v_, d_q_, d_k_, d_v_;
  Tables tables_;
  Matrices recurrent_state_, d_tables_, d_recurrent_state_;
  Gradients d_parameters_;
  Scratch scratch_;
};

MakeEncoding by_name(const Spec& spec) {
  return [spec](const ModelShape& shape, ParameterLayout& layout) { return make_encoding(spec, shape, layout); };
}

}  // namespace

ModelShape small_shape(int heads, bool causal, bool pre_norm) {
  ModelShape shape;
  shape.vocabulary = kVocabulary;
  shape.layers = 2;
  shape.heads = heads;
  shape.width = 4 * heads;
  shape.causal = causal;
  shape.pre_norm = pre_norm;
  shape.trained_length = shape.longest = 12;
  return shape;
}

const std::vector<BlockOptions>& block_options() {
  static const std::vector<BlockOptions> options = [] {
    std::vector<BlockOptions> list{
        {"norm_kind=rms_norm", [](ModelShape& s) { s.norm_kind = NormKind::rms_norm; }},
        {"activation=swiglu", [](ModelShape& s) { s.feed_forward_kind = FeedForwardKind::swiglu; }},
        {"biases=false", [](ModelShape& s) { s.biases = false; }},
        {"qk_norm=true", [](ModelShape& s) { s.qk_norm = true; }},
        {"window=4,sinks=1", [](ModelShape& s) { s.window = 4, s.sinks = 1; }},
        {"segment=3", [](ModelShape& s) { s.segment = 3; }},
        {"loops=3", [](ModelShape& s) { s.loops = 3; }},
        {"logit_scale=log_length", [](ModelShape& s) { s.logit_scale = LogitScale::log_length; }},
        {"logit_scale=log_length_beyond", [](ModelShape& s) { s.logit_scale = LogitScale::log_length_beyond; }}};
    const std::vector<BlockOptions> single = list;
    list.push_back({"all of them", [single](ModelShape& s) {
                      for (const BlockOptions& one : single) one.set(s);
                    }});
    return list;
  }();
  return options;
}

ModelShape fitted(const Spec& spec, ModelShape shape) {
  const EncodingInfo& info = encodings().find(spec.name).info;
  const int head_width = shape.head_width();
  shape.heads = (shape.heads + info.heads_multiple - 1) / info.heads_multiple * info.heads_multiple;
  shape.width = shape.heads * head_width;
  shape.layers = std::max(shape.layers, info.least_layers);
  return shape;
}

Worst gradient_error(const Spec& spec, const ModelShape& shape, int length) {
  return gradient_error(by_name(spec), fitted(spec, shape), length);
}

Worst gradient_error(const MakeEncoding& make, const ModelShape& shape, int length) {
  Worst worst;
  std::string stage = "construction";
  try {
    Fixture fixture(make, shape, length, /*seed=*/1);
    StageChecks(fixture, shape, stage, worst).run();
    stage = "model";
    check_model(fixture, worst);
  } catch (const IndexError& error) {
    return {INFINITY,
            fmt::format("{}: an index outside a matrix, or shapes that do not fit ({})", stage, error.what())};
  }
  return worst;
}

bool is_causal(const Spec& spec, ModelShape shape, int length) {
  Fixture f(by_name(spec), fitted(spec, shape), length, /*seed=*/2);
  f.forward();
  const RowMajor before = f.logits();
  for (int t = 0; t < length; ++t) {
    const int token = f.sequence.tokens[t];
    f.sequence.tokens[t] = (token + 1) % kVocabulary;
    f.forward();
    f.sequence.tokens[t] = token;
    if (f.logits().topRows(t) != before.topRows(t)) return false;
  }
  return true;
}

double order_sensitivity(const Spec& spec, ModelShape shape, int length) {
  shape.layers = 1;
  double moved = 0;
  for (const std::uint64_t seed : {3, 6, 7, 8}) {
    Fixture f(by_name(spec), fitted(spec, shape), length, seed);
    for (int t = 0; t + 2 < length; ++t) {
      f.sequence.tokens[t] = 0;
      f.sequence.tokens[t + 1] = 1;
      f.forward();
      const RowMajor before = f.logits().bottomRows(1);
      std::swap(f.sequence.tokens[t], f.sequence.tokens[t + 1]);
      f.forward();
      moved = std::max(moved, (f.logits().bottomRows(1) - before).norm() / before.norm());
    }
  }
  return moved;
}

double shift_sensitivity(const Spec& spec, const ModelShape& shape, int length) {
  Fixture f(by_name(spec), fitted(spec, shape), length, /*seed=*/5);
  f.forward();
  const RowMajor before = f.logits();
  for (Real& position : f.sequence.positions.at) position += 5;
  for (Positions& of_member : f.sequence.positions.members) {
    for (Real& position : of_member.at) position += 5;
  }
  f.forward();
  return (f.logits() - before).norm() / before.norm();
}

bool is_finite(const Spec& spec, const ModelShape& shape, int length) {
  Fixture f(by_name(spec), fitted(spec, shape), length, /*seed=*/4);
  const std::vector<int> targets(f.sequence.tokens.size(), 0);
  f.backward(targets);
  return f.logits().allFinite() && f.workspace.gradients.flat.allFinite();
}

}  // namespace posbench
