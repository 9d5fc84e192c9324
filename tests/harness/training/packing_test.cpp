// Tests sequences with several samples: their tokens, their positions, and the runs that train on them.
#include "harness/training/packing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/training/make_model.h"
#include "harness/training/run_experiment.h"
#include "harness/training/task_setup.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

constexpr int kPack = 3;

TaskSetup packed_setup(bool mask, bool restart, const std::string& task = "flip_flop:length=6..12") {
  ExperimentOptions options;
  options.model.layers = 2;
  options.model.width = 16;
  options.model.heads = 2;
  options.training.batch = 2 * kPack;
  options.training.packing = {.samples = kPack, .mask = mask, .restart = restart};
  return make_task_setup(options, task);
}

/// Returns the samples 0 to 5 of the split `packed`, in this order, or those of training.
std::vector<PreparedSample> draw(const TaskSetup& setup, const PositionEncoding& encoding, StreamId id) {
  const bool training = id.purpose == Purpose::train;
  std::vector<PreparedSample> batch = draw_batch(setup.stream(id), encoding, training, 0, 2 * kPack);
  std::ranges::sort(batch, {}, &PreparedSample::index);
  return batch;
}

Matrix logits(const Model& model, const Parameters& parameters, const Sequence& sequence) {
  StepCache step;
  SequenceWorkspace workspace;
  model.transformer->prepare(parameters, sequence, step, nullptr);
  model.transformer->forward(parameters, sequence, step, nullptr, workspace);
  return workspace.logits;
}

ExperimentResult run(const std::string& encoding, const Settings& settings) {
  ExperimentOptions options;
  for (const auto& [name, value] : Settings{{"model.width", "16"},
                                            {"training.steps", "12"},
                                            {"training.batch", "8"},
                                            {"training.validate_every", "6"},
                                            {"training.validation_sequences", "8"},
                                            {"evaluation.sequences", "16"}})
    options.set(name, value);
  for (const auto& [name, value] : settings) options.set(name, value);
  const TaskSetup setup = make_task_setup(options, "flip_flop:length=6..12");
  return run_experiment({.task = &setup, .encoding = Spec::parse(encoding)})->front();
}

ExperimentResult run_packed(const std::string& encoding, const std::string& mask, const std::string& restart) {
  return run(encoding, {{"training.pack", "2"}, {"training.pack_mask", mask}, {"training.pack_restart", restart}});
}

}  // namespace

TEST_CASE("with a mask and positions that restart, every encoding gives a packed sample the logits of it alone") {
  const TaskSetup setup = packed_setup(/*mask=*/true, /*restart=*/true);
  for (const std::string& text : all_specs()) {
    INFO(text);
    const Spec spec = Spec::parse(text);
    ModelConfig config = setup.model_config;
    config.longest = config.trained_length;
    const EncodingInfo& info = encodings().find(spec.name).info;
    config.layers = std::max(config.layers, info.min_layers);
    config.heads *= info.heads_multiple_of;
    config.width *= info.heads_multiple_of;
    const Model model = make_model(spec, config);
    const Parameters parameters = initialize(model.layout, 1);
    const std::vector<PreparedSample> packed = draw(setup, *model.encoding, {Purpose::test, "packed"}),
                                      alone = draw(setup, *model.encoding, {Purpose::test});
    for (size_t n = 0; n < alone.size(); ++n)
      CHECK(logits(model, parameters, packed[n].sequence) == logits(model, parameters, alone[n].sequence));
  }
}

TEST_CASE("without a mask a sequence has the tokens of its samples, and a test scores one of them") {
  const TaskSetup setup = packed_setup(/*mask=*/false, /*restart=*/false);
  const PositionEncoding plain(setup.model_config);
  const std::vector<PreparedSample> alone = draw(setup, plain, {Purpose::test}),
                                    packed = draw(setup, plain, {Purpose::test, "packed"});
  std::vector<int> tokens;
  for (int n = 0; n < kPack; ++n) {
    const PreparedSample& own = alone[static_cast<size_t>(n)];
    const PreparedSample& all = packed[static_cast<size_t>(n)];
    for (size_t m = 0; m < own.targets.size(); ++m) {
      CHECK(all.targets[m] == own.targets[m]);
      CHECK(all.sequence.target_positions[m] ==
            own.sequence.target_positions[m] + static_cast<int>(tokens.size()));
    }
    tokens.insert(tokens.end(), own.sequence.tokens.begin(), own.sequence.tokens.end());
  }
  CHECK(packed[0].sequence.tokens == tokens);
  CHECK(packed[2].sequence.tokens == tokens);
  CHECK(packed[0].sequence.positions.at.back() == static_cast<Real>(tokens.size() - 1));
  CHECK(setup.model_config.trained_length == kPack * packed_setup(true, true).model_config.trained_length);
}

TEST_CASE("training has all targets of all samples, and no sample twice") {
  const TaskSetup setup = packed_setup(/*mask=*/false, /*restart=*/true), apart = packed_setup(true, true);
  const PositionEncoding plain(setup.model_config);
  const std::vector<PreparedSample> packed = draw(setup, plain, {Purpose::train}),
                                    alone = draw(apart, plain, {Purpose::train});
  REQUIRE(packed.size() == 2);
  REQUIRE(alone.size() == 2 * kPack);
  for (size_t n = 0; n < packed.size(); ++n) {
    std::vector<int> targets;
    std::vector<Real> positions;
    for (size_t m = n * kPack; m < (n + 1) * kPack; ++m) {
      targets.insert(targets.end(), alone[m].targets.begin(), alone[m].targets.end());
      const std::vector<Real>& at = alone[m].sequence.positions.at;
      positions.insert(positions.end(), at.begin(), at.end());
    }
    CHECK(packed[n].targets == targets);
    CHECK(packed[n].sequence.positions.at == positions);
  }
}

