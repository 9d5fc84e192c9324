// Stick-breaking attention replaces the softmax. A query visits its keys backwards, and each key takes a fraction
// of the attention that is left, so that the nearest strong match wins.
#include "encodings/parts/stick.h"
#include "encodings/registry.h"
#include "model/attention.h"
#include "model/numeric.h"

namespace posbench::stick_breaking {
namespace {

const EncodingInfo kInfo{
    .name = "stick_breaking",
    .family = Family::attention_variant,
    .equation =
        "A(i, j) = sigmoid(z(i, j)) times the product of 1 - sigmoid(z(i, m)) over j < m < i\n"
        "z(i, j) = q_i . k_j / sqrt(D)\n"
        "o_i     = sum of A(i, j) v_j over j < i",
    .source = "Tan et al. 2024, arXiv:2410.17980; shawntan/stickbreaking-attention",
    .notes =
        "Rows sum to at most 1. The first token attends to nothing and outputs zero, unless a token visits "
        "itself first (include_self=true) or its own value gets the rest, o_i += (1 - sum of A(i, j)) v_i "
        "(remainder=true), as in the tests of that repository.",
    .causal_only = true,
    .extrapolates = Extrapolation::yes,
    .relative = Relative::order_of_keys,
    .content_dependent = "query and key",
    .distance_decay = DistanceDecay::yes,
    .variants = {"include_self=true", "include_self=true,remainder=true", "remainder=true"},
};

class StickBreaking final : public PositionEncoding {
 public:
  struct Options {
    bool include_self = false, remainder = false;
    void describe(OptionTable& o) {
      o.flag("include_self", include_self,
             "visit to the query's own key before all others; otherwise no visit to it");
      o.flag("remainder", remainder, "rest of the attention for the query's own value");
    }
  };

  StickBreaking(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), options_(options) {}

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    PaddedRow fraction(in.scratch(1, 1), in.length()), weight(in.scratch(1, 1), in.length());
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visited_keys(i);
        set_fractions(scores[h].row(i).data(), keys, fraction);
        weight.resize(keys);
        break_stick(fraction, keys, weight);
        copy_row(weight, 1, in.length(), attention[h].row(i).data());
      }
    }
  }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores, AttentionGradient&) const override {
    const Index T = in.length();
    PaddedRow fraction(in.scratch(1, 1), T), gain(in.scratch(1, 1), T), d_logit(in.scratch(1, 1), T);
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < T; ++i) {
        const Index keys = num_visited_keys(i);
        const Real *weight = attention[h].row(i).data(), *d_weight = d_attention[h].row(i).data();
        set_fractions(scores[h].row(i).data(), keys, fraction);
        gain.resize(keys);
        for_each_lanes(keys, [&](Index j, Index count) {
          store(load(weight + j, count, 0) * load(d_weight + j, count, 0), gain.data() + j);
        });
        d_logit.resize(keys);
        break_stick_backward(fraction, gain, keys, d_logit);
        copy_row(d_logit, 1, T, d_scores[h].row(i).data());
      }
    }
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    PositionEncoding::mix(in, attention, output);
    if (!options_.remainder) return;
    for (size_t h = 0; h < output.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) output[h].row(i) += remainder(attention[h], i) * in.v[h].row(i);
    }
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    PositionEncoding::mix_backward(in, attention, d_output, d_attention, d);
    if (!options_.remainder) return;
    for (size_t h = 0; h < d_output.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) {
        d.v[h].row(i) += remainder(attention[h], i) * d_output[h].row(i);
        d_attention[h].row(i).head(i + 1).array() -= dot(d_output[h].row(i), in.v[h].row(i));
      }
    }
  }

 private:
  Index num_visited_keys(Index i) const { return options_.include_self ? i + 1 : i; }
  static Real remainder(const Matrix& attention, Index i) {
    return 1 - kernels().sum(attention.row(i).data(), i + 1);
  }

  Options options_;
};

const RegisterEncoding<StickBreaking> registered{kInfo};

}  // namespace
}  // namespace posbench::stick_breaking
