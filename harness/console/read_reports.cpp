#include "harness/console/read_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/config/config.h"
#include "harness/config/embedded_data.h"
#include "harness/config/user_files.h"
#include "harness/console/progress.h"
#include "harness/runs/run_reader.h"
#include "model/block.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

/// Returns the mark of a task, "control" or "open". Returns an empty text for a learnable task and for a spec with
/// options.
std::string mark_of(const std::string& task) {
  if (!tasks().contains(task)) return "";
  const Learnability learnability = tasks().find(task).info.learnability;
  return learnability == Learnability::learnable ? "" : to_string(learnability);
}

/// Returns the model of a recurrent block, or of a profile with other layers than those of the board.
std::optional<OtherModel> other_model_of(const Report& report) {
  OtherModel found{"", "none", report.config.value("model", Json::object())};
  if (!found.settings.is_object()) return std::nullopt;
  if (const Json& block = found.settings.value("block", Json()); block.is_string() && is_recurrent_block(block)) {
    found.name = block;
    found.settings.erase("block");
    return found;
  }
  const std::string profile = report.config.value("profile", "");
  if (profile == "quick" || !profiles().contains(profile)) return std::nullopt;
  const RunConfig own = make_config({.profile = profile}), quick = make_config({.profile = "quick"});
  const Json model = to_json(own).at("model"), of_board = to_json(quick).at("model");
  if (!model.contains("block") && !model.contains("convolution")) return std::nullopt;
  found.name = profile;
  found.encoding = own.encodings.front().text();
  for (const auto& [key, value] : model.items()) {
    if (of_board.value(key, Json()) == value) continue;
    if (found.settings.value(key, Json()) != value) return std::nullopt;
    found.settings.erase(key);
    if (of_board.contains(key)) found.settings[key] = of_board.at(key);
  }
  return found;
}

}  // namespace

Report read_run_report(const std::filesystem::path& path) {
  const Progress status("reading " + path.string());
  return read_report_or_run(path);
}

std::vector<Report> read_run_reports(const std::vector<std::filesystem::path>& paths) {
  std::vector<Report> reports;
  for (const auto& path : paths) reports.push_back(read_run_report(path));
  return reports;
}

void check_finished(const Report& report, const std::filesystem::path& path) {
  if (!report.experiments.empty()) return;
  throw InputError(
      fmt::format("{}: no experiment is finished; 'posbench run --resume -o DIR' continues a run", path.string()));
}

std::vector<NamedReport> name_reports(const std::vector<std::filesystem::path>& paths,
                                      const std::vector<Report>& reports) {
  std::vector<NamedReport> runs;
  for (size_t n = 0; n < reports.size(); ++n) runs.push_back({paths[n].string(), reports[n]});
  return runs;
}

void add_reports(Command& command, AddedReports& added) {
  command.file("reports", added.paths, "reports or run directories to add to the board");
  command.flag("--allow-different-budget", added.allow_different_budget,
               "add reports even if their model or training settings differ from those of the board");
}

BoardReport read_board(const AddedReports& added, const std::vector<std::string>& encodings) {
  const std::vector<Report> users = read_run_reports(added.paths);
  return read_user_files([&] {
    const Progress status("reading the board");
    return merge_board(board_reports(encodings), added, users);
  });
}

BoardReport merge_board(const std::vector<StoredReport>& stored, const AddedReports& added,
                        const std::vector<Report>& users) {
  std::vector<NamedReport> named;
  for (const StoredReport& one : stored) {
    const std::string file = std::filesystem::path(one.name).filename().string();
    named.push_back({fmt::format("the board's {}", file), one.report});
  }
  return merge_board(named, name_reports(added.paths, users), board_costs().costs, added.allow_different_budget,
                     {mark_of, other_model_of});
}

std::vector<AspectTasks> tasks_by_aspect(const BoardReport& all) {
  std::map<Aspect, AspectTasks> by_aspect;
  for (const TaskBaseline& task : all.report.tasks) {
    const std::string name = spec_name(task.task);
    if (!tasks().contains(name) || !all.stored_tasks.contains(task.task)) continue;
    for (const Aspect aspect : tasks().find(name).info.aspects) {
      AspectTasks& of_aspect = by_aspect[aspect];
      of_aspect.aspect = to_string(aspect);
      (mark_of(task.task).empty() ? of_aspect.tasks : of_aspect.marked).push_back(task.task);
    }
  }
  std::vector<AspectTasks> aspects;
  for (auto& [aspect, of_aspect] : by_aspect) {
    std::ranges::sort(of_aspect.tasks);  // intervals by bootstrap depend on the order
    aspects.push_back(std::move(of_aspect));
  }
  return aspects;
}

}  // namespace posbench
