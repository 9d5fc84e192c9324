// Adds the positional parts of several encodings to one score of the content.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encodings/parts/composition.h"
#include "model/attention.h"

namespace posbench::sum {
namespace {

const EncodingInfo kInfo{
    .name = "sum",
    .family = Family::wrapper,
    .equation =
        "score_h(i, j) = q_i . k_j / sqrt(D) + sum over m of (s_m(i, j) - q_i . k_j / sqrt(D)),   "
        "s_m the score of member m\n"
        "x_t += the sum of all that members add to the embeddings",
    .source =
        "ours; CoPE with relative positions: Golovneva et al. 2024, arXiv:2405.18719; Abacus with FIRE: "
        "McLeish et al. 2024, arXiv:2405.17399",
    .notes =
        "CoPE with relative positions is of=(cope,shaw_k), Abacus with FIRE of=(abacus,fire), and absolute "
        "with relative positions of=(learned_abs,t5_bias). Each member has its own positions. At most one "
        "member may replace the normalization, and one the mixing of values. The measured properties are "
        "those of the default.",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "as its members",
    .variants = {"of=(learned_abs,t5_bias)", "of=(cope,rope)", "of=(sinusoidal,stick_breaking)", "of=(tape,alibi)",
                 "of=(abacus,shaw_kv)", "of=((randomized:base=sinusoidal),kerple_log,(alibi:learned=true))"},
};

class Sum final : public Composition {
 public:
  struct Options {
    std::string of = "cope,shaw_k";
    std::vector<Spec> members() const { return composed(of); }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "encodings whose scores are added");
    }
  };

