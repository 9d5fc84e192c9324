// Tests the interface between the transformer and encodings with an encoding that overrides every stage by a
// simple learned term.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "harness/check/double_precision/certificate.h"
#include "model/attention.h"
#include "model/transformer.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Returns the columns of head h.
template <class M>
auto columns(M& m, Index h, const ModelConfig& config) {
  return m.middleCols(h * config.head_width(), config.head_width());
}

class EveryStage final : public PositionEncoding {
 public:
  EveryStage(const ModelConfig& config, ParameterLayout& layout) : PositionEncoding(config) {
    pace_ = layout.normal("pace", 1, config.heads, 1);
    token_ = layout.normal("token", 1, config.width, 1);
    start_ = layout.normal("start", 1, config.width, 1);
    for (int layer = 0; layer < config.layers; ++layer) {
      const std::string name = std::to_string(layer);
      score_.push_back(layout.normal("score." + name, config.width, config.heads, 1));
      mix_.push_back(layout.normal("mix." + name, 1, config.heads, 1));
      carry_.push_back(layout.normal("carry." + name, 1, config.width, 1));
    }
  }

  /// 0. tables[h](i, j) = sin(pace_h (p_i - p_j))
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    resize(tables.values, config_.heads, positions.size(), positions.size());
    for_each_pair(positions.size(), [&](size_t h, Index i, Index j) {
      tables.values[h](i, j) = std::sin(p[pace_](0, h) * positions.distance(i, j));
    });
  }
  void tables_backward(const Parameters& p, const Positions& positions, const Tables&, const Matrices& d_tables,
                       Gradients& d) const override {
    for_each_pair(positions.size(), [&](size_t h, Index i, Index j) {
      const Real distance = positions.distance(i, j);
      d[pace_](0, h) += d_tables[h](i, j) * std::cos(p[pace_](0, h) * distance) * distance;
    });
  }

  /// 1. Positions are the even numbers.
  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = PositionEncoding::positions(s, rng);
    for (Real& p : positions.at) p *= 2;
    return positions;
  }

  int recurrent_states() const override { return 1; }

  /// 2. x_t += token sin(p_t + tables.values[0](t, 0)), and the recurrent state x * start
  void embed(const Sequence& s, const Parameters& p, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    for (Index t = 0; t < x.rows(); ++t) x.row(t) += wave(s, tables, t) * p[token_].row(0);
    recurrent_state.resize(1);
    recurrent_state[0] = x;
    recurrent_state[0].array().rowwise() *= p[start_].row(0).array();
  }
  void embed_backward(const Sequence& s, const Parameters& p, const Tables& tables, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables,
                      Gradients& d) const override {
    for (Index t = 0; t < x.rows(); ++t) {
      const auto moved = (x.row(t) + wave(s, tables, t) * p[token_].row(0)).eval();
      d[start_].row(0) += d_recurrent_state[0].row(t).cwiseProduct(moved);
      d_x.row(t) += d_recurrent_state[0].row(t).cwiseProduct(p[start_].row(0));
      d[token_].row(0) += wave(s, tables, t) * d_x.row(t);
      d_tables[0](t, 0) += std::cos(s.positions.at[t] + tables.values[0](t, 0)) * d_x.row(t).dot(p[token_].row(0));
    }
  }

  /// 3. scores_h(i, j) = q_i . k_j / sqrt(D) + tables[h](i, j) (x_i . score_h) + recurrent_state_j(h) v_j(0)
  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    const EigenMatrix factor = in.x * in.parameters[score_[in.layer]];
    for_each_pair(in.length(), [&](size_t h, Index i, Index j) {
      scores[h](i, j) += in.tables.values[h](i, j) * factor(i, h) + in.recurrent_state[0](j, h) * in.v[h](j, 0);
    });
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    PositionEncoding::score_backward(in, d_scores, d);
    const EigenMatrix factor = in.x * in.parameters[score_[in.layer]];
    EigenMatrix d_factor = EigenMatrix::Zero(factor.rows(), factor.cols());
    for_each_pair(in.length(), [&](size_t h, Index i, Index j) {
      d.tables[h](i, j) += d_scores[h](i, j) * factor(i, h);
      d_factor(i, h) += d_scores[h](i, j) * in.tables.values[h](i, j);
      d.recurrent_state[0](j, h) += d_scores[h](i, j) * in.v[h](j, 0);
      d.v[h](j, 0) += d_scores[h](i, j) * in.recurrent_state[0](j, h);
    });
    d.x += d_factor * in.parameters[score_[in.layer]].transpose();
    d.parameters[score_[in.layer]] += in.x.transpose() * d_factor;
  }

  /// 4. attention = sigmoid(scores)
  void normalize(const AttentionInput&, const Heads& scores, Heads& attention) const override {
    for (size_t h = 0; h < scores.size(); ++h) {
      attention[h] = scores[h].array().logistic();
      zero_future_keys(config_.causal, attention[h]);
    }
  }
  void normalize_backward(const AttentionInput& in, const Heads&, const Heads& attention, const Heads& d_attention,
                          Heads& d_scores, AttentionGradient&) const override {
    set_zero(d_scores);
    for_each_pair(in.length(), [&](size_t h, Index i, Index j) {
      d_scores[h](i, j) = d_attention[h](i, j) * attention[h](i, j) * (1 - attention[h](i, j));
    });
  }

  /// 5. output_h = attention_h v_h + mix_h (recurrent state of head h + q_h)
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    PositionEncoding::mix(in, attention, output);
    for (Index h = 0; h < config_.heads; ++h) {
      output[h] += in.parameters[mix_[in.layer]](0, h) * (columns(in.recurrent_state[0], h, config_) + in.q[h]);
    }
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    PositionEncoding::mix_backward(in, attention, d_output, d_attention, d);
    for (Index h = 0; h < config_.heads; ++h) {
      const Real weight = in.parameters[mix_[in.layer]](0, h);
      d.parameters[mix_[in.layer]](0, h) +=
          d_output[h].cwiseProduct(columns(in.recurrent_state[0], h, config_) + in.q[h]).sum();
      columns(d.recurrent_state[0], h, config_) += weight * d_output[h];
      d.q[h] += weight * d_output[h];
    }
  }

  /// 6. next_h = state_h carry_h + feed_forward_h + x_h + attention_h state_h
  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    next[0] = in.recurrent_state[0] * in.parameters[carry_[in.layer]].row(0).asDiagonal() + feed_forward + in.x;
    for (Index h = 0; h < config_.heads; ++h)
      columns(next[0], h, config_) += attention[h] * columns(in.recurrent_state[0], h, config_);
  }
  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix&, Heads& d_attention,
                      Matrix& d_feed_forward, AttentionGradient& d) const override {
    const EigenMatrix d_next = d.recurrent_state[0];
    d.parameters[carry_[in.layer]].row(0) += d_next.cwiseProduct(in.recurrent_state[0]).colwise().sum();
    d.recurrent_state[0] = d_next * in.parameters[carry_[in.layer]].row(0).asDiagonal();
    d_feed_forward += d_next;
    d.x += d_next;
    for (Index h = 0; h < config_.heads; ++h) {
      d_attention[h] += columns(d_next, h, config_) * columns(in.recurrent_state[0], h, config_).transpose();
      columns(d.recurrent_state[0], h, config_) += attention[h].transpose() * columns(d_next, h, config_);
    }
  }

 private:
  static Real wave(const Sequence& s, const Tables& tables, Index t) {
    return std::sin(s.positions.at[t] + tables.values[0](t, 0));
  }
  template <class F>
  void for_each_pair(Index length, F f) const {
    for (size_t h = 0; h < static_cast<size_t>(config_.heads); ++h) {
      for (Index i = 0; i < length; ++i) {
        for (Index j = 0; j < num_visible_keys(i, length, config_.causal); ++j) f(h, i, j);
      }
    }
  }

  Parameter pace_, token_, start_;              // (1, H), (1, C), (1, C)
  std::vector<Parameter> score_, mix_, carry_;  // (C, H), (1, H), (1, C), one for each layer
};

