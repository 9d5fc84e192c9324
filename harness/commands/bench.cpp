// `posbench bench`: the speed of a training step of every encoding, relative to plain attention and to the peak of
// the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system.h"
#include "base/text.h"
#include "harness/analysis/benchmark.h"
#include "harness/commands/bench_request.h"
#include "harness/commands/commands.h"
#include "harness/config/config.h"
#include "harness/config/names.h"
#include "harness/console/command.h"
#include "harness/console/output.h"
#include "harness/console/status_line.h"
#include "harness/runs/provenance.h"
#include "harness/training/make_model.h"
#include "results/document/table.h"
#include "results/json/json.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

using Models = std::vector<std::unique_ptr<BenchmarkedModel>>;

Json to_json(const MedianAndRange& s) { return {{"min", s.low}, {"median", s.median}, {"max", s.high}}; }

Json to_json(const BenchmarkedModel& m, const BenchmarkSize& size) {
  const MedianAndRange step = median_and_range(m.step_seconds),
                       evaluation = median_and_range(m.evaluation_seconds);
  const MedianAndRange fraction = median_and_range(m.peak_fractions), relative = median_and_range(m.relative),
                       relative_evaluation = median_and_range(m.relative_evaluation);
  return {{"size", size.name},
          {"length", size.length},
          {"encoding", m.spec.text()},
          {"layers", size.layers},
          {"width", size.width},
          {"heads", size.heads},
          {"attention", size.causal ? "causal" : "bidirectional"},
          {"batch", size.batch},
          {"parameters", m.parameters()},
          {"peak_share", fraction.median},
          {"relative_cost", relative.median},
          {"relative_evaluation_cost", relative_evaluation.median},
          {"gflops", m.gflop() / step.median},
          {"tokens_per_second",
           {{"training", m.tokens() / step.median}, {"evaluation", m.tokens() / evaluation.median}}},
          {"spread",
           {{"step_seconds", to_json(step)},
            {"evaluation_seconds", to_json(evaluation)},
            {"peak_share", to_json(fraction)},
            {"relative_cost", to_json(relative)},
            {"relative_evaluation_cost", to_json(relative_evaluation)}}}};
}

/// Milliseconds that a sequence takes in training, by length, for each size and encoding.
using Growth = std::map<std::pair<std::string, std::string>, std::map<int, double>>;

/// Returns the exponent s of seconds ~ length^s between the two greatest of two or more lengths.
double exponent(const std::map<int, double>& by_length) {
  const auto last = std::prev(by_length.end()), before = std::prev(last);
  return std::log(last->second / before->second) / std::log(static_cast<double>(last->first) / before->first);
}

