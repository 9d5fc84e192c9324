// Options of blocks: what they compute. Their gradients over all encodings are in combination with contract_test.cpp.
#include <cmath>

#include "harness/verify/double_precision/certificate.h"
#include "model/training_step.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// A model without positions, with the same initial values whatever the options.
struct Net {
  explicit Net(const ModelShape& shape, const std::string& spec = "none")
      : encoding(make_encoding(Spec::parse(spec), shape, layout)),
        model(shape, layout, *encoding),
        parameters(initialize(layout, 1)) {}

  RowMajor logits(std::vector<int> tokens, int loops = 0) {
    Sequence s;
    s.tokens = std::move(tokens);
    s.segments.assign(s.tokens.size(), 0);
    s.loops = loops;
    for (size_t t = 0; t < s.tokens.size(); ++t) s.target_positions.push_back(static_cast<int>(t));
    Rng rng;
    s.positions = encoding->positions(s, rng);
    StepTables step;
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
  Activations activations;
};

const std::vector<int> kTokens{1, 4, 2, 0, 6, 3, 5, 2, 1, 0};

/// Changes one token after the other: the logits of a query must change if seen(query, token), and else not at all.
template <class Seen>
void check_what_is_seen(Net& net, Seen seen) {
  const RowMajor before = net.logits(kTokens);
  for (size_t changed = 0; changed < kTokens.size(); ++changed) {
    std::vector<int> tokens = kTokens;
    tokens[changed] = (tokens[changed] + 1) % 7;
    const RowMajor after = net.logits(tokens);
    for (size_t t = 0; t < tokens.size(); ++t) {
      INFO("token " << changed << ", query " << t);
      const bool same = after.row(t) == before.row(t);
      CHECK(same == !seen(t, changed));
    }
  }
}

}  // namespace

TEST_CASE("every option of blocks has right gradients, causal and bidirectional, pre- and post-norm") {
  for (const BlockOptions& options : block_options()) {
    for (const bool causal : {true, false}) {
      for (const bool pre_norm : {true, false}) {
        for (const BlockKind block : {BlockKind::sequential, BlockKind::parallel, BlockKind::attention}) {
          ModelShape shape = small_shape(2, causal, pre_norm);
          shape.trained_length = 5;
          shape.tied_embeddings = !pre_norm;
          shape.dropout = causal ? 0.2 : 0;
          shape.block = block;
          options.set(shape);
          const Worst worst = gradient_error(Spec{causal ? "fox" : "rope", {}}, shape, 9);
          INFO(options.name << ": " << worst.where);
          CHECK(worst.error <= 1e-6);
        }
      }
    }
  }
}

TEST_CASE("a block of attention alone has no feed-forward and one normalization") {
  ModelShape shape = small_shape(2, true, true);
  shape.block = BlockKind::attention;
  Net net(shape);
  CHECK_FALSE(net.has("feed_forward"));
  CHECK_FALSE(net.has("norm2"));
  CHECK(net.has("blocks.0.norm1"));
  CHECK(net.logits(kTokens).allFinite());
}

TEST_CASE("RMSNorm and SiLU of numbers by hand") {
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
  ModelShape shape = small_shape(2, true, true);
  CHECK(Net(shape).has("bias"));
  shape.biases = false;
  CHECK_FALSE(Net(shape).has("bias"));
  Net net(shape);
  CHECK(net.logits(kTokens).allFinite());
  CHECK_THROWS_WITH(
      Net(shape, "deberta:shared_projections=true"),
      "the encoding reads 'blocks.0.attention.qkv.bias', which a model without biases does not have; set "
      "model.biases to true");
}

TEST_CASE("a query sees the keys of its window and the sinks, and no others") {
  ModelShape shape = small_shape(2, true, true);
  shape.layers = 1;
  shape.window = 3;
  shape.sinks = 1;
  Net net(shape);
  check_what_is_seen(net, [](size_t t, size_t key) { return key <= t && (t - key < 3 || key < 1); });
  CHECK(net.activations.blocks[0].attention.attention[0](9, 6) == 0);
}

