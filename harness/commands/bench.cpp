// `posbench bench`: the speed of a training step of every encoding, relative to plain attention and to the peak of
// the machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/spec.h"
#include "base/system.h"
#include "base/text.h"
#include "harness/analysis/benchmark.h"
#include "harness/commands/commands.h"
#include "harness/config/names.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/runs/provenance.h"
#include "harness/training/make_model.h"
#include "results/document/document.h"
#include "results/document/table.h"
#include "results/json/json.h"

namespace posbench {
namespace {

constexpr const char* kBenchEncodings = "none,sinusoidal,learned_abs,shaw_k,rope,alibi,cope";

struct BenchRequest {
  std::vector<int> lengths;  // empty: those of the sizes
  std::vector<std::string> sizes{"all"};
  std::optional<std::string> encodings;  // empty: kBenchEncodings
  std::vector<std::string> settings;     // of the models that are compared with plain ones
  int repetitions = 5;
  int batch = 0;  // 0: that of the size
  Output output;
  std::vector<std::string> command;
};

const std::vector<BenchmarkSize>& sizes() {
  static const std::vector<BenchmarkSize> sizes{{"quick", 2, 64, 4, 64, true, 32},
                                                {"che", 5, 64, 8, 40, false, 32},
                                                {"che", 5, 64, 8, 80, false, 32},
                                                {"cope", 4, 256, 4, 512, true, 2},
                                                {"tiny", 2, 16, 2, 20, true, 64}};
  return sizes;
}

/// Returns the requested sizes; with lengths, each size at each length, in batches of about as many tokens.
std::vector<BenchmarkSize> select_sizes(const BenchRequest& request) {
  std::vector<BenchmarkSize> selected;
  for (const std::string& name : request.sizes) {
    for (const BenchmarkSize& size : sizes()) {
      if (name == "all" || name == size.name) selected.push_back(size);
    }
  }
  for (BenchmarkSize& size : selected) {
    size.settings = request.settings;
    const ModelConfig config = model_config(size);
    size.layers = config.layers, size.width = config.width, size.heads = config.heads, size.causal = config.causal;
  }
  if (request.batch > 0) {
    for (BenchmarkSize& size : selected) size.batch = request.batch;
  }
  if (request.lengths.empty()) return selected;
  std::vector<BenchmarkSize> at_lengths;
  for (const BenchmarkSize& size : selected) {
    if (!at_lengths.empty() && at_lengths.back().name == size.name) continue;
    for (const int length : request.lengths) {
      at_lengths.push_back(size);
      at_lengths.back().length = length;
      if (request.batch == 0) at_lengths.back().batch = std::max(1, size.batch * size.length / length);
    }
  }
  return at_lengths;
}

/// Returns the requested encodings after 'none', to which their costs are relative. Throws InputError for an
/// unknown encoding.
std::vector<Spec> select_encodings(const BenchRequest& request) {
  std::vector<Spec> specs{Spec::parse("none")};
  for (const Spec& spec : posbench::select_encodings(request.encodings.value_or(kBenchEncodings))) {
    if (spec.text() != "none") specs.push_back(spec);
  }
  return specs;
}

/// Returns true if a model of this size can have the encoding. Some wrappers have a base that is defined for
/// causal models only.
bool can_build(const Spec& encoding, const BenchmarkSize& size) {
  if (size.causal) return true;
  try {
    make_model(encoding, model_config(size));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

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
          {"name", m.name()},
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
          m.name(),
          fmt::format("{:.2f}", step * 1e3),
          fmt::format("{:.0f}", m.tokens() / step),
          fmt::format("{:.1f}", m.gflop() / step),
          fmt::format("{:.0f} %", 100 * median_and_range(m.peak_fractions).median),
          fmt::format("{:.2f}", median_and_range(m.relative).median),
          fmt::format("{:.0f}", m.tokens() / median_and_range(m.evaluation_seconds).median),
          fmt::format("{:.2f}", median_and_range(m.relative_evaluation).median)};
}

/// Throws InputError for an unknown encoding.
void bench_steps(const BenchRequest& request) {
  const std::vector<Spec> specs = select_encodings(request);
  const std::vector<BenchmarkSize> selected = select_sizes(request);
  Json result{{"context", provenance(request.command)}, {"benchmarks", Json::array()}};
  Growth growth;
  Table table{.columns = step_columns(), .naming = 3};
  {
    Progress status("measuring steps");
    for (const BenchmarkSize& size : selected) {
      Models models;
      if (!size.settings.empty()) {
        BenchmarkSize plain = size;
        plain.settings.clear();
        models.push_back(std::make_unique<BenchmarkedModel>(specs.front(), plain));
      }
      for (const Spec& spec : specs) {
        if (can_build(spec, size)) models.push_back(std::make_unique<BenchmarkedModel>(spec, size));
      }
      status.set_text(
          fmt::format("{}, length {}: {}", size.name, size.length, counted(models.size(), "encoding")));
      measure(models, request.repetitions);
      for (const auto& model : models) {
        result["benchmarks"].push_back(to_json(*model, size));
        growth[{size.name, model->name()}][size.length] =
            1e3 * median_and_range(model->step_seconds).median / size.batch;
        table.rows.push_back(step_row(*model, size));
      }
    }
  }
  Document document;
  document.blocks.emplace_back(table);
  document.blocks.emplace_back(Note{
      "tokens/s, GFLOP/s: in training. of peak: GFLOP/s as a share of the speed of the machine's matrix products. "
      "evaluated/s: tokens per second in evaluation. training cost, evaluation cost: the time relative to that of "
      "'none', without --set."});
  std::erase_if(growth, [](const auto& of_model) { return of_model.second.size() < 2; });
  if (!growth.empty()) {
    for (const auto& [name, by_length] : growth)
      result["growth"].push_back(
          {{"size", name.first}, {"encoding", name.second}, {"exponent", exponent(by_length)}});
    document.blocks.emplace_back(growth_table(growth));
    document.blocks.emplace_back(Note{
        "ms at N: milliseconds that a sequence of length N takes in training. grows as: the power of the length between "
        "the two greatest lengths."});
  }
  document.json = [&] { return result; };
  write_document(request.output, document);
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
  command
      .name(
          "--set", request->settings, ValueKind::setting,
          "one setting of the models, as in --set model.convolution=a,b; costs are relative to 'none' without the "
          "settings; may be repeated")
      .repeated()
      .default_text("none");
  command
      .choice("--sizes", request->sizes, {"quick", "che", "cope", "tiny", "all"},
              "comma-separated sizes of models")
      .default_text("all")
      .separated_by(',');
  command
      .number("--length", request->lengths, 1, 1 << 16, "lengths of sequences in tokens, as in 64,256,1024,4096")
      .default_text("that of the size")
      .separated_by(',');
  command.number("--batch", request->batch, 1, 1 << 16, "sequences of a batch")
      .default_text("that of the size; with --length, as many tokens");
  command.number("-r,--repetitions", request->repetitions, 1, 1000,
                 "number of measurements, each the mean over 0.1 s of steps; their median is reported");
  add_json(command, request->output, "output as JSON, with the spread of the measurements");
  command.explain(
      {{"posbench bench", ""},
       {"posbench bench -e all --sizes che,cope --json", ""},
       {"posbench bench -e none,cope --sizes cope --length 64,256,1024,4096", "growth with the length"},
       {"posbench bench -e none --sizes quick --set model.convolution=a,b,c,d", "cost of a setting"}});
  command.run([request, &line] {
    request->command = line.arguments;
    check_cpu_clock();
    bench_steps(*request);
  });
}

}  // namespace posbench
