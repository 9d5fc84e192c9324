#include "harness/commands/bench_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"
#include "harness/runs/context.h"
#include "results/json/json.h"
#include "results/presentation/table.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

constexpr int kLength = 500, kSamples = 200;

/// Microseconds for each of some samples, ascending.
std::vector<double> sample_times(const Task& task) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = stream(0, "bench", n);
    const auto start = Clock::now();
    const Example example = task.sample(kLength, rng);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

void bench_samples(bool json, bool color, const std::vector<std::string>& command) {
  const Waiting waiting("drawing samples");
  Json list = Json::array();
  Table table{{{"task"}, {"length", Align::right}, {"us/sample", Align::right}, {"slowest", Align::right}}, {}};
  for (const std::string& name : tasks().names()) {
    if (!tasks().find(name).info.family.starts_with("chomsky/")) continue;
    const std::vector<double> times = sample_times(*tasks().find(name).make(Spec{name, {}}, Layout::slots));
    const double median = times[times.size() / 2];
    list.push_back({{"task", name},
                    {"length", kLength},
                    {"microseconds", {{"min", times.front()}, {"median", median}, {"max", times.back()}}}});
    table.rows.push_back(
        {name, fmt::format("{}", kLength), fmt::format("{:.1f}", median), fmt::format("{:.1f}", times.back())});
  }
  if (json) {
    fmt::print("{}\n", Json{{"context", context(command)}, {"samples", list}}.dump(2));
  } else {
    fmt::print("{}", console(table, {console_width(), color}));
  }
}

}  // namespace posbench
