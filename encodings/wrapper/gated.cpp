// Multiplies the outputs of the heads by gates that the query's token determines.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "encodings/parts/decorator.h"
#include "encodings/registry.h"
#include "model/kernels.h"
#include "model/product.h"

namespace posbench::gated {
namespace {

const EncodingInfo kInfo{
    .name = "gated",
    .family = Family::wrapper,
    .equation =
        "output_h(i) = g_h(i) times the base's output, entry by entry,   g_h(i) = sigmoid((x_i W)_h)\n"
        "gate=channel: W (C, C) learned for each layer, D gates of each head;   gate=head: W (C, H), one gate",
    .source = "Qiu et al. 2025, arXiv:2505.06708; huggingface/transformers, qwen3_next (gate=channel)",
    .notes =
        "x is the input of the attention layer after its normalization, as for the queries. With gates of 0 a query "
        "reads nothing from any key. The gates change no score. W starts at N(0, 0.02), "
        "so that the gates start near 1 / 2. qwen3_next computes them in the projection of the queries, which is the "
        "same function.",
    .learned = true,
    .extrapolates = Extrapolation::as_base,
    .relative = Relative::as_base,
    .content_dependent = "as its base",
    .distinct = Distinct::as_base,
    .distance_decay = DistanceDecay::as_base,
    .kernel = Kernel::any,
    .variants = {"gate=head", "base=shaw_kv", "base=stick_breaking,gate=head"},
};

enum class Gate { channel, head };

class Gated final : public Decorator {
 public:
  struct Options {
    std::string base = "rope";
    Gate gate = Gate::channel;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      o.text("base", base, "any encoding", "encoding whose outputs are multiplied");
      o.choice("gate", gate, {"channel", "head"}, "a gate for each channel of the output, or one for each head");
    }
  };

  Gated(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_encoding(Spec::parse(options.base), config, layout)),
        gates_per_head_(options.gate == Gate::channel ? config.head_width() : 1) {
    for (int layer = 0; layer < config.layers; ++layer) {
      weights_.push_back(layout.normal(fmt::format("gated.weight.{}", layer), config.width,
                                       config.heads * gates_per_head_, 0.02));
    }
  }

  void mix(const AttentionInput& in, const Heads& attention, Heads& output) const override {
    inner().mix(in, attention, output);
    const Matrix& gates = this->gates(in);
    for (size_t h = 0; h < output.size(); ++h) multiply_by_gates(gates, h, output[h]);
  }
  void mix_backward(const AttentionInput& in, const Heads& attention, const Heads& d_output, Heads& d_attention,
                    AttentionGradient& d) const override {
    const Index T = in.length(), D = config_.head_width(), G = gates_per_head_;
    const Matrix& gates = this->gates(in);
    Heads ungated(d_output.size()), d_ungated(d_output.size());
    for (Heads* heads : {&ungated, &d_ungated}) {
      for (Matrix& head : *heads) head.refer_to(in.scratch(T, D));
    }
    inner().mix(in, attention, ungated);
    Matrix& d_logits = in.scratch(T, gates.cols());
    for (size_t h = 0; h < d_output.size(); ++h) {
      const Index first = static_cast<Index>(h) * G;
      for (Index i = 0; i < T; ++i) {
        for (Index g = 0; g < G; ++g) {
          const Real gate = gates(i, first + g);
          Real d_gate = 0;
          for (Index c = g; c < D; c += G) d_gate += d_output[h](i, c) * ungated[h](i, c);
          d_logits(i, first + g) = d_gate * gate * (1 - gate);
        }
      }
      d_ungated[h] = d_output[h];
      multiply_by_gates(gates, h, d_ungated[h]);
    }
    const Parameter& weight = weights_[in.layer];
    multiply_add(d_logits, in.parameters[weight].transpose(), d.x);
    multiply_add(in.x.transpose(), d_logits, d.parameters[weight]);
    inner().mix_backward(in, attention, d_ungated, d_attention, d);
  }

 private:
  /// Returns g (T, gates of all heads), in scratch.
  Matrix& gates(const AttentionInput& in) const {
    const Parameter& weight = weights_[in.layer];
    Matrix& gates = in.scratch(in.length(), weight.cols);
    multiply(in.x, in.parameters[weight], gates);
    kernels().sigmoid(gates.data(), gates.size(), gates.data());
    return gates;
  }

  /// Multiplies the values of a head, (T, D), by its gates.
  void multiply_by_gates(const Matrix& gates, size_t head, Matrix& values) const {
    const Index first = static_cast<Index>(head) * gates_per_head_;
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index c = 0; c < values.cols(); ++c) values(i, c) *= gates(i, first + c % gates_per_head_);
    }
  }

  Index gates_per_head_;
  std::vector<Parameter> weights_;  // W (C, gates of all heads), one for each layer
};

const RegisterEncoding<Gated> registered{kInfo};

}  // namespace
}  // namespace posbench::gated
