// Tests the loss and the update of one training step.
#include "model/training_step.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/optimizer.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// A small model without an encoding, and sequences with targets.
struct Setup {
  explicit Setup(double dropout = 0) {
    config.vocabulary = 6;
    config.width = 8;
    config.heads = 2;
    config.dropout = dropout;
    encoding.emplace(config);
    model.emplace(config, layout, *encoding);
    parameters = initialize(layout, 1);
  }

  /// Adds a sequence whose target positions are all its positions from `first` on.
  void add(std::vector<int> tokens, int first) {
    Sequence& s = sequences.emplace_back();
    s.tokens = std::move(tokens);
    s.training = true;
    std::vector<int>& of_sequence = targets.emplace_back();
    for (int t = first; t < static_cast<int>(s.tokens.size()); ++t) {
      s.target_positions.push_back(t);
      of_sequence.push_back((s.tokens[static_cast<size_t>(t)] + 1) % 3);
    }
    Rng rng;
    s.positions = encoding->positions(s, rng);
  }
  std::vector<LabeledSequence> batch(Index outputs = 0) const {
    std::vector<LabeledSequence> batch;
    for (size_t n = 0; n < sequences.size(); ++n) batch.push_back({sequences[n], targets[n], outputs});
    return batch;
  }
  StepResult step(const std::vector<LabeledSequence>& batch, double learning_rate = 0) {
    const auto optimizer = make_optimizer({.optimizer = {"sgd"}, .momentum = 0}, layout);
    OptimizerState state = optimizer->initial_state(layout);
    return training_step(
        {*model, *optimizer, state, parameters, workspace()}, batch,
        [](size_t n) { return make_rng(7, "dropout", n); }, 1e9, learning_rate);
  }
  TrainingWorkspace& workspace() {
    if (!memory) memory.emplace(layout);
    return *memory;
  }

  ModelConfig config;
  ParameterLayout layout;
  std::optional<PositionEncoding> encoding;
  std::optional<Transformer> model;
  Parameters parameters;
  std::vector<Sequence> sequences;
  std::vector<std::vector<int>> targets;
  std::optional<TrainingWorkspace> memory;
};

}  // namespace

TEST_CASE("the loss of a batch is a mean over target positions, not over sequences") {
  Setup setup;
  setup.add({1, 2, 0, 5, 3, 4}, 0);
  const double six = setup.step(setup.batch()).loss;
  setup.add({4, 0, 2}, 2);
  std::vector<LabeledSequence> batch = setup.batch();
  const double one = setup.step({batch[1]}).loss;
  CHECK(setup.step(batch).loss == Approx((6 * six + one) / 7));
  CHECK(std::abs(six - one) > 1e-3);
}

TEST_CASE("a step does not depend on the gradient of the step before") {
  Setup setup;
  setup.add({1, 2, 0, 5, 3, 4}, 0);
  setup.step(setup.batch());
  const Vector once = setup.workspace().gradients.flat;
  setup.step(setup.batch());
  CHECK(setup.workspace().gradients.flat == once);
}

TEST_CASE("the loss is over the answers if the outputs are limited to them") {
  Setup setup;
  setup.add({1, 2, 0, 5, 3, 4}, 0);
  setup.parameters.flat.setZero();  // all logits are equal
  CHECK(setup.step(setup.batch()).loss == Approx(std::log(6.0)));
  CHECK(setup.step(setup.batch(3)).loss == Approx(std::log(3.0)));
}

TEST_CASE("a loss that is not finite changes no parameter") {
  Setup setup;
  setup.add({1, 2, 0}, 0);
  setup.parameters.flat(0) = std::numeric_limits<Real>::quiet_NaN();  // of token 0
  const Vector before = setup.parameters.flat;
  const StepResult result = setup.step(setup.batch(), 0.1);
  CHECK_FALSE(result.finite);
  CHECK(setup.parameters.flat.tail(before.size() - 1) == before.tail(before.size() - 1));
}

TEST_CASE("every sublayer draws a dropout mask of its own") {
  Setup setup(0.5);
  setup.add({1, 2, 0, 5, 3, 4}, 0);
  setup.step(setup.batch());
  const SequenceWorkspace& a = setup.workspace().activations;
  const std::vector<const Matrix*> masks{&a.embedding_mask, &a.blocks[0].attention_mask,
                                         &a.blocks[0].feed_forward_mask, &a.blocks[1].attention_mask,
                                         &a.blocks[1].feed_forward_mask};
  for (size_t m = 0; m < masks.size(); ++m) {
    REQUIRE(masks[m]->size() == 6 * 8);
    for (size_t other = 0; other < m; ++other) CHECK(EigenMatrix(*masks[m]) != EigenMatrix(*masks[other]));
  }
}
