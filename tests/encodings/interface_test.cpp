// Tests the interface between the transformer and encodings.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "harness/check/double_precision/certificate.h"
#include "harness/check/double_precision/fixture.h"
#include "model/attention.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"

using namespace posbench;

namespace {

/// Scales the scores of each head. Its parameter has a row for one layer only, but the encoding reads a row for
/// each layer.
class ReadsPastParameter final : public PositionEncoding {
 public:
  ReadsPastParameter(const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), scale_(layout.constant("scale", 1, config.heads, 1)) {}

  void score(const AttentionInput& in, Heads& scores) const override {
    PositionEncoding::score(in, scores);
    for (Index h = 0; h < config_.heads; ++h) scores[h] *= in.parameters[scale_](in.layer, h);
  }
  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    Heads scores = d_scores, d_scaled = d_scores;
    PositionEncoding::score(in, scores);
    for (Index h = 0; h < config_.heads; ++h) {
      Real sum = 0;
      for (Index i = 0; i < in.length(); ++i) {
        const Index keys = num_visible_keys(i, in.length(), config_.causal);
        sum += d_scores[h].row(i).head(keys).dot(scores[h].row(i).head(keys));
      }
      d.parameters[scale_](in.layer, h) += sum;
      d_scaled[h] *= in.parameters[scale_](in.layer, h);
    }
    PositionEncoding::score_backward(in, d_scaled, d);
  }

 private:
  Parameter scale_;  // (1, H)
};

}  // namespace

TEST_CASE(
    "each learned parameter of every encoding has a gradient, since the model calls every stage in every layer") {
  for (const std::string& text : all_specs()) {
    if (text == "darope:length=1000") continue;  // all pairs of so small a head are fast
    CAPTURE(text);
    const Spec spec = Spec::parse(text);
    Fixture m([&](const ModelConfig& c, ParameterLayout& l) { return make_encoding(spec, c, l); },
              fitted(spec, small_config(4, true, true)), 11, /*seed=*/3);
    m.forward();
    m.backward(std::vector<int>(m.sequence.target_positions.size(), 1));
    for (size_t n = 0; n < m.encoding_entries; ++n) {
      const auto& entry = m.layout.entries()[n];
      CAPTURE(entry.name);
      CHECK(m.workspace.gradients[entry.parameter].norm() > 0);
    }
  }
}

TEST_CASE("an encoding that reads past its parameter fails its certificate with the stage and the condition") {
  const Worst worst =
      gradient_error([](const ModelConfig& config,
                        ParameterLayout& layout) { return std::make_unique<ReadsPastParameter>(config, layout); },
                     small_config(2, true, true), 7);
  CHECK(std::isinf(worst.error));
  CHECK(worst.where.starts_with("score: an index outside a matrix"));
  CHECK(worst.where.find("row < rows()") != std::string::npos);
}
