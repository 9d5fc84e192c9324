// `posbench bench`: how fast one training step is, for every encoding, as fractions of what the machine can do in
// the same run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/parallel_for.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/bench_samples.h"
#include "harness/commands/commands.h"
#include "harness/commands/help.h"
#include "harness/commands/memory_use.h"
#include "harness/commands/output.h"
#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"
#include "harness/runs/config.h"
#include "harness/runs/context.h"
#include "harness/training/trainer.h"
#include "model/denormals.h"
#include "model/training_step.h"
#include "results/json/json.h"
#include "results/presentation/table.h"

namespace posbench {
namespace {

constexpr const char* kEncodings = "none,sinusoidal,learned_abs,shaw_k,rope,alibi,cope";

struct BenchRequest {
  std::vector<int> lengths, jobs;  // lengths instead of the sizes' own; how many trainings at once
  std::string sizes = "all";
  std::optional<std::string> encodings;  // kEncodings without it
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

/// The sizes of these names; where lengths are given, each with each, in batches of about as many tokens.
std::vector<Size> select_sizes(const std::string& list, const std::vector<int>& lengths) {
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
  if (lengths.empty()) return selected;
  std::vector<Size> stretched;
  for (const Size& size : selected) {
    if (!stretched.empty() && stretched.back().name == size.name) continue;
    for (const int length : lengths) {
      stretched.push_back(size);
      stretched.back().length = length;
      stretched.back().batch = std::max(1, size.batch * size.length / length);
    }
  }
  return stretched;
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

/// Seconds of a call: the mean of calls that follow each other for a tenth of a second, as the steps of a training do.
/// One short call alone would find the caches full of what was computed before it.
double mean_seconds(const std::function<void()>& f) {
  constexpr double kTogether = 0.1;
  const double start = processor_seconds();
  for (int calls = 1;; ++calls) {
    f();
    const double seconds = processor_seconds() - start;
    if (seconds >= kTogether) return seconds / calls;
  }
}

/// GFLOP/s of a product of 512 x 256 by 256 x 1024, Eigen's or our own: the best of a few.
double product_peak() {
  static const RowMajor a = RowMajor::Random(512, 256), b = RowMajor::Random(256, 1024);
  static RowMajor c(512, 1024);
  double best = 1e9;
  for (int n = 0; n < 10; ++n) {
    best = std::min(best, seconds_of([] { c.noalias() = a * b; }));
    best = std::min(best, seconds_of([] { multiply(a, b, c); }));
  }
  return 2.0 * 512 * 256 * 1024 / best * 1e-9;
}

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

  void step() {
    const FlushDenormals flush;
    const DropoutStream no_dropout = [](size_t) { return Rng(); };
    training_step(*model_.transformer, batch_, no_dropout, 1, 1e-4, *optimizer_, state_.optimizer,
                  state_.parameters, workspace_);
  }

  void evaluate() {
    const FlushDenormals flush;
    for (const Sequence& s : sequences_) {
      model_.transformer->prepare(state_.parameters, s, workspace_.tables, nullptr);
      model_.transformer->forward(state_.parameters, s, workspace_.tables, nullptr, workspace_.activations);
    }
    model_.transformer->finish(state_.parameters, workspace_.tables, nullptr);
  }

  double seconds_of_step() {
    return mean_seconds([this] { step(); });
  }
  double seconds_of_evaluation() {
    return mean_seconds([this] { evaluate(); });
  }

  double tokens() const { return static_cast<double>(size_.length) * size_.batch; }
  /// GFLOP of useful work in one training step: twice the multiply-adds, once forward and twice backward.
  double gflop() const {
    return 6e-9 * model_.transformer->multiply_adds(size_.length, size_.length) * size_.batch;
  }
  Index parameters() const { return model_.layout.count(); }
  bool same_bytes(const Subject& other) const {
    const Vector &a = state_.parameters.flat, &b = other.state_.parameters.flat;
    return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(Real)) == 0;
  }

