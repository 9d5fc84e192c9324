#include "harness/analysis/benchmark.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "base/random.h"
#include "base/system.h"
#include "model/denormals.h"

namespace posbench {
namespace {

constexpr int kVocabulary = 32;

double seconds_of(const std::function<void()>& f) {
  const double start = thread_cpu_seconds();
  f();
  return thread_cpu_seconds() - start;
}

/// Returns the mean seconds of calls that follow each other for a tenth of a second, as training steps do. A
/// single short call would find the data of earlier work in the caches.
double mean_seconds(const std::function<void()>& f) {
  constexpr double kTogether = 0.1;
  const double start = thread_cpu_seconds();
  for (int calls = 1;; ++calls) {
    f();
    const double seconds = thread_cpu_seconds() - start;
    if (seconds >= kTogether) return seconds / calls;
  }
}

/// Returns the GFLOP/s of a product of 512 x 256 by 256 x 1024: the best of some products of Eigen and of
/// posbench.
double product_peak() {
  static const EigenMatrix a = EigenMatrix::Random(512, 256), b = EigenMatrix::Random(256, 1024);
  static EigenMatrix c(512, 1024);
  double best = 1e9;
  for (int n = 0; n < 10; ++n) {
    best = std::min(best, seconds_of([] { c.noalias() = a * b; }));
    best = std::min(best, seconds_of([] { multiply(a, b, c); }));
  }
  return 2.0 * 512 * 256 * 1024 / best * 1e-9;
}

}  // namespace

ModelConfig model_config(const BenchmarkSize& size) {
  ModelOptions options;
  options.layers = size.layers;
  options.width = size.width;
  options.heads = size.heads;
  options.causal = size.causal;
  OptionTable table;
  options.describe(table);
  const std::string section = "model.";
  for (const std::string& setting : size.settings) {
    const size_t equals = setting.find('=');
    if (!setting.starts_with(section) || equals == setting.npos) {
      throw InputError(
          fmt::format("--set {}: expected a setting of the model, as in --set model.convolution=a,b", setting));
    }
    table.set(setting.substr(section.size(), equals - section.size()), setting.substr(equals + 1), "model");
  }
  if (options.begin_token)
    throw InputError("model.begin_token is true, and bench has no task that reads the token; leave it out");
  ModelConfig config = options.config();
  config.vocabulary = kVocabulary;
  config.trained_length = config.longest = size.length;
  return config;
}

BenchmarkedModel::BenchmarkedModel(const Spec& encoding, const BenchmarkSize& size)
    : spec(encoding),
      size_(size),
      model_(make_model(encoding, model_config(size))),
      state_(model_, {}, 0),
      optimizer_(make_optimizer({}, model_.layout)),
      workspace_(model_.layout) {
  Rng rng = make_rng(0, "bench");
  for (int n = 0; n < size.batch; ++n) {
    Sequence s;
    s.tokens = uniform_tokens(rng, size.length, 0, kVocabulary - 1);
    s.digit_positions = uniform_tokens(rng, size.length, 0, 3);
    for (int t = 0; t < size.length; ++t) s.segments.push_back(t / 8), s.target_positions.push_back(t);
    s.positions = model_.encoding->positions(s, rng);
    sequences_.push_back(std::move(s));
    targets_.push_back(uniform_tokens(rng, size.length, 0, kVocabulary - 1));
  }
  for (size_t n = 0; n < sequences_.size(); ++n) batch_.push_back({sequences_[n], targets_[n]});
}

void BenchmarkedModel::step() {
  const FlushDenormals flush;
  const DropoutStream no_dropout = [](size_t) { return Rng(); };
  training_step({*model_.transformer, *optimizer_, state_.optimizer, state_.parameters, workspace_}, batch_,
                no_dropout, 1, 1e-4);
}

void BenchmarkedModel::evaluate() {
  const FlushDenormals flush;
  for (const Sequence& s : sequences_) {
    model_.transformer->prepare(state_.parameters, s, workspace_.tables, nullptr);
    model_.transformer->forward(state_.parameters, s, workspace_.tables, nullptr, workspace_.activations);
  }
  model_.transformer->finish(state_.parameters, workspace_.tables, nullptr);
}

double BenchmarkedModel::seconds_of_step() {
  return mean_seconds([this] { step(); });
}

double BenchmarkedModel::seconds_of_evaluation() {
  return mean_seconds([this] { evaluate(); });
}

std::string BenchmarkedModel::name() const {
  return fmt::format("{}{}{}", spec.text(), size_.settings.empty() ? "" : " ", fmt::join(size_.settings, " "));
}

double BenchmarkedModel::gflop() const {
  return 6e-9 * model_.transformer->multiply_adds(size_.length, size_.length) * size_.batch;
}

void measure(const std::vector<std::unique_ptr<BenchmarkedModel>>& models, int repetitions) {
  for (const auto& model : models) {
    model->step();  // allocates the workspace
    model->evaluate();
  }
  BenchmarkedModel& first = *models.front();
  for (int n = 0; n < repetitions; ++n) {
    for (const auto& model : models) {
      const double plain = first.seconds_of_step(), before = product_peak();
      const double step = model.get() == &first ? plain : model->seconds_of_step();
      const double peak = std::max(before, product_peak());
      model->step_seconds.push_back(step);
      model->peak_fractions.push_back(model->gflop() / step / peak);
      model->relative.push_back(step / plain);
    }
  }
  for (int n = 0; n < repetitions; ++n) {
    for (const auto& model : models) {
      const double plain = first.seconds_of_evaluation();
      const double seconds = model.get() == &first ? plain : model->seconds_of_evaluation();
      model->evaluation_seconds.push_back(seconds);
      model->relative_evaluation.push_back(seconds / plain);
    }
  }
}

MedianAndRange median_and_range(std::vector<double> values) {
  std::ranges::sort(values);
  return {values.front(), values[values.size() / 2], values.back()};
}

}  // namespace posbench