Table growth_table(const Growth& growth) {
  std::set<int> lengths;
  for (const auto& [name, by_length] : growth) {
    for (const auto& [length, milliseconds] : by_length) lengths.insert(length);
  }
  Table table{.columns = {{"size"}, {"encoding"}}, .naming = 2};
  for (const int length : lengths) table.columns.push_back({fmt::format("ms at {}", length), Align::right});
  table.columns.push_back({"grows as", Align::right});
  for (const auto& [name, by_length] : growth) {
    std::vector<Cell> row{name.first, name.second};
    for (const int length : lengths) {
      const auto found = by_length.find(length);
      row.push_back(found == by_length.end() ? "-" : fmt::format("{:.2f}", found->second));
    }
    row.push_back(fmt::format("length^{:.2f}", exponent(by_length)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Column> step_columns() {
  return {{"size"},
          {"length", Align::right},
          {"encoding"},
          {"ms/step", Align::right},
          {"tokens/s", Align::right},
          {"GFLOP/s", Align::right},
          {"of peak", Align::right},
          {"training cost", Align::right},
          {"evaluated/s", Align::right},
          {"evaluation cost", Align::right}};
}

std::vector<Cell> step_row(const BenchmarkedModel& m, const BenchmarkSize& size) {
  const double step = median_and_range(m.step_seconds).median;
  return {size.name,
          fmt::format("{}", size.length),
          m.spec.text(),
          fmt::format("{:.2f}", step * 1e3),
          fmt::format("{:.0f}", m.tokens() / step),
          fmt::format("{:.1f}", m.gflop() / step),
          fmt::format("{:.0f} %", 100 * median_and_range(m.peak_fractions).median),
          fmt::format("{:.2f}", median_and_range(m.relative).median),
          fmt::format("{:.0f}", m.tokens() / median_and_range(m.evaluation_seconds).median),
          fmt::format("{:.2f}", median_and_range(m.relative_evaluation).median)};
}

/// Throws InputError for an unknown size or encoding.
void bench_steps(const BenchRequest& request) {
  const std::vector<Spec> specs = select_encodings(request);
  const std::vector<BenchmarkSize> selected = select_sizes(request);
  Json result{{"context", provenance(request.command)}, {"benchmarks", Json::array()}};
  Growth growth;
  Table table{.columns = step_columns(), .naming = 3};
  {
    StatusLine status("measuring steps");
    for (const BenchmarkSize& size : selected) {
      Models models;
      for (const Spec& spec : specs) {
        if (can_build(spec, size)) models.push_back(std::make_unique<BenchmarkedModel>(spec, size));
      }
      status.set_text(
          fmt::format("{}, length {}: {}", size.name, size.length, counted(models.size(), "encoding")));
      measure(models, request.repetitions);
      for (const auto& model : models) {
        result["benchmarks"].push_back(to_json(*model, size));
        growth[{size.name, model->spec.text()}][size.length] =
            1e3 * median_and_range(model->step_seconds).median / size.batch;
        table.rows.push_back(step_row(*model, size));
      }
    }
  }
  std::vector<Table> tables{table};
  std::vector<std::string> notes{
      "tokens/s, GFLOP/s: in training. of peak: GFLOP/s as a share of the speed of the machine's matrix products. "
      "evaluated/s: tokens per second in evaluation. training cost, evaluation cost: the time relative to that of "
      "'none'."};
  std::erase_if(growth, [](const auto& of_model) { return of_model.second.size() < 2; });
  if (!growth.empty()) {
    for (const auto& [name, by_length] : growth)
      result["growth"].push_back(
          {{"size", name.first}, {"encoding", name.second}, {"exponent", exponent(by_length)}});
    tables.push_back(growth_table(growth));
    notes.emplace_back(
        "ms at N: milliseconds that a sequence of length N takes in training. grows as: the power of the length between "
        "the two greatest lengths.");
  }
  print(request, result, tables, notes);
}

/// Measures several trainings at once, each with its model and its thread, or with --threads one training on
/// several threads. The rates are relative to one training on one thread without groups.
void bench_at_once(const BenchRequest& request) {
  constexpr double kSeconds = 1;  // of one measurement, approximately
  const bool has_threads = !request.threads.empty();
  const char* counted = has_threads ? "threads" : "jobs";
  Json list = Json::array();
  Table table{{{"size"},
               {"encoding"},
               {counted, Align::right},
               {"tokens/s", Align::right},
               {has_threads ? "x one thread" : "x one job", Align::right},
               {"same bytes"}},
              {},
              3};
  StatusLine status("measuring trainings");
  for (BenchmarkSize size : select_sizes(request)) {
    if (has_threads) size.batch = std::max(size.batch, 2 * kBenchmarkGroups);
    for (const Spec& spec : select_encodings(request)) {
      if (!can_build(spec, size)) continue;
      BenchmarkedModel model(spec, size);
      model.step();
      const int steps = 1 + static_cast<int>(kSeconds / model.seconds_of_step());
      const double one = measure_throughput(spec, size, 1, steps).tokens_per_second;
      for (const int count : has_threads ? request.threads : request.jobs) {
        const auto [rate, same] =
            has_threads ? measure_threads(spec, size, count, steps) : measure_throughput(spec, size, count, steps);
        list.push_back({{"size", size.name},
                        {"length", size.length},
                        {"encoding", spec.text()},
                        {counted, count},
                        {"tokens_per_second", rate},
                        {"relative", rate / one},
                        {"same_bytes", same}});
        table.rows.push_back({size.name, spec.text(), fmt::format("{}", count), fmt::format("{:.0f}", rate),
                              fmt::format("{:.2f}", rate / one), same ? "yes" : "NO"});
      }
    }
  }
  status.clear();
  print(request, {{"context", provenance(request.command)}, {counted, list}}, {table});
}

/// Measures a sample of length 500, the greatest published length, of every task of the Chomsky hierarchy.
void bench_samples(const BenchRequest& request) {
  constexpr int kLength = 500, kSamples = 200;
  Json list = Json::array();
  Table table{{{"task"}, {"length", Align::right}, {"us/sample", Align::right}, {"slowest", Align::right}}, {}};
  {
    const StatusLine status("drawing samples");
    for (const std::string& name : tasks().names()) {
      if (!tasks().find(name).info.family.starts_with("chomsky/")) continue;
      const MedianAndRange times = median_and_range(
          sample_times(*tasks().find(name).make(Spec{name, {}}, Layout::slots), kLength, kSamples));
      list.push_back({{"task", name}, {"length", kLength}, {"microseconds", to_json(times)}});
      table.rows.push_back({name, fmt::format("{}", kLength), fmt::format("{:.1f}", times.median),
                            fmt::format("{:.1f}", times.high)});
    }
  }
  print(request, {{"context", provenance(request.command)}, {"samples", list}}, {table});
}

}  // namespace

void add_bench(CommandLine& line) {
  const auto request = std::make_shared<BenchRequest>();
  Command& command = line.add(
      kExplore, "bench", "Measure the speed of training steps, relative to the machine's matrix-multiply peak");
  command
      .list("-e,--encodings", request->encodings, ValueKind::encoding,
            "comma-separated encodings: names, specs and globs; may be repeated; 'none' is always measured")
      .default_text(kBenchEncodings);
  command.text("--sizes", request->sizes, "comma-separated sizes of models: quick, che, cope, tiny, or all");
  command
      .number("--length", request->lengths, 1, 1 << 16, "lengths of sequences in tokens, as in 64,256,1024,4096")
      .default_text("that of the size")
      .separated_by(',');
  command.number("--batch", request->batch, 1, 1 << 16, "sequences of a batch")
      .default_text("that of the size; with --length, as many tokens");
  command
      .number("-j,--jobs", request->jobs, 1, 1024,
              "numbers of trainings at once, as in 1,2,4, whose throughput is measured instead")
      .default_text("one at a time")
      .separated_by(',');
  command
      .number(
          "--threads", request->threads, 1, 1024,
          "numbers of threads of one training, as in 1,2,4, whose throughput is measured instead; batches have "
          "8 groups and at least 16 sequences")
      .default_text("one thread, one group")
      .separated_by(',')
      .excludes("--jobs");
  command.number("-r,--repetitions", request->repetitions, 1, 1000,
                 "number of measurements, each the mean over 0.1 s of steps; their median is reported");
  CommandOption& samples =
      command.flag("--samples", request->samples,
                   "measure samples of length 500 of each Chomsky task instead of training steps");
  for (const char* unused :
       {"--encodings", "--sizes", "--length", "--batch", "--jobs", "--threads", "--repetitions"})
    samples.excludes(unused);
  command
      .flag("--profile", request->profile,
            "measure instead how much of a step each kind of work takes: products, softmax, norms, activation, "
            "encoding, optimizer")
      .excludes("--jobs")
      .excludes("--threads")
      .excludes("--samples");
  command.flag("--json", request->json, "output as JSON, with the spread of the measurements");
  add_color(command, request->color);
  command.explain(
      {{"posbench bench", ""},
       {"posbench bench -e all --sizes che,cope --json", ""},
       {"posbench bench -e none,cope --sizes cope --length 64,256,1024,4096", "growth with the length"},
       {"posbench bench -e none --sizes che --jobs 1,2,4,8,16", "throughput of several trainings"},
       {"posbench bench -e none --sizes cope --threads 1,2,4,8", "throughput of one training"},
       {"posbench bench -e none,cope --sizes quick --profile", "where the time of a step goes"},
       {"posbench bench --samples", "speed of the tasks"}});
  command.run([request, &line] {
    request->command = line.arguments;
    check_cpu_clock();
    if (request->samples) {
      bench_samples(*request);
    } else if (request->profile) {
      bench_profile(*request);
    } else if (!request->jobs.empty() || !request->threads.empty()) {
      bench_at_once(*request);
    } else {
      bench_steps(*request);
    }
  });
}

}  // namespace posbench