  Sum(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Composition("sum", require_several("sum", options.of, options.members(), "cope,shaw_k"), config,
                    std::vector<ModelConfig>(options.members().size(), config), layout),
        normalizing_member_(only_member("the normalization", &ReplacedStages::normalize)),
        mixing_member_(only_member("the mixing of values", &ReplacedStages::mix)) {}

  void embed(const Sequence& s, const Parameters& p, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    const Matrix start = x;
    Matrix moved;
    recurrent_state.clear();
    for_each_embedding([&](size_t n) {
      Sequence copy;
      Matrices states;
      moved = start;
      members()[n].encoding->embed(sequence_of(s, n, copy), p, tables_of(tables, n), moved, states);
      x += moved - start;
      for (Matrix& state : states) recurrent_state.push_back(std::move(state));
    });
  }
  void embed_backward(const Sequence& s, const Parameters& p, const Tables& tables, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables,
                      Gradients& d) const override {
    const Matrix d_result = d_x;
    Matrix d_moved;
    for_each_embedding([&](size_t n) {
      Sequence copy;
      Matrices d_states, d_member_tables;
      refer_to(d_recurrent_state, members()[n].first_state, members()[n].num_states, d_states);
      refer_to_tables(tables, n, d_tables, d_member_tables);
      d_moved = d_result;
      members()[n].encoding->embed_backward(sequence_of(s, n, copy), p, tables_of(tables, n), x, d_states, d_moved,
                                            d_member_tables, d);
      d_x += d_moved - d_result;
    });
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    add_members(&PositionEncoding::score, in, scores);
  }
  void content(const AttentionInput& in, Heads& content) const override {
    add_members(&PositionEncoding::content, in, content);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      with_gradient({n, in.layer}, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
        members()[n].encoding->score_backward(in_part, d_scores, d_part);
      });
    }
    const Real surplus_scale = -static_cast<Real>(members().size() - 1) * scale();
    for (size_t h = 0; h < d_scores.size(); ++h)
      dot_product_backward(in.q[h], in.k[h], surplus_scale, config_.causal, d_scores[h], d.q[h], d.k[h]);
  }

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    with_input({normalizing_member_, in.layer}, in, [&](const AttentionInput& in_part) {
      members()[normalizing_member_].encoding->normalize(in_part, scores, attention);
    });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient& d) const override {
    with_gradient({normalizing_member_, in.layer}, in, d,
                  [&](const AttentionInput& in_part, AttentionGradient& d_part) {
                    members()[normalizing_member_].encoding->normalize_backward(in_part, scores, attention,
                                                                                d_attention, d_scores, d_part);
                  });
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    with_input({mixing_member_, in.layer}, in, [&](const AttentionInput& in_part) {
      members()[mixing_member_].encoding->mix(in_part, attention, output);
    });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    with_gradient(
        {mixing_member_, in.layer}, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
          members()[mixing_member_].encoding->mix_backward(in_part, attention, d_output, d_attention, d_part);
        });
  }

  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      Matrices next_of_member;
      refer_to(next, members()[n].first_state, members()[n].num_states, next_of_member);
      if (next_of_member.empty()) continue;
      with_input({n, in.layer}, in, [&](const AttentionInput& in_part) {
        members()[n].encoding->carry(in_part, attention, feed_forward, next_of_member);
      });
    }
  }
  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      if (members()[n].num_states == 0) continue;
      with_gradient({n, in.layer}, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
        members()[n].encoding->carry_backward(in_part, attention, feed_forward, d_attention, d_feed_forward,
                                              d_part);
      });
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    std::vector<AttentionMap> maps;
    for (size_t n = 0; n < members().size(); ++n) {
      with_input({n, in.layer}, in, [&](const AttentionInput& in_part) {
        for (AttentionMap& map : members()[n].encoding->inspect(in_part))
          maps.push_back({members()[n].spec.name + ": " + map.name, std::move(map.values), map.kind});
      });
    }
    return maps;
  }

 private:
  /// Returns the index of the member that replaces a stage, or 0 if none does.
  size_t only_member(const std::string& stage, bool ReplacedStages::*replaces) const {
    size_t found = members().size();
    for (size_t n = 0; n < members().size(); ++n) {
      if (!(members()[n].replaces.*replaces)) continue;
      if (found < members().size()) {
        throw InputError(fmt::format("encoding 'sum': '{}' and '{}' both replace {}; expected one that does",
                                     members()[found].spec.text(), members()[n].spec.text(), stage));
      }
      found = n;
    }
    return found < members().size() ? found : 0;
  }

  template <class F>
  void for_each_embedding(F f) const {
    for (size_t n = 0; n < members().size(); ++n) {
      if (members()[n].replaces.embed) f(n);
    }
  }

  /// Sets `result` to q k^T / sqrt(D) plus the difference of each member's value from it. `stage` computes the
  /// value: the score or its content term.
  void add_members(void (PositionEncoding::*stage)(const AttentionInput&, Heads&) const, const AttentionInput& in,
                   Heads& result) const {
    Heads part = scratch_like(in, result), plain = scratch_like(in, result);
    const auto compute = [&](size_t n, Heads& value) {
      with_input({n, in.layer}, in,
                 [&](const AttentionInput& in_part) { (members()[n].encoding.get()->*stage)(in_part, value); });
    };
    compute(0, result);
    PositionEncoding::score(in, plain);
    for (size_t n = 1; n < members().size(); ++n) {
      compute(n, part);
      for (size_t h = 0; h < result.size(); ++h) {
        for (Index i = 0; i < in.length(); ++i) {
          const Index keys = num_visible_keys(i, in.length(), config_.causal);
          result[h].row(i).head(keys) += part[h].row(i).head(keys) - plain[h].row(i).head(keys);
        }
      }
    }
  }

  static Heads scratch_like(const AttentionInput& in, const Heads& heads) {
    Heads views(heads.size());
    for (size_t h = 0; h < heads.size(); ++h) views[h].refer_to(in.scratch(heads[h].rows(), heads[h].cols()));
    return views;
  }

  size_t normalizing_member_, mixing_member_;
};

const RegisterEncoding<Sum> registered{kInfo};

}  // namespace
}  // namespace posbench::sum
