// Fuzzes everything that posbench reads. Each reader either accepts the bytes or throws an exception that `main`
// turns into one line with the name of the file; anything else is a fault. The first byte chooses the reader:
//   m manifest.json   l experiments.jsonl   r report.json   f a configuration   s .safetensors   c a checkpoint's
//   state   a arrays (.safetensors)   j answers (.jsonl)   x a manifest of samples
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "harness/exchange/answers.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/safetensors.h"
#include "harness/runs/checkpoint.h"
#include "harness/runs/run_directory.h"
#include "results/reports/report_json.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

const char* const kManifest = R"({"config": {}, "context": {}, "experiments": [
    {"task": "parity_check", "encoding": "none", "seed": 0}, {"task": "parity_check", "encoding": "rope", "seed": 0}]})";

/// An experiment with a checkpoint, whose state is replaced.
struct Training {
  explicit Training(const std::filesystem::path& path) {
    sweep.tried = {{.learning_rate = 0.001, .diverged_step = 0}};
    sweep.best = sweep.state;
    sweep.best->diverged_step = 0;
    write_checkpoint(path, experiment, model, sweep, 0);
    checkpoint = parse_safetensors(read_whole(path), path.string());
  }

  Suite suite = make_suite(make_config(
      {.profile = "smoke", .tasks = "parity_check", .encodings = "none", .learning_rates = "1e-3,1e-2"}));
  const Experiment& experiment = suite.experiments[0];
  Model model = make_model(experiment.encoding, experiment.task->model_config);
  LearningRateSweep sweep{model, experiment.task->options.training, 0};
  SafeTensors checkpoint;
};

void read(char reader, const std::string& text) {
  static const TemporaryDirectory directory;
  static Training training(directory / "checkpoint.safetensors");
  switch (reader) {
    case 'm':
      directory.write("manifest.json", text);
      directory.write("experiments.jsonl", "");
      read_run(directory / "");
      break;
    case 'l':
      directory.write("manifest.json", kManifest);
      directory.write("experiments.jsonl", text);
      read_run(directory / "");
      break;
    case 'r':
      read_report(directory.write("report.json", text));
      break;
    case 'f':
      make_config({.file = directory.write("config.json", text)});
      break;
    case 's':
      parse_safetensors(text, (directory / "model.safetensors").string());
      break;
    case 'c': {
      training.checkpoint.metadata["state"] = text;
      LearningRateSweep sweep = training.sweep;
      read_checkpoint(directory.write("checkpoint.safetensors", to_bytes(training.checkpoint)),
                      training.experiment, training.model, sweep);
      break;
    }
    case 'a':
      parse_arrays(text, (directory / "arrays.safetensors").string());
      break;
    case 'j':
      read_answers(directory.write("answers.jsonl", text));
      break;
    case 'x': {
      const std::string file = directory.write("samples.manifest.json", text).string();
      read_manifest(read_json(file), file);
      break;
    }
    default:
      break;
  }
}

/// One line, which names a file of the folder above.
void check(const std::string& message) {
  if (message.find('\n') == message.npos && message.find("posbench-test-") != message.npos) return;
  std::fprintf(stderr, "a message that is not one line, or names no file: %s\n", message.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    read(static_cast<char>(data[0]), text);
  } catch (const std::runtime_error& error) {
    check(error.what());
  }
  return 0;
}