  Spec spec;
  std::vector<double> step_seconds, peak_fractions, relative;
  std::vector<double> evaluation_seconds, relative_evaluation;
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

/// Measures the subjects in turn, so that a drift of the machine reaches them all: first training, where the
/// steps are between two measurements of the peak, then evaluation; both relative to the first subject, plain attention.
void measure(std::vector<std::unique_ptr<Subject>>& subjects, int repetitions) {
  for (auto& subject : subjects) {
    subject->step();  // the workspace takes its memory
    subject->evaluate();
  }
  Subject& first = *subjects.front();
  for (int n = 0; n < repetitions; ++n) {
    for (auto& subject : subjects) {
      const double plain = first.seconds_of_step(), before = product_peak();
      const double step = subject.get() == &first ? plain : subject->seconds_of_step();
      const double peak = std::max(before, product_peak());
      subject->step_seconds.push_back(step);
      subject->peak_fractions.push_back(subject->gflop() / step / peak);
      subject->relative.push_back(step / plain);
    }
  }
  for (int n = 0; n < repetitions; ++n) {
    for (auto& subject : subjects) {
      const double plain = first.seconds_of_evaluation();
      const double seconds = subject.get() == &first ? plain : subject->seconds_of_evaluation();
      subject->evaluation_seconds.push_back(seconds);
      subject->relative_evaluation.push_back(seconds / plain);
    }
  }
}

std::vector<Spec> selected_encodings(const BenchRequest& request) {
  std::vector<Spec> specs{Spec::parse("none")};  // what the others are relative to
  for (const std::string& text : select(request.encodings.value_or(kEncodings), "encoding")) {
    if (text != "none") specs.push_back(Spec::parse(text));
  }
  return specs;
}

bool is_defined(const Spec& encoding, const Size& size) {
  return size.causal || !encodings().find(encoding.name).info.causal_only;
}

/// What takes the memory of training and testing with one encoding; nothing if it is not defined at this size.
std::function<void()> use_memory(const Spec& encoding, const Size& size) {
  if (!is_defined(encoding, size)) return [] {};
  return [&] {
    Subject subject(encoding, size);
    subject.step();
    subject.evaluate();
  };
}

Json to_json(const Subject& s, const Size& size) {
  const Spread step = spread(s.step_seconds), evaluation = spread(s.evaluation_seconds);
  const Spread fraction = spread(s.peak_fractions), relative = spread(s.relative),
               relative_evaluation = spread(s.relative_evaluation);
  return {{"size", size.name},
          {"length", size.length},
          {"encoding", s.spec.text()},
          {"layers", size.layers},
          {"width", size.width},
          {"heads", size.heads},
          {"attention", size.causal ? "causal" : "bidirectional"},
          {"batch", size.batch},
          {"parameters", s.parameters()},
          {"peak_share", fraction.median},
          {"relative_cost", relative.median},
          {"relative_evaluation_cost", relative_evaluation.median},
          {"gflops", s.gflop() / step.median},
          {"tokens_per_second",
           {{"training", s.tokens() / step.median}, {"evaluation", s.tokens() / evaluation.median}}},
          {"memory_bytes", s.memory},
          {"spread",
           {{"step_seconds", to_json(step)},
            {"evaluation_seconds", to_json(evaluation)},
            {"peak_share", to_json(fraction)},
            {"relative_cost", to_json(relative)},
            {"relative_evaluation_cost", to_json(relative_evaluation)}}}};
}

/// Milliseconds that a sequence takes in training, by length, for each size and encoding.
using Growth = std::map<std::pair<std::string, std::string>, std::map<int, double>>;

/// The exponent s of seconds ~ length^s between the two greatest lengths.
double slope(const std::map<int, double>& by_length) {
  const auto last = std::prev(by_length.end()), before = std::prev(last);
  return std::log(last->second / before->second) / std::log(static_cast<double>(last->first) / before->first);
}

Table growth_table(const Growth& growth) {
  Table table{{{"size"}, {"encoding"}}, {}};
  for (const auto& [length, milliseconds] : growth.begin()->second)
    table.columns.push_back({fmt::format("ms at {}", length), Align::right});
  table.columns.push_back({"grows as", Align::right});
  for (const auto& [name, by_length] : growth) {
    std::vector<Cell> row{name.first, name.second};
    for (const auto& [length, milliseconds] : by_length) row.push_back(fmt::format("{:.2f}", milliseconds));
    row.push_back(fmt::format("length^{:.2f}", slope(by_length)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Measures and prints. Throws std::invalid_argument for an unknown size or encoding.
void bench(const BenchRequest& request) {
  const std::vector<Spec> specs = selected_encodings(request);
  const std::vector<Size> selected = select_sizes(request.sizes, request.lengths);
  std::vector<std::function<void()>> users;
  for (const Size& size : selected) {
    for (const Spec& spec : specs) users.push_back(use_memory(spec, size));
  }
  MemoryUse memory_use(users);  // first, while this process is small and has no other threads
  Waiting waiting("measuring memory");
  std::vector<std::vector<std::int64_t>> memory(selected.size());
  for (auto& of_size : memory) {
    for (size_t n = 0; n < specs.size(); ++n) of_size.push_back(memory_use.next());
  }
  Json list = Json::array();
  Growth growth;
  Table table{{{"size"},
               {"length", Align::right},
               {"encoding"},
               {"ms/step", Align::right},
               {"tokens/s", Align::right},
               {"GFLOP/s", Align::right},
               {"of peak", Align::right},
               {"x none", Align::right},
               {"evaluated/s", Align::right},
               {"x none", Align::right},
               {"MiB", Align::right}},
              {}};
  for (size_t at = 0; at < selected.size(); ++at) {
    const Size& size = selected[at];
    std::vector<std::unique_ptr<Subject>> subjects;
    for (size_t n = 0; n < specs.size(); ++n) {
      if (!is_defined(specs[n], size)) continue;
      subjects.push_back(std::make_unique<Subject>(specs[n], size));
      subjects.back()->memory = memory[at][n];
    }
    waiting.now(fmt::format("{}, length {}: {} encodings", size.name, size.length, subjects.size()));
    measure(subjects, request.repetitions);
    for (const auto& s : subjects) {
      list.push_back(to_json(*s, size));
      const double step = spread(s->step_seconds).median;
      growth[{size.name, s->spec.text()}][size.length] = 1e3 * step / size.batch;
      table.rows.push_back({size.name, fmt::format("{}", size.length), s->spec.text(), fmt::format("{:.2f}", step * 1e3),
                            fmt::format("{:.0f}", s->tokens() / step), fmt::format("{:.1f}", s->gflop() / step),
                            fmt::format("{:.0f} %", 100 * spread(s->peak_fractions).median),
                            fmt::format("{:.2f}", spread(s->relative).median),
                            fmt::format("{:.0f}", s->tokens() / spread(s->evaluation_seconds).median),
                            fmt::format("{:.2f}", spread(s->relative_evaluation).median),
                            fmt::format("{:.1f}", static_cast<double>(s->memory) / (1 << 20))});
    }
  }
  Json result{{"context", context(request.command)}, {"benchmarks", list}};
  if (request.lengths.size() > 1) {
    for (const auto& [name, by_length] : growth)
      result["growth"].push_back({{"size", name.first}, {"encoding", name.second}, {"exponent", slope(by_length)}});
  }
  if (request.json) {
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print("{}", console(table, {console_width(), request.color}));
  if (request.lengths.size() > 1) fmt::print("\n{}", console(growth_table(growth), {console_width(), request.color}));
}

/// Trainings side by side, each of its own model on a thread of its own: how much more they do together.
void bench_jobs(const BenchRequest& request) {
  using Clock = std::chrono::steady_clock;
  constexpr double kSeconds = 1;  // that one measurement takes, about
  const Waiting waiting("measuring trainings side by side");
  Json list = Json::array();
  Table table{{{"size"},
               {"encoding"},
               {"jobs", Align::right},
               {"tokens/s", Align::right},
               {"x one job", Align::right},
               {"same bytes"}},
              {}};
  for (const Size& size : select_sizes(request.sizes, request.lengths)) {
    for (const Spec& spec : selected_encodings(request)) {
      if (!is_defined(spec, size)) continue;
      Subject alone(spec, size);
      alone.step();
      const int steps = 1 + static_cast<int>(kSeconds / alone.seconds_of_step());
      double one = 0;
      for (const int jobs : request.jobs) {
        std::vector<std::unique_ptr<Subject>> subjects;
        for (int n = 0; n < jobs; ++n) subjects.push_back(std::make_unique<Subject>(spec, size));
        const auto start = Clock::now();
        parallel_for(subjects.size(), jobs, [&](size_t n) {
          for (int step = 0; step < steps; ++step) subjects[n]->step();
        });
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        const double rate = jobs * steps * alone.tokens() / seconds;
        if (one == 0) one = rate / jobs;
        const bool same = std::all_of(subjects.begin(), subjects.end(),
                                      [&](const auto& s) { return s->same_bytes(*subjects.front()); });
        list.push_back({{"size", size.name},
                        {"length", size.length},
                        {"encoding", spec.text()},
                        {"jobs", jobs},
                        {"tokens_per_second", rate},
                        {"same_bytes", same}});
        table.rows.push_back({size.name, spec.text(), fmt::format("{}", jobs), fmt::format("{:.0f}", rate),
                              fmt::format("{:.2f}", rate / one), same ? "yes" : "NO"});
      }
    }
  }
  if (request.json) {
    fmt::print("{}\n", Json{{"context", context(request.command)}, {"jobs", list}}.dump(2));
  } else {
    fmt::print("{}", console(table, {console_width(), request.color}));
  }
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<BenchRequest>();
  const auto color = std::make_shared<std::string>("auto");
  CLI::App* command =
      app.add_subcommand("bench", "Speed of a training step, beside the machine's matrix-multiply peak");
  add_list_option(*command, "-e,--encodings", request->encodings,
                  "comma-separated specs and globs; may be repeated; none is always measured")
      ->default_str(kEncodings);
  command->add_option("--sizes", request->sizes, "comma-separated: quick, che, cope, tiny, or all");
  command->add_option("--length", request->lengths, "lengths in tokens, as in 64,256,1024,4096")
      ->default_str("that of the size")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16));
  command
      ->add_option("-j,--jobs", request->jobs,
                   "measure the throughput of several trainings at once instead, as in 1,2,4")
      ->default_str("one at a time")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command
      ->add_option(
          "-r,--repetitions", request->repetitions,
          "repetitions of each measurement, which is the mean over 0.1 s of steps; the median is reported")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--samples", request->samples,
                  "the time to draw a sample of length 500 of each Chomsky task, instead of training steps");
  command->add_flag("--json", request->json, "as JSON, with the spread");
  add_color(*command, *color);
  command->footer(
      "Examples:\n  posbench bench\n  posbench bench -e all --sizes che,cope --json\n"
      "  posbench bench -e none,cope --sizes cope --length 64,256,1024,4096\n"
      "  posbench bench -e none --sizes che --jobs 1,2,4,8,16\n  posbench bench --samples");
  command->callback([=, &invocation] {
    request->command = invocation.words;
    request->color = wants_color(*color);
    if (request->samples) {
      bench_samples(request->json, request->color, request->command);
    } else if (!request->jobs.empty()) {
      bench_jobs(*request);
    } else {
      bench(*request);
    }
  });
}

}  // namespace posbench
