// Tests that a query gives no attention to the keys that a window or a bias hides, however low its visible keys
// score.
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "model/hidden.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"

using namespace posbench;

namespace {

ModelConfig windowed(bool causal, int window) {
  ModelConfig config = small_config(2, causal, true);
  config.window = window;
  return config;
}

/// A model with one sequence whose parameters are `factor` times as large.
struct ScaledModel : Fixture {
  ScaledModel(const Spec& spec, const ModelConfig& config, int length, Real factor)
      : Fixture([&](const ModelConfig& c, ParameterLayout& l) { return make_encoding(spec, c, l); },
                fitted(spec, config), length, /*seed=*/3) {
    parameters.flat *= factor;
    encoding->constrain(parameters);
    forward();
  }
  const AttentionActivations& first_layer() const { return workspace.activations.blocks[0].attention; }
};

/// Returns the number of rows of attention whose visible keys have finite scores. Checks that these rows have
/// finite weights, and that hidden keys have the weight 0 there.
int check_weights(const ScaledModel& m, bool causal, int window) {
  int rows = 0;
  for (size_t h = 0; h < m.first_layer().attention.size(); ++h) {
    const Matrix &scores = m.first_layer().scores[h], &weights = m.first_layer().attention[h];
    const Index T = scores.rows();
    for (Index i = 0; i < T; ++i) {
      bool finite_scores = true, finite_weights = true, hidden_are_zero = true;
      for (Index j = 0; j < (causal ? i + 1 : T); ++j) {
        finite_weights = finite_weights && std::isfinite(weights(i, j));
        if (std::abs(i - j) >= window) {
          hidden_are_zero = hidden_are_zero && weights(i, j) == 0;
        } else {
          finite_scores = finite_scores && (std::isfinite(scores(i, j)) || (i != j && is_hidden(scores(i, j))));
        }
      }
      if (!finite_scores) continue;
      ++rows;
      INFO("head " << h << ", query " << i);
      REQUIRE(finite_weights);
      REQUIRE(hidden_are_zero);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a window hides keys from all attention of an encoding whose visible keys score below -1e9") {
  const ScaledModel m(Spec::parse("bam:shape=-4"), windowed(/*causal=*/true, /*window=*/1), 6, 1);
  for (const Matrix& weights : m.first_layer().attention) {
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j <= i; ++j) CHECK(weights(i, j) == (i == j ? 1 : 0));
    }
  }
}

TEST_CASE("hidden keys have no weight in any encoding, also if all parameters are a thousand times as large") {
  in_each_model([](const std::string& text, bool causal) {
    const Spec spec = Spec::parse(text);
    for (const int window : {1, 3}) {
      for (const Real factor : {1, 30, 1000}) {
        INFO("window " << window << ", factor " << factor);
        const ScaledModel m(spec, windowed(causal, window), 9, factor);
        const int rows = check_weights(m, causal, window);
        if (factor < 1000) CHECK(rows > 0);
      }
    }
  });
}

TEST_CASE("a change of a hidden token does not change the output of a layer") {
  in_each_model([](const std::string& text, bool causal) {
    const Spec spec = Spec::parse(text);
    if (spec.name == "deltaformer") return;  // a visible value depends on the values of all earlier tokens
    for (const Real factor : {1, 30}) {
      INFO("factor " << factor);
      ScaledModel m(spec, windowed(causal, 3), 12, factor);
      const Heads before = m.first_layer().head_outputs;
      m.sequence.tokens[0] = (m.sequence.tokens[0] + 1) % kCertificateVocabulary;
      m.forward();
      for (size_t h = 0; h < before.size(); ++h) {
        const Matrix& after = m.first_layer().head_outputs[h];
        if (!before[h].bottomRows(4).allFinite()) continue;
        CHECK((after - before[h]).bottomRows(4).norm() <= 1e-9 * before[h].bottomRows(4).norm());
      }
    }
  });
}

TEST_CASE("every gradient agrees with finite differences in a window") {
  in_each_model([](const std::string& text, bool causal) {
    const Spec spec = Spec::parse(text);
    const Worst worst = gradient_error(spec, windowed(causal, 2), 8);
    INFO(worst.where);
    CHECK(worst.error <= 1e-6);
  });
}
