// Tests what the options of blocks compute. contract_test.cpp tests their gradients with all encodings.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/check/double_precision/certificate.h"
#include "model/training_step.h"
#include "tests/catch.h"
#include "tests/model/block_kinds.h"

using namespace posbench;

namespace {

/// A model with initial values that do not depend on its options.
struct Net {
  explicit Net(const ModelConfig& config, const std::string& spec = "none")
      : encoding(make_encoding(Spec::parse(spec), config.for_encoding(), layout)),
        model(config, layout, *encoding),
        parameters(initialize(layout, 1)) {}

  EigenMatrix logits(std::vector<int> tokens, int loops = 0) {
    Sequence s;
    s.tokens = std::move(tokens);
    s.segments.assign(s.tokens.size(), 0);
    s.loops = loops;
    for (size_t t = 0; t < s.tokens.size(); ++t) s.target_positions.push_back(static_cast<int>(t));
    Rng rng;
    s.positions = encoding->positions(s, rng);
    StepCache step;
    model.prepare(parameters, s, step, nullptr);
    model.forward(parameters, s, step, nullptr, activations);
    return activations.logits;
  }
  bool has(const std::string& part) const {
    for (const auto& entry : layout.entries()) {
      if (entry.name.find(part) != std::string::npos) return true;
    }
    return false;
  }

  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Transformer model;
  Parameters parameters;
  SequenceWorkspace activations;
};

const std::vector<int> kTokens{1, 4, 2, 0, 6, 3, 5, 2, 1, 0};

/// Changes each token in turn. The logits of a query must change if seen(query, token) and must stay the same
/// otherwise.
template <class Seen>
void check_what_is_seen(Net& net, Seen seen) {
  const EigenMatrix before = net.logits(kTokens);
  for (size_t changed = 0; changed < kTokens.size(); ++changed) {
    std::vector<int> tokens = kTokens;
    tokens[changed] = (tokens[changed] + 1) % 7;
    const EigenMatrix after = net.logits(tokens);
    for (size_t t = 0; t < tokens.size(); ++t) {
      INFO("token " << changed << ", query " << t);
      const bool same = after.row(t) == before.row(t);
      CHECK(same == !seen(t, changed));
    }
  }
}

}  // namespace

TEST_CASE("every option of blocks has correct gradients, causal and bidirectional, pre- and post-norm") {
  for (const BlockOptions& options : block_options()) {
    for (const bool causal : {true, false}) {
      for (const bool pre_norm : {true, false}) {
        for (const std::string& block : block_kinds(/*recurrent=*/false)) {
          ModelConfig config = small_config(2, causal, pre_norm);
          config.trained_length = 5;
          config.tied_embeddings = !pre_norm;
          config.dropout = causal ? 0.2 : 0;
          config.block = {block};
          options.set(config);
          const Worst worst = gradient_error(Spec{causal ? "fox" : "rope", {}}, config, 9);
          INFO(options.name << ": " << worst.where);
          CHECK(worst.error <= 1e-6);
        }
      }
    }
  }
}

TEST_CASE("every pair of kinds of blocks has correct gradients and is causal, with all that it may have") {
  std::vector<std::string> kinds = blocks().names();
  kinds.insert(kinds.end(), {"gated_delta:strength=2,rotation=true", "gated_delta:strength=2,decay=channel"});
  const std::string first = GENERATE_REF(from_range(kinds)), second = GENERATE_REF(from_range(kinds));
  for (const bool pre_norm : {true, false}) {
    ModelConfig config = small_config(2, /*causal=*/true, pre_norm);
    config.layers = 4;
    config.block = {first + "," + second};
    config.dropout = 0.2;
    config.tied_embeddings = config.smear = !pre_norm;
    if (pre_norm) {
      config.norm_kind = NormKind::rms_norm;
      config.activation = Activation::swiglu;
      config.convolution = {true, true, true, true};
      config.key_offset = 0.3;
      config.loops = 2;
    }
    const Spec with_attention = Spec::parse(pre_norm ? "tape" : "deberta:shared_projections=true");
    const Spec spec = config.is_recurrent() ? Spec{"none", {}} : with_attention;
    const Worst worst = gradient_error(spec, config, 9);
    INFO(config.block.text() << ", " << spec.text() << ": " << worst.where);
    CHECK(worst.error <= 1e-6);
    CHECK(is_causal(spec, config, 9));
  }
}

