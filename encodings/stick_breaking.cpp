// Stick-breaking attention: keys are visited from the query backwards, and each takes a fraction of what is left
// of the attention; the nearest strong match wins. It replaces the softmax, and needs no other position.
//
//   z(i, j) = q_i . k_j / sqrt(D)
//   A(i, j) = sigmoid(z(i, j)) times the product of 1 - sigmoid(z(i, m)) over j < m < i
//   o_i     = sum of A(i, j) v_j over j < i
//
// Tan et al. 2024, arXiv:2410.17980; shawntan/stickbreaking-attention. Rows sum to at most 1. By
// default a token does not see itself, so that the first outputs zero; include_self=true visits it first.
// remainder=true gives what is left to the token's own value, o_i += (1 - sum of A(i, j)) v_i, as in that
// repository's tests.
#include "encodings/registry.h"
#include "encodings/parts/stick.h"
#include "model/attention.h"
#include "model/numeric.h"

namespace posbench {
namespace {

class StickBreaking final : public PositionEncoding {
 public:
  struct Options {
    bool include_self = false, remainder = false;
    void describe(OptionTable& o) {
      o.flag("include_self", include_self, "a query's own key is visited first; else it is not visited");
      o.flag("remainder", remainder, "what is left of the stick goes to the query's own value");
    }
  };

  StickBreaking(const Options& options, const ModelShape& shape, ParameterLayout&)
      : PositionEncoding(shape), options_(options) {}

  void normalize(const AttentionInput& in, const Heads& scores, Heads& attention) const override {
    PaddedRow fraction(in.scratch(1, 1), in.length()), weight(in.scratch(1, 1), in.length());
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = visited(i);
        set_fractions(scores[h].row(i).data(), keys, fraction);
        weight.resize(keys);
        break_stick(fraction, keys, weight);
        copy_row(weight, 1, in.length(), attention[h].row(i).data());
      }
    }
  }
  bool keeps_scores() const override { return true; }
  void normalize_backward(const AttentionInput& in, const Heads& scores, const Heads& attention,
                          const Heads& d_attention, Heads& d_scores) const override {
    const Index T = in.length();
    PaddedRow fraction(in.scratch(1, 1), T), gain(in.scratch(1, 1), T), d_logit(in.scratch(1, 1), T);
    for (size_t h = 0; h < scores.size(); ++h) {
      for (Index i = 0; i < T; ++i) {
        const Index keys = visited(i);
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
  Index visited(Index i) const { return options_.include_self ? i + 1 : i; }
  static Real remainder(const Matrix& attention, Index i) { return 1 - kernels().sum(attention.row(i).data(), i + 1); }

  Options options_;
};

const RegisterEncoding<StickBreaking> registered{{
    .name = "stick_breaking",
    .family = Family::attention_variant,
    .equation = "attention(i, j) = sigmoid(z_ij) times the product of 1 - sigmoid(z_im) over j < m < i, z = q . k "
                "/ sqrt(D)",
    .source = "Tan et al. 2024, arXiv:2410.17980; shawntan/stickbreaking-attention",
    .notes = "Replaces the softmax. The first token attends to nothing and outputs zero, unless include_self or "
             "remainder.",
    .causal_only = true,
    .touches = "L",
    .extrapolates = Extrapolation::yes,
    .relative = Relative::order_of_keys,
    .content_dependent = "query and key",
    .distance_decay = DistanceDecay::yes,
    .variants = {"include_self=true", "include_self=true,remainder=true", "remainder=true"},
}};

}  // namespace
}  // namespace posbench
