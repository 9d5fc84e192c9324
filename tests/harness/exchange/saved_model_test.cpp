#include "harness/exchange/saved_model.h"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "harness/exchange/safetensors.h"
#include "harness/runs/suite.h"
#include "harness/training/evaluate.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

SafeTensors example() {
  SafeTensors file{.metadata = {{"task", "flip_flop"}}, .tensors = {}};
  file.tensors.push_back({"a", EigenMatrix::Random(2, 3)});
  file.tensors.push_back({"b.weight", EigenMatrix::Random(4, 1)});
  return file;
}

std::string message(std::string_view bytes) {
  try {
    parse_safetensors(bytes, "x");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string with_header(const std::string& header) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + header;
}

}  // namespace

TEST_CASE("matrices read back unchanged, and their numbers are aligned") {
  const SafeTensors file = example();
  const std::string bytes = to_bytes(file);
  CHECK((bytes.size() - (6 + 4) * sizeof(float)) % 8 == 0);
  const SafeTensors again = parse_safetensors(bytes, "x");
  CHECK(again.metadata.at("task") == "flip_flop");
  REQUIRE(again.tensors.size() == 2);
  for (size_t n = 0; n < 2; ++n) {
    CHECK(again.tensors[n].name == file.tensors[n].name);
    CHECK(again.tensors[n].values == file.tensors[n].values);
  }
}

TEST_CASE("a file of matrices with any damaged byte is refused in one line") {
  const SafeTensors file = example();
  const std::string bytes = to_bytes(file);
  for (size_t size = 0; size < bytes.size(); ++size) CHECK(message(bytes.substr(0, size)).starts_with("x: "));
  CHECK(message(bytes + "more").starts_with("x: "));
  for (size_t n = 0; n < bytes.size() * 8; ++n) {
    std::string damaged = bytes;
    damaged[n / 8] = static_cast<char>(damaged[n / 8] ^ (1 << n % 8));
    const std::string text = message(damaged);
    CAPTURE(n, text);
    if (!text.empty()) {
      CHECK((text.starts_with("x: ") && text.find('\n') == text.npos));
      continue;
    }
    // A change in a name is detected when a matrix of that name is read.
    const SafeTensors renamed = parse_safetensors(damaged, "x");
    REQUIRE(renamed.tensors.size() == 2);
    for (const SafeTensors::Tensor& tensor : renamed.tensors)
      CHECK(tensor.values == file.tensors[tensor.values.rows() == 2 ? 0 : 1].values);
  }
}

TEST_CASE("an array that is no matrix of float32 is refused with its position") {
  CHECK(message(with_header(R"({"a": {"dtype": "F16", "shape": [0, 1], "data_offsets": [0, 0]}})")) ==
        "x: a.dtype is \"float16\", expected float32");
  CHECK(message(with_header(R"({"a": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}})")) ==
        "x: a.shape is a list, expected the rows and columns of a matrix");
}

TEST_CASE("a saved model is loaded unchanged") {
  const TemporaryDirectory directory;
  const RunConfig config = make_config(
      {.profile = "smoke", .tasks = "flip_flop:length=16", .encodings = "cope:positions=8", .seeds = "7,"});
  const Suite suite = make_suite(config);
  const Experiment& e = suite.experiments.at(0);
  const auto path = directory / "model.safetensors";
  class Saver final : public ExperimentObserver {
   public:
    explicit Saver(std::filesystem::path path) : path_(std::move(path)) {}
    void on_trained(const Experiment& experiment, const Model& model, const Parameters& parameters) override {
      save_model(path_, experiment, model, parameters);
    }

   private:
    std::filesystem::path path_;
  };
  Saver saver(path);
  const auto results = run_experiment(e, saver);
  const SavedModel saved = load_model(path);
  CHECK(saved.experiment.id() == e.id());
  const SampleStream samples = saved.task->stream({Purpose::test, kInDistribution, 7});
  SplitResult again = evaluate(saved.model, saved.parameters, samples, config.evaluation.sequences);
  CHECK(again.token == results->front().splits[0].token);
  CHECK(again.by_length == results->front().splits[0].by_length);

  SafeTensors file = parse_safetensors(read_file(path), "x");
  CHECK(Json::parse(file.metadata.at("model")).at("width") == 16);
  const std::string missing = file.tensors.back().name;
  file.tensors.pop_back();
  write_file(path, to_bytes(file));
  CHECK_THROWS_WITH(load_model(path), path.string() + ": " + missing + " is missing");
}

TEST_CASE("a model of the first format is read, unless it stores a projection transposed") {
  const TemporaryDirectory directory;
  const RunConfig config =
      make_config({.profile = "smoke", .tasks = "flip_flop:length=16", .encodings = "rope,txl", .seeds = "7,"});
  const Suite suite = make_suite(config);
  const auto path = directory / "model.safetensors";
  const auto saved_as = [&](const Experiment& e, const char* format) {
    const Model model = make_model(e.encoding, e.task->model_config);
    save_model(path, e, model, initialize(model.layout, 1));
    SafeTensors file = parse_safetensors(read_file(path), "x");
    file.metadata["format"] = format;
    write_file(path, to_bytes(file));
  };
  saved_as(suite.experiments.at(0), "posbench model 1");
  CHECK(load_model(path).parameters.flat.size() > 0);
  saved_as(suite.experiments.at(1), "posbench model 1");
  CHECK_THROWS_WITH(load_model(path), path.string() +
                                          ": 'txl.projection.0' is stored as (outputs, inputs) by an "
                                          "earlier version; train the model again");
  saved_as(suite.experiments.at(0), "posbench model 3");
  CHECK_THROWS_WITH(load_model(path), path.string() +
                                          ": __metadata__.format is \"posbench model 3\", expected "
                                          "\"posbench model 2\"");
}

TEST_CASE("each experiment has a separate file") {
  CHECK(file_stem({"flip_flop", "cope", 3}) == "flip_flop-cope-3");
  const std::string with_options = file_stem({"flip_flop:length=16", "cope:positions=8", 3});
  CHECK(with_options.starts_with("flip_flop_length_16-cope_positions_8-3-"));
  CHECK(with_options != file_stem({"flip_flop:length_16", "cope:positions=8", 3}));
  CHECK(file_stem({std::string(1000, 'a'), "cope", 3}).size() < 200);
}
