#include "harness/exchange/sample_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/config/build.h"
#include "harness/config/commit.h"
#include "harness/config/experiment_config.h"
#include "harness/config/names.h"
#include "harness/training/begin_token.h"
#include "harness/training/task_grid.h"

namespace posbench {
namespace {

constexpr const char* kSamplesFormat = "posbench samples 1";

Json options(const TaskEntry& entry, const Spec& spec) {
  Json options = Json::object();
  for (const OptionInfo& option : entry.options) options[option.name] = option.value;
  for (const auto& [name, value] : spec.options) options[name] = value;
  return options;
}

Json splits(const TaskSetup& task) {
  Json list = Json::array();
  for (size_t n = 0; n < task.splits.size(); ++n) {
    const TaskInfo::Split& split = task.splits[n];
    Json changed = Json::object();
    for (const auto& [name, value] : split.options) changed[name] = value;
    list.push_back({{"name", split.name},
                    {"kind", to_string(kind(split))},
                    {"options", changed},
                    {"why", split.why},
                    {"chance", task.tasks[n]->chance_level()}});
  }
  return list;
}

bool is_manifest(const std::filesystem::path& path) {
  try {
    const std::string format = read_json(path).at("format").get<std::string>();
    return format.starts_with("posbench samples ") || format.starts_with("posbench golden ");
  } catch (const std::exception&) {
    return false;
  }
}

/// Returns the names and the numbers of samples of the tests at multiples of trained values.
Json grids(const TaskSetup& task) {
  return write_list(task.grids, [&](const TaskGrid& grid) {
    return Json{{"option", grid.option},
                {"points", write_list(grid.points, [&](const TaskGrid::Point& point) {
                   return Json{{"split", point_name(grid.option, point.multiple)},
                               {"multiple", point.multiple},
                               {"value", point.value},
                               {"sequences", most_sequences(task.options.evaluation, point.multiple)}};
                 })}};
  });
}

/// Sets the multiple that the stream names, unless it names a split. Returns true if there is one.
bool find_point(SampleSet& set) {
  const std::string name = set.id.grid.empty() ? set.id.split : set.id.grid;
  if (set.id.purpose != Purpose::test) return false;
  if (set.id.grid.empty() && std::ranges::count(set.task->splits, name, &TaskInfo::Split::name) > 0) return false;
  for (const TaskGrid& grid : set.task->grids) {
    for (const TaskGrid::Point& point : grid.points) {
      if (point_name(grid.option, point.multiple) != name) continue;
      set.grid = &grid, set.point = &point;
      set.id.split = kInDistribution, set.id.grid = name;
      return true;
    }
  }
  return false;
}

/// Returns the index of the split of a stream. Throws InputError if the task has none of this name.
size_t find_split_of(const StreamId& id, const TaskSetup& task) {
  std::vector<std::string> names, multiples;
  for (const TaskGrid& grid : task.grids)
    for (const TaskGrid::Point& point : grid.points) multiples.push_back(point_name(grid.option, point.multiple));
  for (const TaskInfo::Split& split : task.splits) {
    if (split.name == id.split && id.grid.empty()) return names.size();
    names.push_back(split.name);
  }
  for (const std::string& reason : task.skipped_splits) {
    if (reason.starts_with(fmt::format("split '{}': ", id.split))) throw InputError(reason);
  }
  const std::string& name = id.grid.empty() ? id.split : id.grid;
  throw InputError(fmt::format("task '{}' has no stream or split '{}'{} (train, validation, its splits: {}{}{})",
                               task.spec, name, did_you_mean(name, names), fmt::join(names, ", "),
                               multiples.empty() ? "" : "; its multiples: ", fmt::join(multiples, ", ")));
}

}  // namespace

void set_length(TaskSetup& setup, size_t split, int length) {
  TaskInfo::Split with_length = setup.splits[split];
  with_length.options.emplace_back("length", fmt::format("{}", length));
  std::unique_ptr<Task> task = make_task_for_model(setup.task_spec.task, with_length, setup.options);
  if (task->vocabulary() != setup.model_config.vocabulary) {
    throw InputError(fmt::format(
        "task '{}': length {} changes the vocabulary, which a trained model cannot follow; use another",
        setup.spec, length));
  }
  setup.tasks[split] = std::move(task);
}

StreamId parse_stream(const std::string& name, std::uint64_t seed) {
  constexpr std::string_view kTest = "test:", kGrid = "grid:";
  if (name == "train") return {Purpose::train, kInDistribution, seed};
  if (name == "validation") return {Purpose::validation, kInDistribution, seed};
  if (name.starts_with(kGrid)) return {Purpose::test, kInDistribution, seed, name.substr(kGrid.size())};
  return {Purpose::test, name.starts_with(kTest) ? name.substr(kTest.size()) : name, seed};
}

SampleSet make_sample_set(const RunConfig& config, const std::string& task, const std::string& purpose,
                          std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
  SampleSet set{
      .config = config, .task = nullptr, .id = parse_stream(purpose, seed), .first = first, .count = count};
  set.config.tasks = {read_task(task)};
  set.config.seeds = {seed};
  set.task = std::make_unique<TaskSetup>(setup_task(set.config, set.config.tasks.front()));
  if (!find_point(set)) set.split = find_split_of(set.id, *set.task);
  if (set.id.split == kPacked) {
    throw InputError(fmt::format(
        "task '{}': split '{}' tests several samples in a sequence, and samples are written one by one; take '{}'",
        set.task->spec, kPacked, kInDistribution));
  }
  return set;
}

SampleStream::Sample SampleSet::sample(std::uint64_t n) const {
  SampleStream samples = stream();
  if (id.purpose == Purpose::train && task->options.training.lengths == BatchLengths::same)
    samples.length = length_of_batch(samples, n / static_cast<std::uint64_t>(task->options.training.batch),
                                     task->options.training.batch);
  return samples(n);
}

Json manifest(const SampleSet& set) {
  const TaskSetup& task = *set.task;
  const Task& made = set.made();
  Json words = Json::array();
  for (int token = 0; token < made.vocabulary(); ++token) words.push_back(made.token_text(token));
  Json json{{"format", kSamplesFormat},
            {"posbench", {{"version", kBuildVersion}, {"commit", kBuildCommit}}},
            {"task", task.spec},
            {"task_version", task.info->version},
            {"options", options(tasks().find(task.info->name), task.task_spec.task)},
            {"purpose", set.id.text()},
            {"seed", set.id.seed},
            {"first", set.first},
            {"count", set.count},
            {"vocabulary", made.vocabulary()},
            {"outputs", set.stream().num_outputs()},
            {"words", words},
            {"chance", made.chance_level()},
            {"length_unit", task.info->length_unit},
            {"distance_unit", task.info->distance_unit},
            {"trained_length", task.model_config.trained_length},
            {"longest_length", task.model_config.longest},
            {"splits", splits(task)},
            {"grids", grids(task)},
            {"settings", to_json(task.options)},
            {"config", to_json(set.config)}};
  if (task.model_config.coordinates > 0) json["coordinates"] = task.model_config.coordinates;
  return json;
}

SampleSet read_manifest(const Json& json, const std::string& file) {
  const Field root(json, file);
  root["format"].choice({kSamplesFormat});
  const std::string task = root["task"].name();
  const Field version = root["task_version"];
  const auto number = [&](const char* key, std::int64_t max) {
    return static_cast<std::uint64_t>(root[key].integer(0, max));
  };
  try {
    const std::string place = file + ": config";
    SampleSet set = make_sample_set(config_from_json(root["config"].object(), place), task, root["purpose"].name(),
                                    number("seed", kMaxSeed), number("first", kMaxSampleNumber),
                                    number("count", kMaxSampleNumber));
    const int now = set.task->info->version;
    if (version.integer(1, 1'000'000) != now)
      version.fail(fmt::format("but '{}' has version {} here, whose samples are others; export them again",
                               set.task->info->name, now));
    return set;
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(file) ? message : file + ": " + message);
  }
}

std::filesystem::path manifest_path(const std::filesystem::path& file) { return file.string() + ".manifest.json"; }

std::filesystem::path default_manifest(const std::filesystem::path& file) {
  std::filesystem::path path = manifest_path(file);
  if (std::filesystem::exists(path) && !is_manifest(path)) {
    throw InputError(
        fmt::format("'{}' is no manifest, and would be lost; move it, or choose another -o", path.string()));
  }
  return path;
}

}  // namespace posbench
