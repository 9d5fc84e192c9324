#include "harness/checkpoint.h"

#include "harness/suite.h"
#include "tests/catch.h"
#include "tests/harness/temporary.h"

using namespace posbench;

namespace {

Config small_config() {
  Config config = make_config({.profile = "smoke", .tasks = "flip_flop", .encodings = "cope,rope", .seeds = "2"});
  config.model.dropout = 0.1;
  config.training.weight_decay = 0.01;
  return config;
}

/// Trains until the state says so.
void train_until(const Model& model, const Experiment& e, TrainingState& state, int step) {
  train(model, e.task->trained(), e.task->config.training, e.seed, state,
        [&](const TrainingState& s) { return s.step < step; });
}

}  // namespace

TEST_CASE("training goes on from a checkpoint as if it had not been interrupted") {
  const TemporaryDirectory directory;
  const Suite suite = make_suite(small_config());
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->shape);
  const int steps = e.task->config.training.steps;
  TrainingState whole(model, e.task->config.training, e.seed), part = whole;
  train_until(model, e, whole, steps);
  train_until(model, e, part, steps / 2 + 3);  // between two looks at the validation stream
  write_checkpoint(directory / "c.safetensors", e, model, part, 12.5);

  TrainingState again(model, e.task->config.training, e.seed);
  CHECK(read_checkpoint(directory / "c.safetensors", e, model, again) == 12.5);
  CHECK(again.step == steps / 2 + 3);
  CHECK(again.loss_sum == part.loss_sum);
  train_until(model, e, again, steps);
  CHECK(again.parameters.flat == whole.parameters.flat);
  CHECK(again.optimizer.state.square.flat == whole.optimizer.state.square.flat);
  CHECK(again.curve == whole.curve);
}

TEST_CASE(
    "a checkpoint of another experiment or configuration, or a damaged one, is refused and changes nothing") {
  const TemporaryDirectory directory;
  const auto path = directory / "c.safetensors";
  const Suite suite = make_suite(small_config());
  const Experiment& e = suite.experiments[0];
  const Model model = make_model(e.encoding, e.task->shape);
  TrainingState state(model, e.task->config.training, e.seed);
  train_until(model, e, state, 5);
  write_checkpoint(path, e, model, state, 1);
  const auto message = [&](const Experiment& other) -> std::string {
    const Model its_model = make_model(other.encoding, other.task->shape);
    TrainingState fresh(its_model, other.task->config.training, other.seed);
    try {
      read_checkpoint(path, other, its_model, fresh);
    } catch (const std::runtime_error& error) {
      CHECK(fresh.step == 0);
      CHECK(fresh.curve.empty());
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
  Config other = small_config();
  other.training.learning_rate = 0.5;
  const Suite other_suite = make_suite(other);
  CHECK(message(other_suite.experiments[0]).starts_with("__metadata__.config is "));

  const std::string bytes = read_whole(path);
  for (const double share : {0.0, 0.3, 0.6, 0.99}) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(bytes.size()) * share));
    CHECK(message(e).ends_with("it is cut off or damaged"));
    directory.write("c.safetensors", bytes);
  }
  std::string flipped = bytes;
  flipped[bytes.size() - 100] ^= 1;
  directory.write("c.safetensors", flipped);
  CHECK(message(e).ends_with("it is damaged"));
}
