#include "harness/runs/checkpoint.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "harness/runs/loss_trace.h"
#include "harness/runs/suite.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

RunConfig small_config() {
  RunConfig config =
      make_config({.profile = "smoke", .tasks = "flip_flop", .encodings = "cope,rope", .seeds = "2"});
  config.model.dropout = 0.1;
  config.training.weight_decay = 0.01;
  config.training.validate_splits = true;
  return config;
}

/// Trains until `rate` learning rates are finished and the next one has done `step` steps.
void train_until(const Model& model, const Experiment& e, LearningRateSweep& sweep, size_t rates, int step) {
  sweep_learning_rates(model, e.task->training_streams(Purpose::train, e.seed), e.task->options.training, sweep,
                       [&](const LearningRateSweep& s) { return s.tried.size() < rates || s.state.step < step; });
}

}  // namespace

TEST_CASE("training resumed from a checkpoint equals uninterrupted training") {
  const size_t rate = GENERATE(0u, 1u, 2u);  // the index of the current learning rate
  const bool at_its_end = GENERATE(false, true);
  const TemporaryDirectory directory;
  RunConfig config = small_config();
  config.training.learning_rates = {1e-4, 1e-3, 1e-2};
  config.training.optimizer.name = GENERATE(from_range(optimizers().names()));
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->model_config);
  const int steps = e.task->options.training.steps,
            step = at_its_end ? steps : steps / 2 + 3;  // between two validations
  LearningRateSweep whole(model, e.task->options.training, e.seed), part = whole;
  train_until(model, e, whole, 3, 0);
  std::optional<LearningRateSweep> kept;
  const auto keep = [&](const LearningRateSweep& s) {
    if (s.tried.size() < rate || s.state.step < step) return true;
    kept = s;
    write_checkpoint(directory / "c.safetensors", e, model, s, 12.5);
    return false;
  };
  sweep_learning_rates(model, e.task->training_streams(Purpose::train, e.seed), e.task->options.training, part,
                       keep);
  REQUIRE(kept);

  LearningRateSweep again(model, e.task->options.training, e.seed);
  CHECK(read_checkpoint(directory / "c.safetensors", e, model, again) == 12.5);
  CHECK(again.state.step == step);
  CHECK(again.state.learning_rate == config.training.learning_rates[rate]);
  CHECK(again.state.loss_sum == kept->state.loss_sum);
  CHECK(again.tried == kept->tried);
  train_until(model, e, again, 3, 0);
  CHECK(again.tried == whole.tried);
  CHECK(again.best->learning_rate == whole.best->learning_rate);
  CHECK(again.best->parameters.flat == whole.best->parameters.flat);
  CHECK(again.best->curve == whole.best->curve);
}

TEST_CASE("training resumed from a checkpoint ends at the step to which it has been extended") {
  const TemporaryDirectory directory;
  RunConfig config = small_config();
  config.training.extend_while_gaining = 2;
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->model_config);
  LearningRateSweep sweep(model, e.training(), e.seed), again = sweep;
  sweep.state.end *= 2;
  write_checkpoint(directory / "c.safetensors", e, model, sweep, 1);
  read_checkpoint(directory / "c.safetensors", e, model, again);
  CHECK(again.state.end == 2 * e.training().steps);
}

TEST_CASE("a checkpoint is refused if the losses up to its step have changed") {
  const TemporaryDirectory directory;
  const auto path = directory / "c.safetensors", losses = directory / "losses.csv";
  const Suite suite = make_suite(small_config());
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->model_config);
  LearningRateSweep sweep(model, e.task->options.training, e.seed);
  start_trace(losses, sweep);
  sweep_learning_rates(model, e.task->training_streams(Purpose::train, e.seed), e.task->options.training, sweep,
                       [&](const LearningRateSweep& s) {
                         add_to_trace(losses, s);
                         return s.state.step < 5;
                       });
  write_checkpoint(path, e, model, sweep, 1, losses);
  const auto message = [&]() -> std::string {
    LearningRateSweep fresh(model, e.task->options.training, e.seed);
    try {
      read_checkpoint(path, e, model, fresh, losses);
    } catch (const InputError& error) {
      CHECK(fresh.state.step == 0);
      return error.what();
    }
    CHECK(fresh.state.step == 5);
    return "accepted";
  };
  const std::string text = read_whole(losses);
  directory.write("losses.csv", text + "0.001,6,2.5\n");  // a step after the checkpoint
  CHECK(message() == "accepted");
  std::string changed = text;
  changed[text.size() - 2] ^= 1;
  for (const std::string& wrong : {changed, text.substr(0, text.size() - 5), std::string()}) {
    directory.write("losses.csv", wrong);
    CHECK(message().starts_with(losses.string() + ": its checksum is "));
  }
  std::filesystem::remove(losses);
  CHECK(message().starts_with(losses.string() + ": it is missing, expected "));
}

