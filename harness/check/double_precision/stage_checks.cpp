#include "harness/check/double_precision/stage_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>

#include "model/attention.h"
#include "model/attention_layer.h"
#include "model/hidden.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns the sum of `weights` times `values` over the keys that queries see.
double visible_sum(const Heads& weights, const Heads& values, bool causal) {
  double sum = 0;
  for (size_t h = 0; h < weights.size(); ++h) {
    for (Index i = 0; i < weights[h].rows(); ++i) {
      const Index keys = num_visible_keys(i, weights[h].cols(), causal);
      sum += weights[h].row(i).head(keys).cwiseProduct(values[h].row(i).head(keys)).sum();
    }
  }
  return sum;
}

class StageChecks {
 public:
  StageChecks(Fixture& fixture, const ModelConfig& config, std::string& stage, Worst& worst)
      : f_(fixture),
        encoding_(*fixture.encoding),
        config_(config),
        stage_(stage),
        worst_(worst),
        T_(static_cast<Index>(fixture.sequence.tokens.size())),
        x_(T_, config.width),
        d_x_(T_, config.width),
        d_parameters_(fixture.layout) {
    const Index D = config.head_width();
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
    resize(heads, config_.heads, rows, cols);
    for (Matrix& head : heads) fill_normal(f_.rng, 1, head);
    return heads;
  }
  Matrices random_like(const Matrices& matrices) {
    Matrices random;
    resize_like(matrices, random);
    for (Matrix& m : random) fill_normal(f_.rng, 1, m);
    return random;
  }
  /// Sets the gradient of later keys to zero. Their values stay random, so that a stage that reads them fails.
  void zero_later_keys(Heads& heads) const {
    if (!config_.causal) return;
    for (Matrix& head : heads) head = head.triangularView<Eigen::Lower>();
  }
  /// Returns the sum of weights times values. Skips values whose weight is zero, since they may be undefined, and
  /// biases that hide a key.
  static double sum(const Matrices& weights, const Matrices& values) {
    double sum = 0;
    for (size_t n = 0; n < values.size(); ++n) {
      for (Index m = 0; m < values[n].size(); ++m) {
        const Real weight = weights[n].data()[m];
        if (weight != 0 && !is_hidden(values[n].data()[m])) sum += weight * values[n].data()[m];
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
      resize(*heads, config_.heads, T_, config_.head_width());
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

  /// Returns a random gradient of the tables' values, with zeros where no stage of any layer reads them.
  Matrices random_table_gradient() {
    AttentionGradient d = zero_gradient();
    Matrix d_x(T_, config_.width);
    fill_normal(f_.rng, 1, d_x);
    stage_ = "embed";
    encoding_.embed_backward(f_.sequence, f_.parameters, tables_, x_, random_like(recurrent_state_), d_x,
                             d_tables_, d_parameters_);
    for (int layer = 0; layer < config_.layers; ++layer) {
      Heads d_scores = random_heads(T_, T_), attention = random_heads(T_, T_), d_attention = random_heads(T_, T_);
      zero_later_keys(d_scores);
      zero_later_keys(attention);
      stage_ = "score";
      StageCall(encoding_, input(layer))->score_backward(input(layer), d_scores, d);
      stage_ = "mix";
      StageCall(encoding_, input(layer))
          ->mix_backward(input(layer), attention, random_heads(T_, config_.head_width()), d_attention, d);
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
      worst_ = {INFINITY,
                fmt::format("embed: the recurrent state has {} matrices, but recurrent_states() returns {}",
                            recurrent_state_.size(), encoding_.recurrent_states())};
    }
    zero_gradient();
    Matrix d_result(T_, config_.width);
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
    const AttentionInput in = input(config_.layers - 1);
    Heads scores = random_heads(T_, T_), d_scores = random_heads(T_, T_);
    zero_later_keys(d_scores);
    AttentionGradient d = zero_gradient();
    StageCall(encoding_, in)->score(in, scores);
    for (size_t h = 0; h < scores.size(); ++h)
      d_scores[h] = (scores[h].array() == kHidden).select(Real(0), d_scores[h]);
    StageCall(encoding_, in)->score_backward(in, d_scores, d);
    check_input("score", [&] {
      StageCall(encoding_, in)->score(in, scores);
      for (Matrix& head : scores) head = (head.array() == kHidden).select(Real(0), head);
      return visible_sum(d_scores, scores, config_.causal);
    });
  }

  void normalize() {
    stage_ = "normalize";
    const AttentionInput in = input(config_.layers - 1);
    Heads scores = random_heads(T_, T_), attention = random_heads(T_, T_), d_scores = random_heads(T_, T_);
    const Heads d_attention = random_heads(T_, T_);
    StageCall(encoding_, in)->normalize(in, scores, attention);
    AttentionGradient d = zero_gradient();
    StageCall(encoding_, in)->normalize_backward(in, scores, attention, d_attention, d_scores, d);
    const Value value = [&] {
      StageCall(encoding_, in)->normalize(in, scores, attention);
      return visible_sum(d_attention, attention, config_.causal);
    };
    check_all("normalize: scores", scores, d_scores, value);
    check_parameters("normalize", value);
  }

  void mix() {
    stage_ = "mix";
    const AttentionInput in = input(config_.layers - 1);
    Heads attention = random_heads(T_, T_), output = random_heads(T_, config_.head_width());
    const Heads d_output = random_heads(T_, config_.head_width());
    zero_later_keys(attention);
    Heads d_attention = random_heads(T_, T_);
    AttentionGradient d = zero_gradient();
    StageCall(encoding_, in)->mix(in, attention, output);
    StageCall(encoding_, in)->mix_backward(in, attention, d_output, d_attention, d);
    zero_later_keys(d_attention);
    const Value value = [&] {
      zero_later_keys(attention);
      StageCall(encoding_, in)->mix(in, attention, output);
      return visible_sum(d_output, output, false);
    };
    check_input("mix", value);
    check_all("mix: attention", attention, d_attention, value);
  }

  void carry() {
    stage_ = "carry";
    const AttentionInput in = input(0);  // a layer with a block after it
    Heads attention = random_heads(T_, T_), d_attention;
    zero_later_keys(attention);
    Matrices next = recurrent_state_;
    const Matrices d_next = random_like(next);
    Matrix feed_forward(T_, config_.width), d_feed_forward(T_, config_.width);
    fill_normal(f_.rng, 1, feed_forward);
    AttentionGradient d = zero_gradient();
    resize_like(attention, d_attention);
    set_zero(d_attention);
    d_feed_forward.setZero();
    d_recurrent_state_ = d_next;
    StageCall(encoding_, in)->carry_backward(in, attention, feed_forward, d_attention, d_feed_forward, d);
    zero_later_keys(d_attention);
    const Value value = [&] {
      zero_later_keys(attention);
      next = recurrent_state_;
      StageCall(encoding_, in)->carry(in, attention, feed_forward, next);
      return sum(d_next, next);
    };
    check_input("carry", value);
    check_all("carry: attention", attention, d_attention, value);
    check_along("carry: feed-forward", f_.rng, feed_forward, d_feed_forward, value, worst_);
  }

  Fixture& f_;
  const PositionEncoding& encoding_;
  ModelConfig config_;
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

}  // namespace

void check_stages(Fixture& fixture, const ModelConfig& config, std::string& stage, Worst& worst) {
  StageChecks(fixture, config, stage, worst).run();
}

}  // namespace posbench::inline POSBENCH_REAL
