// Encodings that are made of several others.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "encodings/registry.h"

namespace posbench {

/// Members `of` as the option says them: "cope,shaw_k".
std::vector<Spec> composed(const std::string& of);

/// Several encodings, each with its own positions, tables, recurrent state and parameters, which are called
/// NAME.INDEX.PARAMETER. The stages that are common to all compositions are here: positions, tables, and what one
/// member changes alone. A subclass calls the members at the other stages.
class Composition : public PositionEncoding {
 public:
  /// `shapes`: what each member is made for. Throws std::invalid_argument where a member refuses its shape.
  Composition(const std::string& name, const std::vector<Spec>& members, const ModelShape&,
              const std::vector<ModelShape>& shapes, ParameterLayout&);

  int recurrent_states() const override;
  void constrain(Parameters&) const override;
  void tables(const Parameters&, const Positions&, Tables&) const override;
  void tables_backward(const Parameters&, const Positions&, const Tables&, const Matrices& d_values,
                       Gradients&) const override;
  Positions positions(const Sequence&, Rng&) const override;
  bool keeps_scores() const override;

 protected:
  struct Member {
    Spec spec;
    ReplacedStages replaces;
    std::unique_ptr<PositionEncoding> encoding;
    size_t first_state = 0, states = 0;  // of the recurrent state
  };
  const std::vector<Member>& members() const { return members_; }

  /// Throws std::invalid_argument where a member adds to the embeddings, which `all` of something read.
  void refuse_embeddings(const std::string& name, const std::string& all) const;
  static const Tables& tables_of(const Tables& tables, size_t member);

  /// The sequence as a member sees it: `own` becomes a copy with its positions, where members differ in these.
  const Sequence& sequence_of(const Sequence&, size_t member, Sequence& own) const;

  /// A layer as a member sees it: layer `layer` of its own, and `count` heads from `first` on; 0: all heads.
  struct Part {
    size_t member;
    int layer;
    size_t first = 0, count = 0;
  };
  /// Calls f with the input of the part.
  template <class F>
  void with_input(const Part& part, const AttentionInput& in, F f) const {
    Sequence own;
    Matrices state;
    Heads q, k, v;
    const Member& m = members_[part.member];
    refer_to(in.recurrent_state, m.first_state, m.states, state);
    const Sequence& sequence = sequence_of(in.sequence, part.member, own);
    const Tables& tables = tables_of(in.tables, part.member);
    if (part.count > 0) {
      refer_to(in.q, part.first, part.count, q);
      refer_to(in.k, part.first, part.count, k);
      refer_to(in.v, part.first, part.count, v);
    }
    const bool all = part.count == 0;
    f(AttentionInput{sequence, in.parameters, tables, state, part.layer, in.x, all ? in.q : q, all ? in.k : k,
                     all ? in.v : v, in.scratch});
  }
  /// Calls f with the input and the gradient of the part.
  template <class F>
  void with_gradient(const Part& part, const AttentionInput& in, AttentionGradient& d, F f) const {
    Matrices tables, state;
    Heads q, k, v;
    const Member& m = members_[part.member];
    refer_to_tables(in.tables, part.member, d.tables, tables);
    refer_to(d.recurrent_state, m.first_state, m.states, state);
    if (part.count > 0) {
      refer_to(d.q, part.first, part.count, q);
      refer_to(d.k, part.first, part.count, k);
      refer_to(d.v, part.first, part.count, v);
    }
    const bool all = part.count == 0;
    AttentionGradient of_part{d.parameters, tables, state, d.x, all ? d.q : q, all ? d.k : k, all ? d.v : v};
    with_input(part, in, [&](const AttentionInput& own) { f(own, of_part); });
  }

  /// Views of those of all tables that belong to a member.
  static void refer_to_tables(const Tables&, size_t member, const Matrices& all, Matrices& views);

 private:
  static const Positions& positions_of(const Positions& all, size_t member);

  std::vector<Member> members_;
};

}  // namespace posbench
