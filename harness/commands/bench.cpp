// `posbench bench`: how fast one training step is, for every encoding, as fractions of what the machine can do in
// the same run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/bench_samples.h"
#include "harness/commands/commands.h"
#include "harness/commands/output.h"
#include "harness/runs/config.h"
#include "harness/runs/context.h"
#include "harness/training/trainer.h"
#include "model/denormals.h"
#include "model/training_step.h"
#include "results/json/json.h"
#include "results/presentation/table.h"

namespace posbench {
namespace {

struct BenchRequest {
  std::string sizes = "all", encodings = "none,sinusoidal,learned_abs,shaw_k,rope,alibi,cope";
  int repetitions = 5;
  bool samples = false;  // of tasks, instead of training steps
  bool json = false, color = false;
  std::vector<std::string> command;
};

struct Size {
  std::string name;
  int layers, width, heads, length;
  bool causal;
  int batch;
};

const std::vector<Size>& sizes() {
  static const std::vector<Size> sizes{{"quick", 2, 64, 4, 64, true, 32},
                                       {"che", 5, 64, 8, 40, false, 32},
                                       {"che", 5, 64, 8, 80, false, 32},
                                       {"cope", 4, 256, 4, 512, true, 2},
                                       {"tiny", 2, 16, 2, 20, true, 64}};
  return sizes;
}

std::vector<Size> select_sizes(const std::string& list) {
  std::vector<Size> selected;
  for (const std::string& name : split(list, ',')) {
    const size_t before = selected.size();
    for (const Size& size : sizes()) {
      if (name == "all" || name == size.name) selected.push_back(size);
    }
    if (selected.size() == before) {
      throw std::invalid_argument(fmt::format("unknown size '{}'{} (sizes: quick, che, cope, tiny, all)", name,
                                              did_you_mean(name, {"quick", "che", "cope", "tiny"})));
    }
  }
  return selected;
}

/// Seconds that this thread has been computing: what other programs on the machine take does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& f) {
  const double start = processor_seconds();
  f();
  return processor_seconds() - start;
}

/// GFLOP/s of Eigen's own product of 512 x 256 by 256 x 1024: the best of a few.
double product_peak() {
  static const RowMajor a = RowMajor::Random(512, 256), b = RowMajor::Random(256, 1024);
  static RowMajor c(512, 1024);
  double best = 1e9;
  for (int n = 0; n < 10; ++n) best = std::min(best, seconds_of([] { c.noalias() = a * b; }));
  return 2.0 * 512 * 256 * 1024 / best * 1e-9;
}

/// Bytes resident at most since the last reset_peak_memory(); 0 where the system does not say.
std::int64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// One encoding at one size: a model in training on random tokens.
class Subject {
 public:
  Subject(const Spec& encoding, const Size& size)
      : spec(encoding),
        size_(size),
        model_(make(encoding, size)),
        state_(model_, {}, 0),
        optimizer_(make_optimizer({}, model_.layout)),
        workspace_(model_.layout) {
    Rng rng = stream(0, "bench");
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

  double step() {
    const FlushDenormals flush;
    const DropoutStream no_dropout = [](size_t) { return Rng(); };
    return seconds_of([&] {
      training_step(*model_.transformer, batch_, no_dropout, 1, 1e-4, *optimizer_, state_.optimizer,
                    state_.parameters, workspace_);
    });
  }

  double evaluation() {
    const FlushDenormals flush;
    Rng unused;  // dropout is for training
    return seconds_of([&] {
      for (const Sequence& s : sequences_) {
        model_.transformer->prepare(state_.parameters, s, workspace_.tables, nullptr);
        model_.transformer->forward(state_.parameters, s, workspace_.tables, unused, workspace_.activations);
      }
      model_.transformer->finish(state_.parameters, workspace_.tables, nullptr);
    });
  }

  double tokens() const { return static_cast<double>(size_.length) * size_.batch; }
  /// GFLOP of useful work in one training step: twice the multiply-adds, once forward and twice backward.
  double gflop() const {
    return 6e-9 * model_.transformer->multiply_adds(size_.length, size_.length) * size_.batch;
  }
  Index parameters() const { return model_.layout.count(); }

  Spec spec;
  std::vector<double> step_seconds, evaluation_seconds, peak_shares, relative;
  std::int64_t memory = 0;

 private:
  static constexpr int kVocabulary = 32;

  static Model make(const Spec& encoding, const Size& size) {
    ModelShape shape;
    shape.vocabulary = kVocabulary;
    shape.layers = size.layers;
    shape.width = size.width;
    shape.heads = size.heads;
    shape.causal = size.causal;
    shape.trained_length = shape.longest = size.length;
    return make_model(encoding, shape);
  }

  Size size_;
  Model model_;
  TrainingState state_;
  std::unique_ptr<const Optimizer> optimizer_;
  TrainingWorkspace workspace_;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<int>> targets_;
  std::vector<LabelledSequence> batch_;
};

struct Spread {
  double low, median, high;
};

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

Json to_json(const Spread& s) { return {{"min", s.low}, {"median", s.median}, {"max", s.high}}; }

/// Measures the subjects in turn, so that a drift of the machine reaches them all; each step stands between two
/// looks at the peak and beside a step of the first subject, plain attention.
void measure(std::vector<std::unique_ptr<Subject>>& subjects, int repetitions) {
  for (auto& subject : subjects) {
    reset_peak_memory();
    subject->step();  // the workspace takes its memory
    subject->evaluation();
    subject->memory = peak_memory();
  }
  for (int n = 0; n < repetitions; ++n) {
    for (auto& subject : subjects) {
      const double plain = subjects.front()->step(), before = product_peak();
      const double step = subject == subjects.front() ? plain : subject->step();
      const double peak = std::max(before, product_peak());
      subject->step_seconds.push_back(step);
      subject->peak_shares.push_back(subject->gflop() / step / peak);
      subject->relative.push_back(step / plain);
      subject->evaluation_seconds.push_back(subject->evaluation());
    }
  }
}

/// Measures and prints. Throws std::invalid_argument for an unknown size or encoding.
void bench(const BenchRequest& request) {
  std::vector<std::string> encodings = select(request.encodings, "encoding");
  encodings.erase(std::remove(encodings.begin(), encodings.end(), "none"), encodings.end());
  encodings.insert(encodings.begin(), "none");  // what the others are relative to
  Json list = Json::array();
  Table table{{{"size"},
               {"length", Align::right},
               {"encoding"},
               {"ms/step", Align::right},
               {"tokens/s", Align::right},
               {"evaluated/s", Align::right},
               {"GFLOP/s", Align::right},
               {"of peak", Align::right},
               {"x none", Align::right},
               {"MiB", Align::right}},
              {}};
  for (const Size& size : select_sizes(request.sizes)) {
    std::vector<std::unique_ptr<Subject>> subjects;
    for (const std::string& encoding : encodings) {
      if (!size.causal && posbench::encodings().find(Spec::parse(encoding).name).info.causal_only) continue;
      subjects.push_back(std::make_unique<Subject>(Spec::parse(encoding), size));
    }
    fmt::print(stderr, "{}, length {}: {} encodings\n", size.name, size.length, subjects.size());
    measure(subjects, request.repetitions);
    for (const auto& s : subjects) {
      const Spread step = spread(s->step_seconds), evaluation = spread(s->evaluation_seconds),
                   share = spread(s->peak_shares), relative = spread(s->relative);
      list.push_back({{"size", size.name},
                      {"length", size.length},
                      {"encoding", s->spec.text()},
                      {"layers", size.layers},
                      {"width", size.width},
                      {"heads", size.heads},
                      {"attention", size.causal ? "causal" : "bidirectional"},
                      {"batch", size.batch},
                      {"parameters", s->parameters()},
                      {"peak_share", share.median},
                      {"relative_cost", relative.median},
                      {"gflops", s->gflop() / step.median},
                      {"tokens_per_second",
                       {{"training", s->tokens() / step.median}, {"evaluation", s->tokens() / evaluation.median}}},
                      {"peak_memory_bytes", s->memory},
                      {"spread",
                       {{"step_seconds", to_json(step)},
                        {"peak_share", to_json(share)},
                        {"relative_cost", to_json(relative)}}}});
      table.rows.push_back(
          {size.name, fmt::format("{}", size.length), s->spec.text(), fmt::format("{:.2f}", step.median * 1e3),
           fmt::format("{:.0f}", s->tokens() / step.median),
           fmt::format("{:.0f}", s->tokens() / evaluation.median), fmt::format("{:.1f}", s->gflop() / step.median),
           fmt::format("{:.0f} %", 100 * share.median), fmt::format("{:.2f}", relative.median),
           fmt::format("{:.0f}", static_cast<double>(s->memory) / (1 << 20))});
    }
  }
  if (request.json) {
    fmt::print("{}\n", Json{{"context", context(request.command)}, {"benchmarks", list}}.dump(2));
  } else {
    fmt::print("{}", console(table, {0, request.color}));
  }
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<BenchRequest>();
  const auto color = std::make_shared<std::string>("auto");
  CLI::App* command =
      app.add_subcommand("bench", "Speed of a training step, beside the machine's matrix-multiply peak");
  command->add_option("-e,--encodings", request->encodings,
                    "comma-separated specs and globs; none is always measured");
  command->add_option("--sizes", request->sizes, "quick, che, cope, tiny, or all");
  command->add_option("-r,--repetitions", request->repetitions, "of which the median is told")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--samples", request->samples,
                  "the time to draw a sample of length 500 of each Chomsky task, instead of training steps");
  command->add_flag("--json", request->json, "as JSON, with the spread");
  add_color(*command, *color);
  command->footer(
      "Examples:\n  posbench bench\n  posbench bench -e all --sizes che,cope --json\n  posbench bench --samples");
  command->callback([=, &invocation] {
    request->command = invocation.words;
    request->color = wants_color(*color);
    if (request->samples) {
      bench_samples(request->json, request->color, request->command);
    } else {
      bench(*request);
    }
  });
}

}  // namespace posbench
