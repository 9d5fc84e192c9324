// Encodings side by side: the heads of every layer are divided into equal groups, one for each.
//
//   of=(a,b)   heads 0 .. H/2 - 1 have a, the others b
//
// of=(none,alibi) is NAPE (Vasylenko et al. 2025, arXiv:2506.16640) with ALiBi's slopes, which are less steep than its
// own (encoding nape); of=(rope,none) is partial RoPE by heads.
#include "encodings/parts/composition.h"

namespace posbench {
namespace {

class HeadGroups final : public Composition {
 public:
  struct Options {
    std::string of = "none,alibi";
    std::vector<Spec> members() const { return composed(of); }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "the encodings of the groups of heads");
    }
  };

  HeadGroups(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Composition("heads", options.members(), shape, shapes(options, shape), layout) {
    refuse_embeddings("heads", "all heads");
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& own) {
        Heads of_group = group(scores, part);
        encoding.score(own, of_group);
      });
    });
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_gradient(part, in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
        encoding.score_backward(own, group(d_scores, part), d_own);
      });
    });
  }
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& own) {
        Heads of_group = group(attention, part);
        encoding.normalize(own, group(scores, part), of_group);
      });
    });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& own) {
        Heads of_group = group(d_scores, part);
        encoding.normalize_backward(own, group(scores, part), group(attention, part), group(d_attention, part),
                                    of_group);
      });
    });
  }
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& own) {
        Heads of_group = group(output, part);
        encoding.mix(own, group(attention, part), of_group);
      });
    });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_gradient(part, in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
        Heads of_group = group(d_attention, part);
        encoding.mix_backward(own, group(attention, part), group(d_output, part), of_group, d_own);
      });
    });
  }

 private:
  static std::vector<ModelShape> shapes(const Options& options, ModelShape shape) {
    const std::vector<Spec> specs = options.members();
    const int count = static_cast<int>(specs.size());
    if (count < 2) {
      throw std::invalid_argument(fmt::format(
          "encoding 'heads': of is '{}', expected two or more encodings, as in of=(none,alibi)", options.of));
    }
    if (shape.heads % count != 0) {
      throw std::invalid_argument(fmt::format(
          "encoding 'heads': the {} heads of the model do not divide into {} equal groups; set model.heads to "
          "a multiple of {}",
          shape.heads, count, count));
    }
    if (shape.all_heads == 0) shape.all_heads = shape.heads;
    shape.heads /= count;
    return std::vector<ModelShape>(specs.size(), shape);
  }

  template <class F>
  void for_each_group(const AttentionInput& in, F f) const {
    const size_t count = in.q.size() / members().size();
    for (size_t n = 0; n < members().size(); ++n) f(Part{n, in.layer, n * count, count}, *members()[n].encoding);
  }
  static Heads group(const Heads& heads, const Part& part) {
    Heads views;
    refer_to(heads, part.first, part.count, views);
    return views;
  }
};

const RegisterEncoding<HeadGroups> registered{{
    .name = "heads",
    .family = Family::wrapper,
    .equation = "head h has member floor(h M / H) of the M members",
    .source = "NAPE: Vasylenko et al. 2025, arXiv:2506.16640",
    .notes =
        "Members that enter at the embeddings are refused, since all heads read these. The measured properties are those of the "
        "default.",
    .touches = "as its members",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "as its members",
    .distance_decay = DistanceDecay::yes,
    .heads_multiple = 2,
    .variants = {"of=(rope,none)", "of=(cope,stick_breaking)", "of=((alibi:learned=true),(alibi:learned=true))",
                 "of=(shaw_kv,fox)", "of=((dape:base=kerple_log),(randomized:base=rope))"},
}};

}  // namespace
}  // namespace posbench
