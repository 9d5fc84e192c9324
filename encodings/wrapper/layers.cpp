// Alternates several encodings over the layers.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/composition.h"
#include "encodings/parts/require_use.h"
#include "encodings/parts/score_options.h"

namespace posbench::layers {
namespace {

const EncodingInfo kInfo{
    .name = "layers",
    .family = Family::wrapper,
    .equation =
        "layer l has the encoding at l mod `every` of a pattern: the first member as often as needed, then "
        "each of the others once\n"
        "of=(a,b,c): layers 0, 1, 2, 3, ... have a, b, c, a, ...\n"
        "of=(a,b),every=4: layers 0, 1, 2 have a, layer 3 has b, and so on;   with fill=last, layer 0 has a, and "
        "layers 1, 2, 3 have b\n"
        "last_layer=last: the last layer of the model has the last member, wherever the pattern ends\n"
        "window=(8,0): the layers of a see a window of 8 keys, and those of b all keys",
    .source = "RNoPE: Yang et al. 2025, arXiv:2501.18795; Golovneva et al. 2024, arXiv:2405.18719",
    .notes =
        "of=(rope,none) is RNoPE, and with every=4 SmolLM3; of=(cope,none) is CoPE in some layers. The encoding "
        "local defines window, chunk, sinks, logit_scale and temperature. Each has one value for all members, or a "
        "list with one for each. Other wrappers of a member are written in `of`, as in "
        "of=((sink_logit:base=rope),none). 'posbench show' with a spec prints the encoding of each layer. A "
        "member has parameters for its own layers only. Members that enter at the embeddings are refused, "
        "because all layers read these. The measured properties are those of the default in its first "
        "layer.",
    .extrapolates = Extrapolation::defined,
    .relative = Relative::yes,
    .content_dependent = "as its members",
    .min_layers = 2,
    .variants = {"of=(cope,none)", "of=(stick_breaking,shaw_kv)", "of=((alibi:learned=true),fox),every=2",
                 "of=(t5_bias,(randomized:base=rope))", "window=(4,0)",
                 "of=(rope,none),every=4,fill=last,shorten=true,chunk=(0,0.5x),temperature=(2,0)",
                 "of=(rope,fire),every=3,shorten=true,last_layer=last",
                 "of=(rope,cope),window=3,sinks=(1,0),logit_scale=(constant,log_length)"},
};

/// The member that fills the pattern. Each other member has one layer of it.
enum class Fill { first, last };

/// The member that the last layer of the model has: that of the pattern, or the last one.
enum class LastLayer { pattern, last };

class Layers final : public Composition {
 public:
  struct Options {
    std::string of = "rope,none";
    int every = 0;
    Fill fill = Fill::first;
    bool shorten = false;
    LastLayer last_layer = LastLayer::pattern;
    ScoreOptionLists lists;
    std::vector<Spec> members() const {
      return lists.wrap(require_several("layers", of, composed(of), "rope,none"), "encoding 'layers'");
    }
    /// Returns the number of layers of the pattern in a model with `layers` layers.
    int period(int layers) const {
      const int count = static_cast<int>(composed(of).size());
      if (every == 0) return count;
      return shorten ? std::min(every, std::max(count, layers)) : every;
    }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "encodings of successive layers");
      o.integer("every", every, 0, 64, "layers of the pattern, filled by one encoding; 0: one layer for each");
      o.choice("fill", fill, {"first", "last"}, "encoding that fills the pattern: the first, or the last");
      o.flag("shorten", shorten,
             "shorten the pattern in a model with fewer layers, by layers of the encoding that fills it");
      o.choice("last_layer", last_layer, {"pattern", "last"},
               "encoding of the last layer of the model: that of the pattern, or the last encoding");
      lists.describe(o);
    }
    /// Returns the index of the member that a layer of a model has.
    size_t member(int layer, int layers) const {
      const int at = layer % period(layers), count = static_cast<int>(composed(of).size());
      if (last_layer == LastLayer::last && layer + 1 == layers) return static_cast<size_t>(count - 1);
      const int index = fill == Fill::first ? std::max(0, at - (period(layers) - count)) : std::min(at, count - 1);
      return static_cast<size_t>(index);
    }
    Spec of_layer(int layer, int layers) const {
      const std::vector<Spec> specs = members();
      return specs[member(layer, layers)];
    }
  };

  Layers(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Composition("layers", options.members(), config, member_configs(options, config), layout) {
    refuse_embeddings("layers", "all layers");
    std::vector<int> used(members().size());
    for (int layer = 0; layer < config.layers; ++layer) {
      const size_t n = options.member(layer, config.layers);
      parts_.push_back({n, used[n]++});
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    with_input(part(in), in, [&](const AttentionInput& in_part) { member(in).score(in_part, scores); });
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    with_gradient(part(in), in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
      member(in).score_backward(in_part, d_scores, d_part);
    });
  }
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    with_input(part(in), in,
               [&](const AttentionInput& in_part) { member(in).normalize(in_part, scores, attention); });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient& d) const override {
    with_gradient(part(in), in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
      member(in).normalize_backward(in_part, scores, attention, d_attention, d_scores, d_part);
    });
  }
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    with_input(part(in), in, [&](const AttentionInput& in_part) { member(in).mix(in_part, attention, output); });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    with_gradient(part(in), in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
      member(in).mix_backward(in_part, attention, d_output, d_attention, d_part);
    });
  }
  void content(const AttentionInput& in, Heads& content) const override {
    with_input(part(in), in, [&](const AttentionInput& in_part) { member(in).content(in_part, content); });
  }
  std::vector<AttentionMap> inspect(const AttentionInput& in) const override {
    std::vector<AttentionMap> maps;
    with_input(part(in), in, [&](const AttentionInput& in_part) { maps = member(in).inspect(in_part); });
    return maps;
  }

 private:
  static std::vector<ModelConfig> member_configs(const Options& options, const ModelConfig& config) {
    const bool has_period = options.every > 0;
    require_use("layers", "fill", std::string_view(options.fill == Fill::last ? "last" : "first"), "first",
                has_period, "a pattern without every");
    require_use("layers", "shorten", options.shorten, false, has_period, "a pattern without every");
    const size_t count = options.members().size();
    const int period = options.period(config.layers);
    if (period < static_cast<int>(count)) {
      throw InputError(fmt::format(
          "encoding 'layers': every is {}, less than the {} encodings '{}'; expected at least as many layers",
          options.every, count, options.of));
    }
    if (period > config.layers) {
      throw InputError(fmt::format(
          "encoding 'layers': the pattern '{}' has {} layers, and the model {} with attention; set model.layers to {} or more",
          options.of, period, config.layers, period));
    }
    std::vector<ModelConfig> configs(count, config);
    for (ModelConfig& member : configs) member.layers = 0;
    for (int layer = 0; layer < config.layers; ++layer) ++configs[options.member(layer, config.layers)].layers;
    return configs;
  }

  const Part& part(const AttentionInput& in) const { return parts_[static_cast<size_t>(in.layer)]; }
  const PositionEncoding& member(const AttentionInput& in) const { return *members()[part(in).member].encoding; }

  std::vector<Part> parts_;  // for each layer
};

const RegisterEncoding<Layers> registered{kInfo};

}  // namespace
}  // namespace posbench::layers