TEST_CASE("the layers of an encoding are those with attention") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 6;
  config.block = {"lstm,attention,gated_delta"};
  Net net(config, "layers:of=(rope,none),window=(2,0)");
  net.logits(kTokens);
  CHECK(config.for_encoding().layers == 2);
  CHECK(net.activations.blocks[1].attention.attention[0](9, 6) == 0);
  CHECK(net.activations.blocks[4].attention.attention[0](9, 6) != 0);
  CHECK(Net(config, "cope").has("cope.table.1"));
  CHECK_FALSE(Net(config, "cope").has("cope.table.2"));
}

TEST_CASE("a list of kinds of blocks is stored without repetition, and has at least as many layers as kinds") {
  ModelOptions options;
  OptionTable table;
  options.describe(table);
  table.set("block", "sequential,sequential", "model");
  CHECK(options.block.text() == "sequential");
  table.set("pattern", "gated_delta:strength=1,lstm,gated_delta,attention", "model");
  CHECK(options.block.text() == "gated_delta,lstm,gated_delta,attention");
  CHECK(options.layers == 4);
  table.set("layers", "3", "model");
  CHECK_THROWS_WITH(options.config(),
                    "model.block=gated_delta,lstm,gated_delta,attention is a list for 4 layers, and "
                    "model.layers is 3; set it to 4 or more");
}

TEST_CASE("convolutions, shifted keys and smeared embeddings mix each token with the one before, as stated") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 1;
  config.activation = Activation::relu;
  Net plain(config);
  plain.logits(kTokens);
  config.convolution = {true, true, true, true};
  config.key_offset = 0.5;
  config.smear = true;
  Net net(config);
  for (const auto& entry : plain.layout.entries())
    CHECK((net.parameters[net.layout.at(entry.name)] == plain.parameters[entry.parameter]));
  net.parameters[net.layout.at("smear.gate")].setZero();
  net.parameters[net.layout.at("smear.factor")].setConstant(2);
  for (const std::string place :
       {"convolution", "attention.convolution", "feed_forward.convolution", "feed_forward.up_convolution"}) {
    MatrixView taps = net.parameters[net.layout.at("blocks.0." + place)];
    taps.setZero();
    taps.row(2).setConstant(3);
  }
  net.logits(kTokens);
  const BlockActivations& a = net.activations.blocks[0];
  const auto check = [](const EigenMatrix& mixed, const EigenMatrix& x, double factor) {
    EigenMatrix expected = x;
    expected.bottomRows(9) += factor * x.topRows(9);
    CHECK((mixed - expected).norm() < 1e-12);
  };
  check(net.activations.embedded, plain.activations.embedded, 1);
  check(a.attention.input, a.unmixed, 3);
  check(a.attention.q[1], a.attention.unmixed.middleCols(4, 4), 3);
  check(a.feed_forward.input, a.feed_forward.unmixed, 3);
  EigenMatrix up = a.feed_forward.unmixed_up;
  up.bottomRows(9) += 3 * a.feed_forward.unmixed_up.topRows(9);
  CHECK((up.cwiseMax(Real(0)) - a.feed_forward.activated).norm() < 1e-12);
  EigenMatrix k = a.attention.unmixed.middleCols(8, 4);
  k.bottomRows(9) += 3 * a.attention.unmixed.middleCols(8, 4).topRows(9);
  CHECK((a.attention.k[0].leftCols(2) - k.leftCols(2)).norm() < 1e-12);
  CHECK((a.attention.k[0].rightCols(2).bottomRows(9) - k.rightCols(2).topRows(9)).norm() < 1e-12);
  CHECK((a.attention.k[0].rightCols(2).row(0) - k.rightCols(2).row(0)).norm() < 1e-12);
  CHECK(net.model.multiply_adds(10, 10) - plain.model.multiply_adds(10, 10) ==
        10 * (2 * 8 + 4 * (8 + 24 + 8 + 32)));
}