/// Scales the scores of each head. Its parameter has a row for one layer only, but the encoding reads a row for
/// each layer.
class ReadsPastParameter final : public PositionEncoding {
 public:
  ReadsPastParameter(const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), scale_(layout.constant("scale", 1, config.heads, 1)) {}

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    for (Index h = 0; h < config_.heads; ++h) scores[h] *= in.parameters[scale_](in.layer, h);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    Heads scores = d_scores, d_scaled = d_scores;
    PositionEncoding::score(in, scores);
    for (Index h = 0; h < config_.heads; ++h) {
      Real sum = 0;
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visible_keys(i, in.length(), config_.causal);
        sum += d_scores[h].row(i).head(keys).dot(scores[h].row(i).head(keys));
      }
      d.parameters[scale_](in.layer, h) += sum;
      d_scaled[h] *= in.parameters[scale_](in.layer, h);
    }
    PositionEncoding::score_backward(in, d_scaled, d);
  }

 private:
  Parameter scale_;  // (1, H)
};

std::unique_ptr<PositionEncoding> every_stage(const ModelConfig& config, ParameterLayout& layout) {
  return std::make_unique<EveryStage>(config, layout);
}

}  // namespace

TEST_CASE("gradients through every stage of an encoding are correct in every shape of model") {
  for (const bool causal : {true, false}) {
    for (const bool pre_norm : {true, false}) {
      for (const bool tied : {true, false}) {
        for (const bool gelu : {true, false}) {
          ModelConfig config = small_config(2, causal, pre_norm);
          config.tied_embeddings = tied;
          config.feed_forward_kind = gelu ? FeedForwardKind::gelu : FeedForwardKind::relu;
          config.dropout = tied ? 0 : 0.3;
          config.layers = 3;
          const Worst worst = gradient_error(every_stage, config, 9);
          INFO(worst.where << (causal ? ", causal" : ", bidirectional") << (pre_norm ? ", pre" : ", post")
                           << (tied ? ", tied" : "") << (gelu ? ", GELU" : ", ReLU"));
          CHECK(worst.error <= 1e-6);
        }
      }
    }
  }
}

