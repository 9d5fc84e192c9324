// Provides the base class of encodings that combine several other encodings.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {

/// Returns the members in the text of an option, such as "cope,shaw_k".
std::vector<Spec> composed(const std::string& of);
/// Returns `members`, those of encoding `name` with the option `of`. Throws InputError if there are fewer than
/// two; the message shows `example`.
std::vector<Spec> require_several(const std::string& name, const std::string& of, std::vector<Spec> members,
                                  const std::string& example);

/// Combines several encodings, each with its own positions, tables, recurrent state and parameters, which are
/// called NAME.INDEX.PARAMETER. This class implements the stages that are the same for all compositions. A
/// subclass calls the members at the other stages.
class Composition : public PositionEncoding {
 public:
  /// Builds member n for configs[n]. Throws InputError if a member is not defined for its config.
  Composition(const std::string& name, const std::vector<Spec>& members, const ModelConfig&,
              const std::vector<ModelConfig>& configs, ParameterLayout&);

  int recurrent_states() const override;
  void constrain(Parameters&) const override;
  void tables(const Parameters&, const Positions&, Tables&) const override;
  void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& d_values,
                       Gradients&) const override;
  Positions positions(const Sequence&, Rng&) const override;

 protected:
  struct Member {
    Spec spec;
    ReplacedStages replaces;
    std::unique_ptr<PositionEncoding> encoding;
    size_t first_state = 0, num_states = 0;  // its part of the recurrent state
  };
  const std::vector<Member>& members() const { return members_; }

  /// Throws InputError, in the name of encoding `name`, if a member adds to the embeddings. The message says that
  /// `readers` ("all heads") read these.
  void refuse_embeddings(const std::string& name, const std::string& readers) const;
  static const Tables& tables_of(const Tables& tables, size_t member);

  /// Returns the sequence with the positions of a member: `copy` if members differ in positions, else the sequence
  /// itself.
  const Sequence& sequence_of(const Sequence&, size_t member, Sequence& copy) const;

  /// The part of a layer that a member sees.
  struct Part {
    size_t member;
    int layer;                             // among the layers of the member
    size_t first_head = 0, num_heads = 0;  // 0 heads: all heads
  };
  /// Calls f(input of the part).
  template <class F>
  void with_input(const Part& part, const AttentionInput& in, F f) const {
    Sequence copy;
    Matrices state;
    Heads q, k, v;
    const Member& m = members_[part.member];
    refer_to(in.recurrent_state, m.first_state, m.num_states, state);
    const Sequence& sequence = sequence_of(in.sequence, part.member, copy);
    const Tables& tables = tables_of(in.tables, part.member);
    if (part.num_heads > 0) {
      refer_to(in.q, part.first_head, part.num_heads, q);
      refer_to(in.k, part.first_head, part.num_heads, k);
      refer_to(in.v, part.first_head, part.num_heads, v);
    }
    const bool all = part.num_heads == 0;
    f(AttentionInput{sequence, in.parameters, tables, state, part.layer, in.x, all ? in.q : q, all ? in.k : k,
                     all ? in.v : v, in.scratch});
  }
  /// Calls f(input of the part, gradient of the part).
  template <class F>
  void with_gradient(const Part& part, const AttentionInput& in, AttentionGradient& d, F f) const {
    Matrices tables, state;
    Heads q, k, v;
    const Member& m = members_[part.member];
    refer_to_tables(in.tables, part.member, d.tables, tables);
    refer_to(d.recurrent_state, m.first_state, m.num_states, state);
    if (part.num_heads > 0) {
      refer_to(d.q, part.first_head, part.num_heads, q);
      refer_to(d.k, part.first_head, part.num_heads, k);
      refer_to(d.v, part.first_head, part.num_heads, v);
    }
    const bool all = part.num_heads == 0;
    AttentionGradient d_part{d.parameters, tables, state, d.x, all ? d.q : q, all ? d.k : k, all ? d.v : v};
    with_input(part, in, [&](const AttentionInput& in_part) { f(in_part, d_part); });
  }

  /// Lets `views` refer to the matrices of a member among those for all values of the tables.
  static void refer_to_tables(const Tables&, size_t member, const Matrices& all, Matrices& views);

 private:
  static const Positions& positions_of(const Positions& all, size_t member);

  std::vector<Member> members_;
};

}  // namespace posbench::inline POSBENCH_REAL
