// Encodings that alternate over the layers.
//
//   of=(a,b,c)          layers 0, 1, 2, 3, ... have a, b, c, a, ...
//   of=(a,b),every=4    layers 0, 1, 2 have a, layer 3 has b, and so on: the last members stand at the end of each
//                       group of `every` layers, and the first fills the rest
//
// of=(rope,none) is RNoPE (Yang et al. 2025, arXiv:2501.18795), with every=4 SmolLM3; CoPE in some layers is
// of=(cope,none). A member has parameters for its own layers only.
#include "encodings/parts/composition.h"

namespace posbench {
namespace {

class Layers final : public Composition {
 public:
  struct Options {
    std::string of = "rope,none";
    int every = 0;
    std::vector<Spec> members() const { return composed(of); }
    int period() const { return every > 0 ? every : static_cast<int>(members().size()); }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "the encodings of successive layers");
      o.integer("every", every, 0, 64,
                "layers after which the pattern starts again; the first encoding fills it; 0: one of each");
    }
    /// The member that layer `layer` has.
    size_t member(int layer) const {
      const int at = layer % period(), count = static_cast<int>(members().size());
      return static_cast<size_t>(std::max(0, at - (period() - count)));
    }
  };

  Layers(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : Composition("layers", options.members(), shape, shapes(options, shape), layout) {
    refuse_embeddings("layers", "all layers");
    std::vector<int> used(members().size());
    for (int layer = 0; layer < shape.layers; ++layer) {
      const size_t n = options.member(layer);
      parts_.push_back({n, used[n]++});
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    with_input(part(in), in, [&](const AttentionInput& own) { of(in).score(own, scores); });
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    with_gradient(part(in), in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
      of(in).score_backward(own, d_scores, d_own);
    });
  }
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    with_input(part(in), in, [&](const AttentionInput& own) { of(in).normalize(own, scores, attention); });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores) const override {
    with_input(part(in), in, [&](const AttentionInput& own) {
      of(in).normalize_backward(own, scores, attention, d_attention, d_scores);
    });
  }
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    with_input(part(in), in, [&](const AttentionInput& own) { of(in).mix(own, attention, output); });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    with_gradient(part(in), in, d, [&](const AttentionInput& own, AttentionGradient& d_own) {
      of(in).mix_backward(own, attention, d_output, d_attention, d_own);
    });
  }
  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    std::vector<AttentionMap> maps;
    with_input(part(in), in, [&](const AttentionInput& own) { maps = of(in).inspect(own); });
    return maps;
  }

 private:
  static std::vector<ModelShape> shapes(const Options& options, const ModelShape& shape) {
    const size_t count = options.members().size();
    if (count < 2) {
      throw std::invalid_argument(fmt::format(
          "encoding 'layers': of is '{}', expected two or more encodings, as in of=(rope,none)", options.of));
    }
    if (options.period() < static_cast<int>(count)) {
      throw std::invalid_argument(fmt::format(
          "encoding 'layers': every is {}, less than the {} encodings '{}'; expected at least as many layers",
          options.every, count, options.of));
    }
    if (options.period() > shape.layers) {
      throw std::invalid_argument(fmt::format(
          "encoding 'layers': the pattern '{}' has {} layers, and the model {}; set model.layers to {} or "
          "more",
          options.of, options.period(), shape.layers, options.period()));
    }
    std::vector<ModelShape> shapes(count, shape);
    for (ModelShape& own : shapes) own.layers = 0;
    for (int layer = 0; layer < shape.layers; ++layer) ++shapes[options.member(layer)].layers;
    return shapes;
  }

  const Part& part(const AttentionInput& in) const { return parts_[static_cast<size_t>(in.layer)]; }
  const PositionEncoding& of(const AttentionInput& in) const { return *members()[part(in).member].encoding; }

  std::vector<Part> parts_;  // of each layer
};

const RegisterEncoding<Layers> registered{{
    .name = "layers",
    .family = Family::wrapper,
    .equation = "layer l has the encoding at l modulo `every` of a pattern: the first member, then the others",
    .source = "RNoPE: Yang et al. 2025, arXiv:2501.18795; Golovneva et al. 2024, arXiv:2405.18719",
    .notes =
        "Members that enter at the embeddings are refused, since all layers read these. The measured properties are "
        "those of the default in its first layer.",
    .touches = "as its members",
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "as its members",
    .least_layers = 2,
    .variants = {"of=(cope,none)", "of=(stick_breaking,shaw_kv)", "of=((alibi:learned=true),fox),every=2",
                 "of=(t5_bias,(randomized:base=rope))"},
}};

}  // namespace
}  // namespace posbench
