#include "model/transformer.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Returns the logits (A, V) at the target positions and the gradient of their weighted sum.
std::pair<EigenMatrix, Vector> logits_and_gradient(const ModelConfig& config, const std::vector<int>& targets) {
  const PositionEncoding encoding(config);
  ParameterLayout layout;
  const Transformer model(config, layout, encoding);
  const Parameters parameters = initialize(layout, 0);
  Gradients gradients(layout);
  Rng rng = make_rng(0, "transformer");
  Sequence s;
  s.tokens = {3, 1, 4, 1, 0, 2, 5, 3, 5};
  s.positions = encoding.positions(s, rng);
  s.target_positions = targets;
  StepCache step;
  SequenceWorkspace a;
  model.prepare(parameters, s, step, &gradients);
  model.forward(parameters, s, step, nullptr, a);
  Matrix d_logits(a.logits.rows(), a.logits.cols());
  d_logits.setZero();
  for (size_t n = 0; n < targets.size(); ++n) {
    if (targets[n] == 2 || targets[n] == 7) {
      for (Index v = 0; v < config.vocabulary; ++v) d_logits(static_cast<Index>(n), v) = targets[n] - 3.0 * v * v;
    }
  }
  model.backward(parameters, s, step, a, d_logits, gradients);
  model.finish(parameters, step, &gradients);
  return {a.logits, gradients.flat};
}

}  // namespace

TEST_CASE("the logits at a position, and their gradient, do not depend on the other target positions") {
  const std::string block = GENERATE(from_range(blocks().names()));
  for (const bool causal : {true, false}) {
    if (!causal && blocks().find(block).is_recurrent()) continue;
    for (const bool pre_norm : {true, false}) {
      INFO((causal ? "causal" : "bidirectional")
           << (pre_norm ? ", pre-norm" : ", post-norm") << ", block " << block);
      const ModelConfig config{
          {.layers = 3, .width = 8, .heads = 2, .causal = causal, .pre_norm = pre_norm, .block = {block}},
          /*vocabulary=*/6};
      const auto [all, d_all] = logits_and_gradient(config, {0, 1, 2, 3, 4, 5, 6, 7, 8});
      const auto [two, d_two] = logits_and_gradient(config, {2, 7});
      CHECK(two.row(0) == all.row(2));
      CHECK(two.row(1) == all.row(7));
      CHECK(d_two.norm() > 1);
      CHECK((d_two - d_all).cwiseAbs().maxCoeff() < 1e-12 * d_all.norm());
    }
  }
}

TEST_CASE("a parallel block adds attention and feed-forward of the same input to the residual stream") {
  const ModelConfig config{{.layers = 1, .width = 4, .heads = 1, .block = {"parallel"}}, /*vocabulary=*/5};
  const PositionEncoding encoding(config);
  ParameterLayout layout;
  const Transformer model(config, layout, encoding);
  Parameters p = initialize(layout, 0);
  const auto parameter = [&](const std::string& name) { return p[layout.at(name)]; };
  Rng rng;
  Sequence s;
  s.tokens = {3};  // attends to itself alone, so that attention is v
  s.target_positions = {0};
  s.positions = encoding.positions(s, rng);
  StepCache step;
  SequenceWorkspace a;
  model.prepare(p, s, step, nullptr);
  model.forward(p, s, step, nullptr, a);

  const EigenMatrix x = parameter("embedding.weight").row(3);
  const auto norm = [](const EigenMatrix& row) {
    const double mean = row.mean(), variance = (row.array() - mean).square().mean();
    return EigenMatrix((row.array() - mean) / std::sqrt(variance + 1e-5));
  };
  const EigenMatrix n = norm(x);
  const EigenMatrix v = n * parameter("blocks.0.attention.qkv.weight").rightCols(4);
  EigenMatrix up = n * parameter("blocks.0.feed_forward.up.weight");
  for (Real& u : up.reshaped())
    u = u / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (u + 0.044715 * u * u * u)));
  const EigenMatrix y =
      x + v * parameter("blocks.0.attention.out.weight") + up * parameter("blocks.0.feed_forward.down.weight");
  const EigenMatrix logits = norm(y) * parameter("output.weight");
  CHECK((logits - a.logits).cwiseAbs().maxCoeff() < 1e-12);
}