TEST_CASE("a query sees the keys of its segment and of the one before, and through a second layer two before") {
  constexpr size_t kSegment = 3;
  for (const bool causal : {true, false}) {
    for (const int layers : {1, 2}) {
      INFO("causal " << causal << ", layers " << layers);
      ModelShape shape = small_shape(2, causal, true);
      shape.layers = layers;
      shape.segment = kSegment;
      Net net(shape);
      check_what_is_seen(net, [&](size_t t, size_t key) {
        const size_t own = t / kSegment, of_key = key / kSegment;
        return (causal ? key <= t : of_key <= own) && own <= of_key + layers;
      });
    }
  }
}

TEST_CASE("reading a segment at a time, with the one before as memory, has the logits of the whole sequence") {
  ModelShape shape = small_shape(2, true, true);
  shape.layers = 1;
  shape.segment = 4;
  Net net(shape);
  const RowMajor whole = net.logits(kTokens);
  REQUIRE(kTokens.size() >= 10);
  const std::vector<int> last_two(kTokens.begin() + 4, kTokens.end());  // the second segment is the memory of the third
  const RowMajor part = net.logits(last_two);
  for (Index t = 4; t < part.rows(); ++t) CHECK((part.row(t) - whole.row(t + 4)).norm() < 1e-12);
}

TEST_CASE("a looped layer is as many layers with the same parameters, and testing may have more loops") {
  ModelShape deep = small_shape(2, true, true), looped = deep;
  looped.layers = 1;
  looped.loops = 2;
  Net two(deep), shared(looped);
  for (const auto& entry : two.layout.entries()) {
    std::string name = entry.name;
    if (const size_t at = name.find("blocks.1."); at == 0) name.replace(0, 9, "blocks.0.");
    for (const auto& own : shared.layout.entries()) {
      if (own.name == name) two.parameters[entry.parameter] = shared.parameters[own.parameter];
    }
  }
  CHECK((two.logits(kTokens) == shared.logits(kTokens)));
  const RowMajor twice = shared.logits(kTokens), thrice = shared.logits(kTokens, 3);
  CHECK((thrice - twice).norm() > 1e-3);
  CHECK((shared.logits(kTokens, 2) == twice));
  CHECK(shared.model.multiply_adds(10, 10, 3) > shared.model.multiply_adds(10, 10));
}

TEST_CASE("a model whose state goes from layer to layer may be trained with one loop and tested with more") {
  Net net(small_shape(2, true, true), "tape");
  const RowMajor once = net.logits(kTokens), thrice = net.logits(kTokens, 3);
  CHECK(thrice.allFinite());
  CHECK((thrice - once).norm() > 1e-3);
}

TEST_CASE("logits scaled by log n / log L are plain ones where n is L, and beyond L alone where asked") {
  ModelShape shape = small_shape(2, true, true);
  shape.layers = 1;
  shape.trained_length = 6;
  Net plain(shape);
  const RowMajor before = plain.logits(kTokens);
  shape.logit_scale = LogitScale::log_length;
  const RowMajor scaled = Net(shape).logits(kTokens);
  CHECK((scaled.row(5) - before.row(5)).norm() < 1e-12);
  CHECK((scaled.row(3) - before.row(3)).norm() > 1e-6);
  shape.logit_scale = LogitScale::log_length_beyond;
  const RowMajor beyond = Net(shape).logits(kTokens);
  CHECK((beyond.topRows(6) - before.topRows(6)).norm() < 1e-12);
  CHECK((beyond.row(9) == scaled.row(9)));
}

TEST_CASE("queries and keys that are normalized have a root mean square of one, whatever the projection") {
  ModelShape shape = small_shape(2, true, true);
  shape.qk_norm = true;
  Net net(shape);
  net.logits(kTokens);
  for (const Heads& heads : {net.activations.blocks[0].attention.q, net.activations.blocks[1].attention.k}) {
    for (const Matrix& head : heads) {
      for (Index t = 0; t < head.rows(); ++t) CHECK(head.row(t).squaredNorm() / 4 == Approx(1).epsilon(1e-2));
    }
  }
}

TEST_CASE("SwiGLU has eight thirds of the width inside, so that its parameters are about as many") {
  ModelShape shape;
  shape.width = 96;
  shape.feed_forward_kind = FeedForwardKind::swiglu;
  CHECK(shape.inner_width() == 256);
  shape.feed_forward = 100;
  CHECK(shape.inner_width() == 100);
}