TEST_CASE("the transformer calls every stage in every layer, so each learned term changes the logits") {
  const ModelConfig config = small_config(2, true, true);
  ParameterLayout layout;
  const auto encoding = every_stage(config, layout);
  const size_t terms = layout.entries().size();
  const Transformer model(config, layout, *encoding);
  Parameters parameters = initialize(layout, 1);
  Rng rng = make_rng(1, "interface");
  Sequence sequence;
  sequence.tokens = uniform_tokens(rng, 7, 0, config.vocabulary - 1);
  for (int t = 0; t < 7; ++t) sequence.target_positions.push_back(t);
  sequence.positions = encoding->positions(sequence, rng);
  SequenceWorkspace activations;
  const auto logits = [&] {
    StepCache step;
    model.prepare(parameters, sequence, step, nullptr);
    model.forward(parameters, sequence, step, nullptr, activations);
    return EigenMatrix(activations.logits);
  };
  const EigenMatrix before = logits();
  for (size_t n = 0; n < terms; ++n) {
    const auto& [name, parameter, initial, decays] = layout.entries()[n];
    parameters[parameter](0, 0) += 0.5;
    INFO(name);
    // The recurrent state after the last block is not read.
    CHECK(((logits() - before).norm() > 1e-3 * before.norm()) == (name != "carry.1"));
    parameters[parameter](0, 0) -= 0.5;
  }
}

TEST_CASE("a sequence whose positions are a prefix of another's shares its tables, and their gradients add up") {
  const ModelConfig config = small_config(2, true, true);
  ParameterLayout layout;
  const auto encoding = every_stage(config, layout);
  const Transformer model(config, layout, *encoding);
  const Parameters parameters = initialize(layout, 1);
  Rng rng = make_rng(2, "interface");
  const auto sequence = [&](int length) {
    Sequence s;
    s.tokens = uniform_tokens(rng, length, 0, config.vocabulary - 1);
    s.target_positions = {length - 1};
    s.positions = encoding->positions(s, rng);
    return s;
  };
  const std::vector<Sequence> batch{sequence(8), sequence(5), sequence(8)};
  SequenceWorkspace activations;
  Matrix d_logits(1, config.vocabulary);
  d_logits.setConstant(0.1);
  d_logits(0, 2) = -0.3;
  const auto add_gradients = [&](StepCache& step, const Sequence& s, Gradients& gradients) {
    model.prepare(parameters, s, step, &gradients);
    model.forward(parameters, s, step, nullptr, activations);
    model.backward(parameters, s, step, activations, d_logits, gradients);
  };
  Gradients with_shared(layout), with_separate(layout);
  StepCache shared;
  for (const Sequence& s : batch) add_gradients(shared, s, with_shared);
  CHECK(shared.positions.size() == 8);
  model.finish(parameters, shared, &with_shared);
  for (const Sequence& s : batch) {
    StepCache separate;
    add_gradients(separate, s, with_separate);
    model.finish(parameters, separate, &with_separate);
  }
  CHECK((with_shared.flat - with_separate.flat).norm() < 1e-12 * with_separate.flat.norm());
}

TEST_CASE("an encoding that reads past its parameter fails its certificate with the stage and the condition") {
  const Worst worst =
      gradient_error([](const ModelConfig& config,
                        ParameterLayout& layout) { return std::make_unique<ReadsPastParameter>(config, layout); },
                     small_config(2, true, true), 7);
  CHECK(std::isinf(worst.error));
  CHECK(worst.where.starts_with("score: an index outside a matrix"));
  CHECK(worst.where.find("row < rows()") != std::string::npos);
}
