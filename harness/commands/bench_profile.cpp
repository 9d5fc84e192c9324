#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/analysis/step_profile.h"
#include "harness/commands/bench_request.h"
#include "harness/console/status_line.h"
#include "harness/runs/provenance.h"

namespace posbench {
namespace {

constexpr double kSeconds = 0.4;  // of one measurement

struct ProfiledModel {
  std::unique_ptr<BenchmarkedModel> model;
  StepProfile profile;
};

/// Measures the models in turn, so that a drift of the machine affects all of them.
std::vector<ProfiledModel> profile_size(const BenchRequest& request, const BenchmarkSize& size) {
  std::vector<ProfiledModel> models;
  for (const Spec& spec : select_encodings(request)) {
    if (can_build(spec, size)) models.push_back({std::make_unique<BenchmarkedModel>(spec, size), {}});
  }
  for (ProfiledModel& profiled : models) profiled.model->step();  // allocates the workspace
  for (int n = 0; n < request.repetitions; ++n) {
    for (ProfiledModel& profiled : models) add_steps(*profiled.model, kSeconds, profiled.profile);
  }
  return models;
}

Table profile_table(const BenchmarkSize& size, const std::vector<ProfiledModel>& models) {
  Table table{{{fmt::format("{}, length {}: ms/step", size.name, size.length)}}, {}};
  for (const ProfiledModel& profiled : models)
    table.columns.push_back({profiled.model->spec.text(), Align::right});
  std::vector<Cell> all{"all"};
  for (const ProfiledModel& profiled : models)
    all.push_back(fmt::format("{:.2f}", 1e3 * profiled.profile.step_seconds()));
  for (size_t kind = 0; kind < kWorkKinds; ++kind) {
    std::vector<Cell> row{to_string(static_cast<WorkKind>(kind))};
    for (const ProfiledModel& profiled : models) {
      const double fraction = profiled.profile.fraction(static_cast<WorkKind>(kind));
      row.push_back(
          fmt::format("{:.2f} {:3.0f} %", 1e3 * fraction * profiled.profile.step_seconds(), 100 * fraction));
    }
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back(std::move(all));
  return table;
}

Json to_json(const BenchmarkSize& size, const ProfiledModel& profiled) {
  const StepProfile& profile = profiled.profile;
  Json fractions = Json::object();
  for (size_t kind = 0; kind < kWorkKinds; ++kind)
    fractions[to_string(static_cast<WorkKind>(kind))] = profile.fraction(static_cast<WorkKind>(kind));
  return {{"size", size.name},
          {"length", size.length},
          {"encoding", profiled.model->spec.text()},
          {"step_seconds", profile.step_seconds()},
          {"steps", profile.steps},
          {"samples", profile.samples},
          {"fractions", fractions}};
}

}  // namespace

void bench_profile(const BenchRequest& request) {
  Json list = Json::array();
  std::vector<Table> tables;
  {
    StatusLine status("measuring steps");
    for (const BenchmarkSize& size : select_sizes(request)) {
      status.set_text(fmt::format("{}, length {}", size.name, size.length));
      const std::vector<ProfiledModel> models = profile_size(request, size);
      for (const ProfiledModel& profiled : models) list.push_back(to_json(size, profiled));
      tables.push_back(profile_table(size, models));
    }
  }
  print(request, {{"context", provenance(request.command)}, {"profiles", list}}, tables);
}

}  // namespace posbench
