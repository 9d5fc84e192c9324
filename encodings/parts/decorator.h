// Provides the base class of encodings that wrap another encoding, and functions of those that choose positions.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/spec.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Forwards every stage to an inner encoding. A subclass overrides the stages that it changes.
class Decorator : public PositionEncoding {
 public:
  Decorator(const ModelConfig& config, std::unique_ptr<PositionEncoding> inner)
      : PositionEncoding(config), inner_(std::move(inner)) {}

  int recurrent_states() const override { return inner_->recurrent_states(); }
  Index num_penalized_heads() const override { return inner_->num_penalized_heads(); }
  void constrain(Parameters& p) const override { inner_->constrain(p); }
  void tables(const Parameters& p, const Positions& positions, Tables& tables) const override {
    inner_->tables(p, positions, tables);
  }
  void tables_backward(const Parameters& p, const Positions& positions, const Tables& tables,
                       const Matrices& d_tables, Gradients& d) const override {
    inner_->tables_backward(p, positions, tables, d_tables, d);
  }
  Positions positions(const Sequence& s, Rng& rng) const override { return inner_->positions(s, rng); }
  void embed(const Sequence& s, const Parameters& p, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    inner_->embed(s, p, tables, x, recurrent_state);
  }
  void embed_backward(const Sequence& s, const Parameters& p, const Tables& tables, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables,
                      Gradients& d) const override {
    inner_->embed_backward(s, p, tables, x, d_recurrent_state, d_x, d_tables, d);
  }
  void score(const AttentionInput& in, Heads& scores) const override { inner_->score(in, scores); }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    inner_->score_backward(in, d_scores, d);
  }
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    inner_->normalize(in, scores, attention);
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient& d) const override {
    inner_->normalize_backward(in, scores, attention, d_attention, d_scores, d);
  }
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    inner_->mix(in, attention, output);
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    inner_->mix_backward(in, attention, d_output, d_attention, d);
  }
  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    inner_->carry(in, attention, feed_forward, next);
  }
  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const override {
    inner_->carry_backward(in, attention, feed_forward, d_attention, d_feed_forward, d);
  }
  void content(const AttentionInput& in, Heads& content) const override { inner_->content(in, content); }
  std::vector<AttentionMap> inspect(const AttentionInput& in) const override { return inner_->inspect(in); }

 protected:
  const PositionEncoding& inner() const { return *inner_; }

 private:
  std::unique_ptr<PositionEncoding> inner_;
};

/// Throws InputError, in the name of the wrapper `name`, if a wrapper cannot set the positions of `base`, or if
/// `base` or an encoding that it wraps chooses positions itself already.
void require_positions(const std::string& name, const std::string& base);

/// Returns the model with `length` as its trained and its longest length.
ModelConfig with_lengths(ModelConfig, int length);

}  // namespace posbench::inline POSBENCH_REAL