TEST_CASE("training resumed from a checkpoint stops early at the step of uninterrupted training") {
  const TemporaryDirectory directory;
  const auto path = directory / "c.safetensors";
  RunConfig config = make_config({.profile = "smoke", .tasks = "even_pairs:length=1", .encodings = "none"});
  config.training.steps = 200;  // the answer is always 0
  config.training.learning_rates = {0.01};
  config.training.validate_every = 2;
  config.training.early_stop = 3;
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->model_config);
  const TrainingOptions& options = e.task->options.training;
  const TrainingStreams streams = e.task->training_streams(Purpose::train, e.seed);
  LearningRateSweep whole(model, options, e.seed);
  sweep_learning_rates(model, streams, options, whole);
  REQUIRE(whole.best->stopped_early);
  for (int step = 2; step <= whole.best->step; step += 2) {
    CAPTURE(step);
    LearningRateSweep part(model, options, e.seed), again = part;
    sweep_learning_rates(model, streams, options, part, [&](const LearningRateSweep& s) {
      if (s.state.step == step) write_checkpoint(path, e, model, s, 1);
      return s.state.step < step;
    });
    read_checkpoint(path, e, model, again);
    sweep_learning_rates(model, streams, options, again);
    CHECK(again.best->stopped_early);
    CHECK(again.best->step == whole.best->step);
    CHECK(again.best->curve == whole.best->curve);
  }
}

TEST_CASE(
    "a checkpoint of another experiment or configuration, or a damaged one, is refused and changes nothing") {
  const TemporaryDirectory directory;
  const auto path = directory / "c.safetensors";
  const Suite suite = make_suite(small_config());
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->model_config);
  LearningRateSweep sweep(model, e.task->options.training, e.seed);
  train_until(model, e, sweep, 0, 5);
  write_checkpoint(path, e, model, sweep, 1);
  const auto message = [&](const Experiment& other) -> std::string {
    const Model its_model = make_model(other.encoding, other.task->model_config);
    LearningRateSweep fresh(its_model, other.task->options.training, other.seed);
    try {
      read_checkpoint(path, other, its_model, fresh);
    } catch (const std::runtime_error& error) {
      CHECK(fresh.state.step == 0);
      CHECK(fresh.state.curve.empty());
      const std::string text = error.what();
      CHECK(text.find('\n') == text.npos);
      CHECK(text.starts_with(path.string() + ": "));
      return text.substr(path.string().size() + 2);
    }
    return "accepted";
  };
  CHECK(message(suite.experiments[0]) == "accepted");
  CHECK(message(suite.experiments[1]) == "__metadata__.seed is \"0\", expected \"1\"");
  CHECK(message(suite.experiments[2]) == "__metadata__.encoding is \"cope\", expected \"rope\"");
  RunConfig other = small_config();
  other.training.learning_rates = {0.5};
  const Suite other_suite = make_suite(other);
  CHECK(message(other_suite.experiments[0]).starts_with("__metadata__.config is "));

  const std::string bytes = read_whole(path);
  for (const double fraction : {0.0, 0.3, 0.6, 0.99}) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(bytes.size()) * fraction));
    CHECK(message(e).find("truncated") != std::string::npos);
    directory.write("c.safetensors", bytes);
  }
  std::string flipped = bytes;
  flipped[bytes.size() - 100] ^= 1;
  directory.write("c.safetensors", flipped);
  CHECK(message(e).ends_with("it is damaged"));
}