TEST_CASE("recurrent blocks refuse options that act on attention, and bidirectional models, in one line") {
  const auto refusal = [](const std::string& block, const std::function<void(ModelConfig&)>& set) {
    ModelConfig config = small_config(2, true, true);
    config.block = {block};
    set(config);
    try {
      const Net net(config);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const auto expected = [](const std::string& block, const std::string& setting, const std::string& neutral) {
    return "model." + setting + " acts on attention, which model.block=" + block + " does not have; set it to " +
           neutral + " or choose another model.block";
  };
  CHECK(refusal("lstm", [](ModelConfig& c) { c.qk_norm = true; }) == expected("lstm", "qk_norm=true", "false"));
  CHECK(refusal("lstm", [](ModelConfig& c) { c.segment = 3; }) == expected("lstm", "segment=3", "0"));
  CHECK(refusal("lstm,gated_delta", [](ModelConfig& c) { c.window = 4; }) ==
        expected("lstm,gated_delta", "window=4", "0"));
  CHECK(refusal("gated_delta", [](ModelConfig& c) { c.logit_scale = LogitScale::log_length; }) ==
        expected("gated_delta", "logit_scale", "constant"));
  CHECK(refusal("lstm", [](ModelConfig& c) { c.causal = false; }) ==
        "model.block=lstm is defined for causal models only; set model.attention to causal or leave it out");
}

TEST_CASE("a kind of block has the parameters of its layers and no others") {
  const std::vector<std::string> parts{"attention", "lstm.hidden", "gated_delta.out", "norm2", "feed_forward"};
  for (const auto& [block, expected] : std::map<std::string, std::string>{
           {"lstm", "01000"}, {"gated_delta", "00111"}, {"attention", "10000"}, {"sequential", "10011"}}) {
    ModelConfig config = small_config(2, true, true);
    config.block = {block};
    std::string found;
    for (const std::string& part : parts) found += Net(config).has("blocks.1." + part) ? "1" : "0";
    CHECK(found == expected);
    CHECK(Net(config).has("blocks.0.norm1"));
  }
}

TEST_CASE("RMSNorm and SiLU agree with results that were computed by hand") {
  Matrix x(1, 2), gain(1, 2), normalized(1, 2), rstd(1, 1), y(1, 2);
  x << 3, 4;  // the mean of the squares is 12.5
  gain << 2, -1;
  rms_norm(x, gain, normalized, rstd, y);
  CHECK(y(0, 0) == Approx(6 / std::sqrt(12.5)).epsilon(1e-5));
  CHECK(y(0, 1) == Approx(-4 / std::sqrt(12.5)).epsilon(1e-5));
  x << 1, -2;
  silu(x, y);
  CHECK(y(0, 0) == Approx(0.7310585786));
  CHECK(y(0, 1) == Approx(-0.2384058440));
  CHECK(x(0, 0) == Approx(0.9276705118));  // the derivative
}

TEST_CASE("a model without biases has none, and normalizes without a shift") {
  ModelConfig config = small_config(2, true, true);
  CHECK(Net(config).has("bias"));
  config.biases = false;
  CHECK_FALSE(Net(config).has("bias"));
  Net net(config);
  CHECK(net.logits(kTokens).allFinite());
  CHECK_THROWS_WITH(
      Net(config, "deberta:shared_projections=true"),
      "the encoding reads 'blocks.0.attention.qkv.bias', which a model without biases does not have; set "
      "model.biases to true");
}

TEST_CASE("a query sees the keys of its window and the sinks only") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 1;
  config.window = 3;
  config.sinks = 1;
  Net net(config);
  check_what_is_seen(net, [](size_t t, size_t key) { return key <= t && (t - key < 3 || key < 1); });
  CHECK(net.activations.blocks[0].attention.attention[0](9, 6) == 0);
}

TEST_CASE("a query sees its segment and one segment before, and through a second layer two segments before") {
  constexpr size_t kSegment = 3;
  for (const bool causal : {true, false}) {
    for (const int layers : {1, 2}) {
      INFO("causal " << causal << ", layers " << layers);
      ModelConfig config = small_config(2, causal, true);
      config.layers = layers;
      config.segment = kSegment;
      Net net(config);
      check_what_is_seen(net, [&](size_t t, size_t key) {
        const size_t own = t / kSegment, of_key = key / kSegment;
        return (causal ? key <= t : of_key <= own) && own <= of_key + layers;
      });
    }
  }
}

TEST_CASE(
    "reading one segment at a time, with the segment before as memory, gives the logits of the whole sequence") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 1;
  config.segment = 4;
  Net net(config);
  const EigenMatrix whole = net.logits(kTokens);
  REQUIRE(kTokens.size() >= 10);
  const std::vector<int> last_two(kTokens.begin() + 4,
                                  kTokens.end());  // the second segment is the memory of the third
  const EigenMatrix part = net.logits(last_two);
  for (Index t = 4; t < part.rows(); ++t) CHECK((part.row(t) - whole.row(t + 4)).norm() < 1e-12);
}

