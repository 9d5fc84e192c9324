// Encodings that change one thing about another.
#pragma once
#include <memory>
#include <optional>

#include "base/spec.h"
#include "model/position_encoding.h"

namespace posbench {

/// Forwards every stage to an inner encoding; a subclass overrides what it changes.
class Decorator : public PositionEncoding {
 public:
  Decorator(const ModelShape& shape, std::unique_ptr<PositionEncoding> inner)
      : PositionEncoding(shape), inner_(std::move(inner)) {}

  int recurrent_states() const override { return inner_->recurrent_states(); }
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
                          const Heads& d_attention, Heads& d_scores) const override {
    inner_->normalize_backward(in, scores, attention, d_attention, d_scores);
  }
  bool keeps_scores() const override { return inner_->keeps_scores(); }
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
  std::vector<AttentionMap> inspect(const AttentionInput& in) const override { return inner_->inspect(in); }

 protected:
  const PositionEncoding& inner() const { return *inner_; }

 private:
  std::unique_ptr<PositionEncoding> inner_;
};

/// The encoding that a spec wraps, where it wraps one.
std::optional<Spec> wrapped(const Spec&);

/// The encoding at the bottom of nested wrappers, which reads the positions.
Spec innermost(Spec);

/// Whether it, and what it wraps, is defined for causal or for bidirectional models.
bool is_defined(const Spec&, bool causal);

/// For wrappers that draw positions. Throws std::invalid_argument, in the name of encoding `name`, where `base`
/// does not take its positions from outside, or where something that it wraps draws them already.
void require_positions(const std::string& name, const std::string& base);

/// The shape, with the range of the positions as trained length and longest length.
ModelShape with_lengths(ModelShape, int length);

}  // namespace posbench
