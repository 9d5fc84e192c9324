// Tests sums of encodings, and encodings that are divided over layers or heads.
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/check/certify.h"
#include "harness/check/double_precision/certificate.h"
#include "model/attention_layer.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// One attention layer with random values. Parameters of two encodings are equal if their names end in the same
/// part.
struct Layer {
  Layer(const std::string& spec, const ModelConfig& config, int layer) {
    encoding = make_encoding(Spec::parse(spec), config, layout);
    parameters = Parameters(layout);
    for (const auto& entry : layout.entries()) {
      Rng rng = make_rng(1, entry.name.substr(entry.name.rfind('.', entry.name.size() - 3) + 1));
      fill_normal(rng, 1, parameters[entry.parameter]);
    }
    Rng rng = make_rng(2, "combination");
    constexpr int T = 9;
    sequence.tokens = uniform_tokens(rng, T, 0, 6);
    sequence.segments = {0, 0, 0, 1, 1, 1, 2, 2, 2};
    sequence.digit_positions = {0, 1, 2, 3, 0, 1, 2, 0, 1};
    sequence.positions = encoding->positions(sequence, rng);
    encoding->tables(parameters, sequence.positions, tables);
    Rng values = make_rng(3, "combination");
    x.resize(T, config.width);
    fill_normal(values, 1, x);
    for (Heads* heads : {&q, &k, &v}) {
      resize(*heads, config.heads, T, config.head_width());
      for (Matrix& head : *heads) fill_normal(values, 1, head);
    }
    embedded = x;
    encoding->embed(sequence, parameters, tables, embedded, state);
    resize(scores, config.heads, T, T);
    resize(attention, config.heads, T, T);
    resize(output, config.heads, T, config.head_width());
    const AttentionInput in{sequence, parameters, tables, state, layer, x, q, k, v, scratch};
    attend(*encoding, in, scores, attention, output);
  }

  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Parameters parameters;
  Sequence sequence;
  Tables tables;
  Matrices state;
  Matrix x, embedded;
  Heads q, k, v, scores, attention, output;
  Scratch scratch;
};

double relative_distance(const Matrix& a, const Matrix& b) { return (a - b).norm() / (1 + b.norm()); }

}  // namespace

TEST_CASE("nested combinations of up to three encodings with options have correct gradients") {
  const auto [text, layers] = GENERATE(table<std::string, int>({
      {"sum:of=(cope,rope,(alibi:learned=true))", 2},
      {"sum:of=(tape,mapformer_em)", 3},
      {"sum:of=(abacus,fire)", 2},
      {"layers:of=((sum:of=(cope,rope)),none)", 2},
      {"sum:of=((heads:of=(cope,none)),learned_abs)", 2},
      {"sum:of=((sum:of=(cope,rope)),cope)", 2},
      {"layers:of=(rope,none),every=4", 4},
      {"layers:of=(cope,(heads:of=(t5_bias,stick_breaking))),every=3", 4},
      {"heads:of=(cope,cope)", 2},
      {"heads:of=((layers:of=(shaw_kv,fox)),(dape:base=kerple_log))", 2},
      {"ssmax:base=(sum:of=(rope,kerple_log))", 2},
  }));
  for (const bool causal : {true, false}) {
    const Spec spec = Spec::parse(text);
    ModelConfig config = small_config(4, causal, causal);
    config.layers = layers;
    Worst worst;
    try {
      worst = gradient_error(spec, config, 11);
    } catch (const InputError&) {  // A member is causal only.
      CHECK_FALSE(causal);
      continue;
    }
    INFO(text << ": " << worst.where);
    CHECK(worst.error <= 1e-6);
  }
}

TEST_CASE("pairs of encodings have correct gradients in every composition, or are refused with a message") {
  const std::vector<std::string> selected{"none",           "learned_abs", "rope",  "t5_bias", "shaw_kv",
                                          "stick_breaking", "cope",        "fox",   "dape",    "tape",
                                          "randomized",     "deberta",     "heads", "path",    "selective_rope"};
  // The number of pairs that a model accepts.
  const auto [composition, expected] =
      GENERATE(table<std::string, int>({{"sum", 117}, {"layers", 78}, {"heads", 78}}));
  int accepted = 0;
  for (size_t a = 0; a < selected.size(); ++a) {
    for (size_t b = a; b < selected.size(); ++b) {
      const Spec spec{composition, {{"of", selected[a] + "," + selected[b]}}};
      INFO(spec.text());
      try {
        const Worst worst = gradient_error(spec, small_config(4, true, true), 7);
        INFO(worst.where);
        CHECK(worst.error <= 1e-6);
        ++accepted;
      } catch (const InputError& error) {
        CHECK(std::string(error.what()).starts_with("encoding '" + composition + "': "));
      }
    }
  }
  CHECK(accepted == expected);
}

TEST_CASE("the sum of an encoding and 'none' equals the encoding in all stages") {
  for (const std::string spec : {"rope", "cope", "stick_breaking", "shaw_kv", "learned_abs", "tape"}) {
    const ModelConfig config = small_config(2, true, true);
    const Layer alone(spec, config, 1), with_none("sum:of=(none," + spec + ")", config, 1);
    INFO(spec);
    CHECK(relative_distance(with_none.embedded, alone.embedded) < 1e-12);
    for (size_t h = 0; h < alone.scores.size(); ++h) {
      CHECK(relative_distance(with_none.attention[h], alone.attention[h]) < 1e-12);
      CHECK(relative_distance(with_none.output[h], alone.output[h]) < 1e-12);
    }
  }
}

TEST_CASE("each member of a sum reads its own positions") {
  // Only abacus reads digit positions. RoPE turns by the distance of tokens.
  const ModelConfig config = small_config(2, true, true);
  const Layer rope("rope", config, 0), both("sum:of=(abacus,rope)", config, 0);
  for (size_t h = 0; h < rope.scores.size(); ++h)
    CHECK(relative_distance(both.attention[h], rope.attention[h]) < 1e-12);
  CHECK(relative_distance(both.embedded, both.x) > 0.1);
}

TEST_CASE("a member of a pattern of layers has parameters for its layers only") {
  ModelConfig config = small_config(2, true, true);
  config.layers = 8;
  ParameterLayout layout;
  make_encoding(Spec::parse("layers:of=(shaw_k,cope),every=4"), config, layout);
  size_t keys = 0;
  for (const auto& entry : layout.entries()) keys += entry.name.find("shaw_k.keys") != std::string::npos;
  CHECK(keys == 6);
}

TEST_CASE("heads are divided into equal groups") {
  const ModelConfig config = small_config(4, true, true);
  const Layer plain("none", config, 0), divided("heads:of=(none,stick_breaking)", config, 0);
  CHECK((divided.attention[0] == plain.attention[0]));
  CHECK((divided.attention[1] == plain.attention[1]));
  CHECK(relative_distance(divided.attention[2], plain.attention[2]) > 0.01);
}

TEST_CASE("the certificate counts models with options of blocks, and refused options") {
  const ModelsCertificate blocks = certify_blocks(Spec{"rope", {}});
  CHECK(blocks.certificates == 2 * std::ssize(block_options()));
  CHECK(blocks.passed());
  CHECK(certify_blocks(Spec{"tape", {}}).passed());  // its state continues from loop to loop
  CHECK(certify_blocks(Spec{"tapa", {}}).passed());  // its scores have the largest curvature
  const Spec shared = Spec::parse("deberta:shared_projections=true");
  CHECK(certify_blocks(shared).refused == 2);  // biases=false, and all options
}