TEST_CASE("a looped layer equals several layers with the same parameters, and tests may have more loops") {
  ModelConfig deep = small_config(2, true, true), looped = deep;
  looped.layers = 1;
  looped.loops = 2;
  Net two(deep), shared(looped);
  for (const auto& entry : two.layout.entries()) {
    std::string name = entry.name;
    if (const size_t at = name.find("blocks.1."); at == 0) name.replace(0, 9, "blocks.0.");
    two.parameters[entry.parameter] = shared.parameters[shared.layout.at(name)];
  }
  CHECK((two.logits(kTokens) == shared.logits(kTokens)));
  const EigenMatrix twice = shared.logits(kTokens), thrice = shared.logits(kTokens, 3);
  CHECK((thrice - twice).norm() > 1e-3);
  CHECK((shared.logits(kTokens, 2) == twice));
  CHECK(shared.model.multiply_adds(10, 10, 3) > shared.model.multiply_adds(10, 10));
}

TEST_CASE("a logit scale of log n / log L is 1 if n is L, and log_length_beyond acts beyond L only") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 1;
  config.trained_length = 6;
  Net plain(config);
  const EigenMatrix before = plain.logits(kTokens);
  config.logit_scale = LogitScale::log_length;
  const EigenMatrix scaled = Net(config).logits(kTokens);
  CHECK((scaled.row(5) - before.row(5)).norm() < 1e-12);
  CHECK((scaled.row(3) - before.row(3)).norm() > 1e-6);
  config.logit_scale = LogitScale::log_length_beyond;
  const EigenMatrix beyond = Net(config).logits(kTokens);
  CHECK((beyond.topRows(6) - before.topRows(6)).norm() < 1e-12);
  CHECK((beyond.row(9) == scaled.row(9)));
}

TEST_CASE("normalized queries and keys have a root mean square of one") {
  ModelConfig config = small_config(2, true, true);
  config.qk_norm = true;
  Net net(config);
  net.logits(kTokens);
  for (const Heads& heads : {net.activations.blocks[0].attention.q, net.activations.blocks[1].attention.k}) {
    for (const Matrix& head : heads) {
      for (Index t = 0; t < head.rows(); ++t) CHECK(head.row(t).squaredNorm() / 4 == Approx(1).epsilon(1e-2));
    }
  }
}

TEST_CASE("SwiGLU has an inner width of eight thirds of the width by default") {
  ModelConfig config;
  config.width = 96;
  config.activation = Activation::swiglu;
  CHECK(config.inner_width() == 256);
  config.feed_forward = 100;
  CHECK(config.inner_width() == 100);
}