TEST_CASE("the first sample of a sequence without a mask has the logits of it alone") {
  for (const bool restart : {false, true}) {
    const TaskSetup setup = packed_setup(/*mask=*/false, restart);
    for (const std::string encoding : {"none", "rope", "learned_abs", "sinusoidal", "xpos"}) {
      INFO(encoding);
      const Model model = make_model(Spec{encoding, {}}, setup.model_config);
      const Parameters parameters = initialize(model.layout, 1);
      const PreparedSample packed = draw(setup, *model.encoding, {Purpose::test, "packed"})[0],
                           last = draw(setup, *model.encoding, {Purpose::test, "packed"})[2],
                           alone = draw(setup, *model.encoding, {Purpose::test})[0],
                           last_alone = draw(setup, *model.encoding, {Purpose::test})[2];
      // The middle of its sequence, from which the decay of xpos counts, is another one.
      if (encoding != "xpos")
        CHECK(logits(model, parameters, packed.sequence) == logits(model, parameters, alone.sequence));
      CHECK(logits(model, parameters, last.sequence) != logits(model, parameters, last_alone.sequence));
    }
  }
}

TEST_CASE("with a mask and without a restart, a sample has the positions that it has in its sequence") {
  const TaskSetup setup = packed_setup(/*mask=*/true, /*restart=*/false);
  for (const std::string encoding : {"rope", "learned_abs", "interpolated:method=ntk_dynamic", "bipe_rope"}) {
    INFO(encoding);
    const Model model = make_model(Spec::parse(encoding), setup.model_config);
    const std::vector<PreparedSample> packed = draw(setup, *model.encoding, {Purpose::test, "packed"});
    const Positions& first = packed[0].sequence.positions;
    const Positions& second = packed[1].sequence.positions;
    CHECK(second.at.size() == packed[1].sequence.tokens.size());
    CHECK(second.at.front() > first.at.back());
    const auto total = static_cast<int>(first.at.size() + second.at.size() + packed[2].sequence.tokens.size());
    if (first.depends_on_length) CHECK(second.lengths == std::vector<int>(second.at.size(), total));
  }
}

TEST_CASE("a run on masked samples that restart has the bytes of a run without packing") {
  const ExperimentResult packed = run_packed("rope", "true", "true"), plain = run("rope", {});
  REQUIRE(packed.status == Status::ok);
  CHECK(packed.final_loss == plain.final_loss);
  CHECK(packed.splits.front() == plain.splits.front());
  SplitResult split = packed.splits.back();
  CHECK(split.name == "packed");
  CHECK(split.kind == SplitKind::shifted);
  split.name = "in_distribution", split.kind = SplitKind::in_distribution;
  CHECK(split == plain.splits.front());
}

TEST_CASE("a run without a mask trains on other sequences, with and without a restart") {
  const ExperimentResult restarted = run_packed("rope", "false", "true"),
                         joined = run_packed("rope", "false", "false"), plain = run("rope", {});
  REQUIRE(restarted.status == Status::ok);
  REQUIRE(joined.status == Status::ok);
  CHECK(restarted.final_loss != plain.final_loss);
  CHECK(restarted.final_loss != joined.final_loss);
  CHECK(joined.splits.back().loss != joined.splits.front().loss);
}

TEST_CASE("a packing that does not fit the settings or the encoding is refused") {
  CHECK(
      settings_refusal("rope", {{"training.pack_mask", "true"}}) ==
      "training.pack_mask is true, and training.pack is 1, one sample for each sequence; set training.pack to 2 or "
      "more, or leave it out");
  CHECK_THAT(settings_refusal("rope", {{"training.pack", "7"}, {"training.batch", "8"}}),
             ContainsSubstring("training.batch is 8 samples, not a multiple of training.pack 7"));
  const auto restart = [](const std::string& encoding) {
    return settings_refusal(encoding,
                            {{"training.pack", "2"}, {"training.batch", "8"}, {"training.pack_restart", "true"}});
  };
  CHECK(restart("rope").empty());
  CHECK(restart("none").empty());
  CHECK_THAT(restart("alibi"), ContainsSubstring("encoding 'alibi' reads the order of keys"));
  CHECK_THAT(restart("cope"), ContainsSubstring("encoding 'cope' computes positions from the tokens"));
  CHECK_THAT(restart("selective_rope"), ContainsSubstring("computes positions from the tokens"));
  CHECK_THAT(restart("sum:of=(rope,alibi)"), ContainsSubstring("reads the order of keys"));
  CHECK_THAT(settings_refusal("none", {{"training.pack", "2"},
                                       {"training.batch", "8"},
                                       {"training.pack_restart", "true"},
                                       {"model.block", "lstm"}}),
             ContainsSubstring("model.block=lstm has a state instead of positions"));
  CHECK_THAT(
      settings_refusal(
          "rope",
          {{"training.pack", "2"}, {"training.batch", "8"}, {"training.pack_mask", "true"}, {"model.chunk", "4"}}),
      ContainsSubstring("count tokens from the start of a sample"));
}
