// Divides the heads of every layer into equal groups, one for each of several encodings.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/parts/composition.h"

namespace posbench::heads {
namespace {

const EncodingInfo kInfo{
    .name = "heads",
    .family = Family::wrapper,
    .equation = "head h has member floor(h M / H) of the M members",
    .source = "NAPE: Vasylenko et al. 2025, arXiv:2506.16640",
    .notes =
        "of=(none,alibi) is NAPE with ALiBi's slopes, which are less steep than those of the paper "
        "(encoding nape). Members compute what depends on the number of heads, such as ALiBi's slopes, for their "
        "H / M heads. of=(rope,none) is partial RoPE by heads. Members that enter at the embeddings "
        "are refused, because all heads read these. The measured properties are those of the default.",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::yes,
    .content_dependent = "as its members",
    .distance_decay = DistanceDecay::yes,
    .heads_multiple_of = 2,
    .variants = {"of=(rope,none)", "of=(cope,stick_breaking)", "of=((alibi:learned=true),(alibi:learned=true))",
                 "of=(shaw_kv,fox)", "of=((dape:base=kerple_log),(randomized:base=rope))"},
};

class HeadGroups final : public Composition {
 public:
  struct Options {
    std::string of = "none,alibi";
    std::vector<Spec> members() const { return composed(of); }
    void describe(OptionTable& o) {
      o.text("of", of, "two or more encodings", "encodings of the groups of heads");
    }
  };

  HeadGroups(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Composition("heads", options.members(), config, member_configs(options, config), layout) {
    refuse_embeddings("heads", "all heads");
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& in_part) {
        Heads heads_of_part = group(scores, part);
        encoding.score(in_part, heads_of_part);
      });
    });
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_gradient(part, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
        encoding.score_backward(in_part, group(d_scores, part), d_part);
      });
    });
  }
  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& in_part) {
        Heads heads_of_part = group(attention, part);
        encoding.normalize(in_part, group(scores, part), heads_of_part);
      });
    });
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient& d) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_gradient(part, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
        Heads heads_of_part = group(d_scores, part);
        encoding.normalize_backward(in_part, group(scores, part), group(attention, part), group(d_attention, part),
                                    heads_of_part, d_part);
      });
    });
  }
  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& in_part) {
        Heads heads_of_part = group(output, part);
        encoding.mix(in_part, group(attention, part), heads_of_part);
      });
    });
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_gradient(part, in, d, [&](const AttentionInput& in_part, AttentionGradient& d_part) {
        Heads heads_of_part = group(d_attention, part);
        encoding.mix_backward(in_part, group(attention, part), group(d_output, part), heads_of_part, d_part);
      });
    });
  }

  void content(const AttentionInput& in, Heads& content) const override {
    for_each_group(in, [&](const Part& part, const PositionEncoding& encoding) {
      with_input(part, in, [&](const AttentionInput& in_part) {
        Heads heads_of_part = group(content, part);
        encoding.content(in_part, heads_of_part);
      });
    });
  }

 private:
  static std::vector<ModelConfig> member_configs(const Options& options, ModelConfig config) {
    const std::vector<Spec> specs = require_several("heads", options.of, options.members(), "none,alibi");
    const int count = static_cast<int>(specs.size());
    if (config.heads % count != 0) {
      throw InputError(
          fmt::format("encoding 'heads': the {} heads of the model do not divide into {} equal groups; "
                      "set model.heads to a multiple of {}",
                      config.heads, count, count));
    }
    if (config.model_heads == 0) config.model_heads = config.heads;
    config.heads /= count;
    return std::vector<ModelConfig>(specs.size(), config);
  }

  template <class F>
  void for_each_group(const AttentionInput& in, F f) const {
    const size_t count = in.q.size() / members().size();
    for (size_t n = 0; n < members().size(); ++n) f(Part{n, in.layer, n * count, count}, *members()[n].encoding);
  }
  static Heads group(const Heads& heads, const Part& part) {
    Heads views;
    refer_to(heads, part.first_head, part.num_heads, views);
    return views;
  }
};

const RegisterEncoding<HeadGroups> registered{kInfo};

}  // namespace
}  // namespace posbench::heads
