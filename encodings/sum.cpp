// The sum of encodings: the content's score once, and the positional parts of all.
//
//   score_h(i, j) = q_i . k_j / sqrt(D) + sum over m of (s_m(i, j) - q_i . k_j / sqrt(D)),   s_m the score of member m
//   x_t          += what each member adds to the embeddings
//
// Ours, after combinations of the literature: CoPE with relative positions (Golovneva et al. 2024, arXiv:2405.18719) is
// of=(cope,shaw_k), Abacus with FIRE (McLeish et al. 2024, arXiv:2405.17399) of=(abacus,fire), absolute with relative
// positions of=(learned_abs,t5_bias). At most one member may replace the normalization, and one the mixing of values.
// Each member has its own positions.
#include "encodings/parts/composition.h"
#include "model/attention.h"

namespace posbench {
namespace {

class Sum final : public Composition {
 public:
  struct Options {
    std::string of = "cope,shaw_k";
    std::vector<Spec> members() const { return composed(of); }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "the encodings whose scores are added");
    }
  };

  Sum(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Composition("sum", several(options), shape, std::vector<ModelShape>(options.members().size(), shape),
                    layout),
        normalizes_(only("the normalization", &ReplacedStages::normalize)),
        mixes_(only("the mixing of values", &ReplacedStages::mix)) {}

  void embed(const Sequence& s, const Parameters& p, const Tables& tables, Matrix& x,
             Matrices& recurrent_state) const override {
    const Matrix start = x;
    Matrix moved;
    recurrent_state.clear();
    for_each_embedding([&](size_t n) {
      Sequence own;
      Matrices states;
      moved = start;
      members()[n].encoding->embed(sequence_of(s, n, own), p, tables_of(tables, n), moved, states);
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
      Sequence own;
      Matrices d_states, d_own_tables;
      refer_to(d_recurrent_state, members()[n].first_state, members()[n].states, d_states);
      refer_to_tables(tables, n, d_tables, d_own_tables);
      d_moved = d_result;
      members()[n].encoding->embed_backward(sequence_of(s, n, own), p, tables_of(tables, n), x, d_states, d_moved,
                                            d_own_tables, d);
      d_x += d_moved - d_result;
    });
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    Heads part = scratch_like(in, scores), content = scratch_like(in, scores);
    with_input({0, in.layer}, in, [&](const AttentionInput& own) { members()[0].encoding->score(own, scores); });
    PositionEncoding::score(in, content);
    for (size_t n = 1; n < members().size(); ++n) {
      with_input({n, in.layer}, in, [&](const AttentionInput& own) { members()[n].encoding->score(own, part); });
      for (size_t h = 0; h < scores.size(); ++h) {
        for (Index i = 0; i < in.length(); ++i) {
          const Index keys = visible(i, in.length(), shape_.causal);
          scores[h].row(i).head(keys) += part[h].row(i).head(keys) - content[h].row(i).head(keys);
        }
      }
    }
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      with_gradient({n, in.layer}, in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
        members()[n].encoding->score_backward(own, d_scores, d_own);
      });
    }
    const Real once_less = -static_cast<Real>(members().size() - 1) * scale();
    for (size_t h = 0; h < d_scores.size(); ++h)
      dot_product_backward(in.q[h], in.k[h], once_less, shape_.causal, d_scores[h], d.q[h], d.k[h]);
  }

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    with_input({normalizes_, in.layer}, in, [&](const AttentionInput& own) {
      members()[normalizes_].encoding->normalize(own, scores, attention);
    });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores) const override {
    with_input({normalizes_, in.layer}, in, [&](const AttentionInput& own) {
      members()[normalizes_].encoding->normalize_backward(own, scores, attention, d_attention, d_scores);
    });
  }
  bool keeps_scores() const override { return members()[normalizes_].encoding->keeps_scores(); }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    with_input({mixes_, in.layer}, in,
               [&](const AttentionInput& own) { members()[mixes_].encoding->mix(own, attention, output); });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    with_gradient({mixes_, in.layer}, in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
      members()[mixes_].encoding->mix_backward(own, attention, d_output, d_attention, d_own);
    });
  }

  void carry(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
             Matrices& next) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      Matrices own_next;
      refer_to(next, members()[n].first_state, members()[n].states, own_next);
      if (own_next.empty()) continue;
      with_input({n, in.layer}, in, [&](const AttentionInput& own) {
        members()[n].encoding->carry(own, attention, feed_forward, own_next);
      });
    }
  }
  void carry_backward(const AttentionInput& in, const Heads& attention, const Matrix& feed_forward,
                      Heads& d_attention, Matrix& d_feed_forward, AttentionGradient& d) const override {
    for (size_t n = 0; n < members().size(); ++n) {
      if (members()[n].states == 0) continue;
      with_gradient({n, in.layer}, in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
        members()[n].encoding->carry_backward(own, attention, feed_forward, d_attention, d_feed_forward, d_own);
      });
    }
  }

  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    std::vector<AttentionMap> maps;
    for (size_t n = 0; n < members().size(); ++n) {
      with_input({n, in.layer}, in, [&](const AttentionInput& own) {
        for (AttentionMap& map : members()[n].encoding->inspect(own))
          maps.push_back({members()[n].spec.name + ": " + map.name, std::move(map.values)});
      });
    }
    return maps;
  }

 private:
  static std::vector<Spec> several(const Options& options) {
    std::vector<Spec> specs = options.members();
    if (specs.size() > 1) return specs;
    throw std::invalid_argument(fmt::format(
        "encoding 'sum': of is '{}', expected two or more encodings, as in of=(cope,shaw_k)", options.of));
  }

  /// The member that replaces this stage; the first if none does.
  size_t only(const std::string& stage, bool ReplacedStages::*replaces) const {
    size_t found = members().size();
    for (size_t n = 0; n < members().size(); ++n) {
      if (!(members()[n].replaces.*replaces)) continue;
      if (found < members().size()) {
        throw std::invalid_argument(
            fmt::format("encoding 'sum': '{}' and '{}' both replace {}; expected one that does",
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

  static Heads scratch_like(const AttentionInput& in, const Heads& heads) {
    Heads views(heads.size());
    for (size_t h = 0; h < heads.size(); ++h) views[h].refer_to(in.scratch(heads[h].rows(), heads[h].cols()));
    return views;
  }

  size_t normalizes_, mixes_;  // the members that do
};

const RegisterEncoding<Sum> registered{{
    .name = "sum",
    .family = Family::wrapper,
    .equation =
        "score(i, j) = q_i . k_j / sqrt(D) + the sum of the members' positional parts, s_m(i, j) - q_i . k_j / "
        "sqrt(D)",
    .source = "ours; CoPE with relative positions: Golovneva et al. 2024, arXiv:2405.18719",
    .notes =
        "What members add to the embeddings is added too. At most one of them may replace the normalization, and "
        "one the mixing of values. The measured properties are those of the default.",
    .touches = "as its members",
    .learned = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::counted,
    .content_dependent = "as its members",
    .variants = {"of=(learned_abs,t5_bias)", "of=(cope,rope)", "of=(sinusoidal,stick_breaking)", "of=(tape,alibi)",
                 "of=(abacus,shaw_kv)", "of=((randomized:base=sinusoidal),kerple_log,(alibi:learned=true))"},
}};

}  // namespace
}  // namespace posbench
