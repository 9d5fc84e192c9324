#include "harness/training/task_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/training/begin_token.h"
#include "tasks/splits.h"

namespace posbench {
namespace {

/// Returns the number of tokens of the longest of some samples at the greatest length. It is the same for every
/// seed and encoding.
int longest_sequence(const Task& task) {
  constexpr int kSamples = 256;
  size_t longest = 0;
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = make_rng(0, "longest", n);
    longest = std::max(longest, task.sample(task.lengths().max(), rng).tokens.size());
  }
  return static_cast<int>(longest);
}

/// Returns the number of coordinates of a position in samples of the task.
int num_coordinates(const Task& task) {
  Rng rng = make_rng(0, "coordinates");
  return static_cast<int>(task.sample(task.lengths().min(), rng).coordinates.size());
}

/// Returns the splits of the task. Splits of the user replace those of the same name or follow at the end.
std::vector<TaskInfo::Split> chosen_splits(const TaskSetup& setup) {
  std::vector<TaskInfo::Split> splits = setup.info->splits;
  for (const TaskInfo::Split& split : setup.user_splits) {
    const auto same =
        std::find_if(splits.begin(), splits.end(), [&](const TaskInfo::Split& s) { return s.name == split.name; });
    if (split.options.empty()) {
      if (same == splits.end()) {
        throw InputError(fmt::format("task '{}' has no split '{}' to leave out", setup.info->name, split.name));
      }
      splits.erase(same);
    } else if (same != splits.end()) {
      *same = split;
    } else {
      splits.push_back(split);
    }
  }
  return splits;
}

std::string prefixed(const std::string& prefix, const std::string& text) {
  return text.starts_with(prefix) ? text : prefix + text;
}

void refuse_training_distribution(const Spec& trained, const TaskInfo::Split& split) {
  if (kind(split) != SplitKind::out_of_distribution) return;
  Spec tested = trained;
  tested.options.insert(tested.options.end(), split.options.begin(), split.options.end());
  if (tasks().find(trained.name).canonical(tested).options != trained.options) return;
  std::vector<std::string> values;
  for (const auto& [option, value] : split.options) values.push_back(option + "=" + value);
  throw InputError(fmt::format(
      "split '{0}' of '{1}' is the training distribution itself ({2}); train on something else, or give the split "
      "other values, or leave it out, in a configuration: {{\"splits\": {{\"{1}\": {{\"{0}\": null}}}}}}",
      split.name, trained.text(), fmt::join(values, ", ")));
}

void check_extend(const ExtendOptions& extend) {
  if (extend.encodings.empty() && (extend.steps > 0 || !extend.length.empty())) {
    throw InputError(fmt::format(
        "extend.{} is set, but extend.encodings is empty; name the encodings, as in --extend none, or leave it out",
        extend.steps > 0 ? "steps" : "length"));
  }
  if (extend.steps == 0 && !extend.length.empty()) {
    throw InputError(fmt::format(
        "extend.length is {}, the length of further training, but extend.steps is 0; set extend.steps, or "
        "leave out extend.length",
        extend.length));
  }
}

/// Returns the task of further training; null if its length is that of training.
std::unique_ptr<Task> make_extended(const Spec& spec, const ExperimentOptions& options, int vocabulary) {
  const ExtendOptions& extend = options.extend;
  if (extend.length.empty()) return nullptr;
  try {
    const TaskInfo::Split split{"extend.length", {{"length", extend.length}}, ""};
    std::unique_ptr<Task> task =
        make_task_for_model(spec, resolved(spec, tasks().find(spec.name).options, split), options);
    if (task->vocabulary() == vocabulary) return task;
  } catch (const InputError& error) {
    throw InputError(prefixed("extend.length: ", error.what()));
  }
  throw InputError(
      fmt::format("extend.length {} changes the vocabulary of task '{}', which a trained model cannot follow",
                  extend.length, spec.name));
}

/// Refuses a layout of answers that the task or the attention does not allow.
void check_layout(const TaskInfo& info, const ExperimentOptions& options) {
  const Layout layout = options.layout();
  if (info.causal_only && layout == Layout::slots) {
    throw InputError(fmt::format(
        "task '{}' has target positions inside its sequences, so it needs a causal model without answer slots; set "
        "model.attention to causal and evaluation.layout to by_attention, or leave the task out",
        info.name));
  }
  if (!options.model.causal && layout == Layout::teacher_forced) {
    throw InputError(
        "evaluation.layout is teacher_forced, which shows a bidirectional model the answers; set it to slots");
  }
}

void check_optimizer(const TrainingOptions& training) {
  if (training.momentum == TrainingOptions{}.momentum || optimizers().find(training.optimizer.name).has_momentum)
    return;
  std::vector<std::string> others;
  for (const std::string& name : optimizers().names()) {
    if (optimizers().find(name).has_momentum) others.push_back(name);
  }
  throw InputError(fmt::format(
      "training.momentum is {:g}, and training.optimizer={} has none; set training.optimizer={} or leave it out",
      training.momentum, training.optimizer.text(), fmt::join(others, " or ")));
}

void check_lengths(const TrainingOptions& training) {
  if (training.lengths == BatchLengths::each || training.samples % training.batch == 0) return;
  throw InputError(fmt::format(
      "training.samples is {}, not a multiple of training.batch {}; with training.lengths=same a training set consists "
      "of whole batches",
      training.samples, training.batch));
}

/// Adds a split with its task. A split of the task that is impossible at the trained lengths is skipped.
void add_split(const Spec& spec, const TaskInfo::Split& raw, TaskSetup& setup) {
  TaskInfo::Split split = raw;
  std::unique_ptr<Task> task;
  try {
    split = resolved(spec, tasks().find(spec.name).options, raw);
    task = make_task_for_model(spec, split, setup.options);
  } catch (const InputError& error) {
    const std::string message = prefixed("split '" + raw.name + "': ", error.what());
    const bool is_users = std::any_of(setup.user_splits.begin(), setup.user_splits.end(),
                                      [&](const TaskInfo::Split& s) { return s.name == raw.name; });
    if (is_users || !is_relative(raw)) throw InputError(message);
    setup.skipped_splits.push_back(message);
    return;
  }
  refuse_training_distribution(spec, split);
  setup.splits.push_back(std::move(split));
  setup.tasks.push_back(std::move(task));
  const int longest = longest_sequence(*setup.tasks.back());
  const int coordinates = num_coordinates(*setup.tasks.back());
  if (setup.tasks.size() == 1) {
    setup.model_config.trained_length = longest;
    setup.model_config.coordinates = coordinates;
  }
  setup.model_config.longest = std::max(setup.model_config.longest, longest);
  if (setup.tasks.back()->vocabulary() != setup.trained().vocabulary()) {
    throw InputError(fmt::format(
        "task '{}': split '{}' changes the vocabulary, which a trained model cannot follow", spec.name, raw.name));
  }
  if (coordinates != setup.model_config.coordinates) {
    throw InputError(fmt::format(
        "task '{}': split '{}' has {} coordinates for each token and training {}, which a trained model cannot follow; "
        "leave out the options of the split that change this number",
        spec.name, raw.name, coordinates, setup.model_config.coordinates));
  }
}

/// Adds the split whose positions begin later. The longest sequence has the largest positions.
void add_shift(const Spec& spec, TaskSetup& setup) {
  add_split(spec, {kShift, {}, "the same samples, at positions that begin later"}, setup);
  setup.model_config.longest =
      std::max(setup.model_config.longest, setup.largest_shift() + setup.model_config.trained_length);
}

/// Adds the split whose sequences have several samples, and extends the lengths of the model to those of training.
void add_packed(const Spec& spec, TaskSetup& setup) {
  const Packing& packing = setup.options.training.packing;
  check_packing(packing, setup.model_config, setup.options.training.batch);
  if (packing.samples == 1) return;
  add_split(spec, {kPacked, {}, "the same samples, several in a sequence as in training"}, setup);
  ModelConfig& config = setup.model_config;
  const int packed = packing.samples * config.trained_length;
  if (packing.joins() || packing.continues()) config.longest = std::max(config.longest, packed);
  config.trained_tokens = packing.joins() ? packed : config.trained_length;
  if (packing.continues()) config.trained_length = packed;
}

/// Throws InputError if the encoding has nothing that the rounding acts on.
void check_rounding(const char* section, Rounding rounding, const Spec& encoding) {
  if (rounding == Rounding::none) return;
  const auto has = [&](const auto& self, const Spec& spec) -> bool {
    const EncodingEntry& entry = encodings().find(spec.name);
    if (entry.is_rotary) return true;
    if (!rounds_rotation(rounding) && entry.info.takes_positions != TakesPositions::no) return true;
    return std::ranges::any_of(entry.members(spec), [&](const Spec& member) { return self(self, member); });
  };
  if (has(has, encoding)) return;
  throw InputError(fmt::format(
      "{}.rounding is {}, and encoding '{}' {}; take {}, or leave out the rounding", section,
      names_of(rounding).name(rounding), encoding.text(),
      rounds_rotation(rounding) ? "is not one of the rotary ones whose angles are rounded" : "reads no positions",
      rounds_rotation(rounding) ? "rope or a variant of it" : "an encoding that does, such as rope"));
}

}  // namespace

TaskSpec TaskSpec::of(const Spec& whole) {
  TaskSpec result;
  result.task.name = whole.name;
  const TaskEntry& entry = tasks().find(whole.name);
  ExperimentOptions options;
  for (const auto& [name, value] : whole.options) {
    if (name.find('.') == name.npos) {
      result.task.options.emplace_back(name, value);
    } else {
      options.set(name, value);
      result.settings.emplace_back(name, options.get(name));
    }
  }
  result.task = entry.canonical(result.task);
  std::sort(result.settings.begin(), result.settings.end());
  return result;
}

Spec TaskSpec::whole() const {
  Spec whole = task;
  whole.options.insert(whole.options.end(), settings.begin(), settings.end());
  return whole;
}

TaskSetup make_task_setup(const ExperimentOptions& for_all, const TaskSpec& task_spec,
                          std::vector<TaskInfo::Split> user_splits) {
  const auto& [spec, settings] = task_spec;
  TaskSetup setup;
  setup.task_spec = task_spec;
  setup.spec = task_spec.text();
  setup.info = &tasks().find(spec.name).info;
  setup.options = for_all;
  for (const auto& [name, value] : settings) setup.options.set(name, value);
  setup.user_splits = std::move(user_splits);
  const ExperimentOptions& options = setup.options;
  check_layout(*setup.info, options);
  check_lengths(options.training);
  check_optimizer(options.training);
  check_extend(options.extend);
  setup.model_config = options.model.config();
  for (const TaskInfo::Split& split : chosen_splits(setup)) add_split(spec, split, setup);
  add_packed(spec, setup);
  if (options.evaluation.shift > 0) add_shift(spec, setup);
  check_cache(options.evaluation.cache, setup.model_config);
  setup.model_config.vocabulary = setup.trained().vocabulary();
  if (options.training.reserve && !setup.trained().has_separate_tests())
    setup.reserve = std::make_shared<const Reserve>(setup.tasks.front());
  if (options.evaluation.grid > 0) setup.grids = make_task_grids(spec, options, setup.model_config.vocabulary);
  setup.extended = make_extended(spec, options, setup.model_config.vocabulary);
  if (setup.extended)
    setup.model_config.longest = std::max(setup.model_config.longest, longest_sequence(*setup.extended));
  return setup;
}

SampleStream TaskSetup::make_stream(const Task& task, const StreamId& id, std::optional<int> length) const {
  const bool is_training = id.purpose == Purpose::train || id.purpose == Purpose::further_training;
  const bool is_shifted = id.split == kShift, is_packed = id.split == kPacked;
  StreamId samples = id;
  if (is_shifted || is_packed) samples.split = kInDistribution;
  SampleStream stream(task, samples);
  stream.length = length;
  stream.reserve = reserve.get();
  stream.answers_only = options.training.outputs == Outputs::answers;
  if (is_training) stream.distinct = static_cast<std::uint64_t>(options.training.samples);
  if (is_training || is_packed) stream.packing = options.training.packing;
  stream.rounding = options.training.rounding;
  if (id.purpose == Purpose::test) {
    stream.loops = options.evaluation.loops;
    stream.cache = options.evaluation.cache;
    stream.rounding = options.evaluation.rounding;
  }
  if (is_shifted) stream.largest_shift = largest_shift();
  return stream;
}

SampleStream TaskSetup::stream(const StreamId& id, std::optional<int> length) const {
  const Task& task =
      id.purpose == Purpose::further_training ? further_training_task() : *tasks[find_split(*this, id.split)];
  return make_stream(task, id, length);
}

SampleStream TaskSetup::grid_stream(const TaskGrid& grid, const TaskGrid::Point& point, std::uint64_t seed) const {
  const auto stream_at = [&](const TaskGrid::Point& at) {
    return make_stream(*at.task,
                       {.purpose = Purpose::test, .seed = seed, .grid = point_name(grid.option, at.multiple)});
  };
  SampleStream stream = stream_at(point);
  if (options.evaluation.grid_rules == 2 && &point != &grid.points.front())
    stream.answers_as = std::make_shared<const SampleStream>(stream_at(grid.points.front()));
  return stream;
}

TrainingStreams TaskSetup::training_streams(Purpose purpose, std::uint64_t seed) const {
  const Task& task = purpose == Purpose::further_training ? further_training_task() : trained();
  TrainingStreams streams{make_stream(task, {purpose, kInDistribution, seed}),
                          make_stream(task, {Purpose::validation, kInDistribution, seed}),
                          {}};
  for (const TaskInfo::Split& split : splits) {
    if (!options.training.validate_splits || kind(split) != SplitKind::out_of_distribution) continue;
    streams.validated_splits.emplace_back(split.name, stream({Purpose::validation, split.name, seed}));
  }
  return streams;
}

SplitKind kind(const TaskInfo::Split& split) {
  if (split.name == kShift || split.name == kPacked) return SplitKind::shifted;
  return split.name == kInDistribution ? SplitKind::in_distribution : SplitKind::out_of_distribution;
}

void check_encoding(const TaskSetup& setup, const Spec& encoding) {
  const ExperimentOptions& options = setup.options;
  check_packing(options.training.packing, setup.model_config, encoding);
  check_rounding("training", options.training.rounding, encoding);
  check_rounding("evaluation", options.evaluation.rounding, encoding);
  if (options.evaluation.cache.mode == CacheMode::off) return;
  Rng rng = make_rng(0, "cache");
  const Example e = setup.trained().sample(setup.trained().lengths().max(), rng);
  const Sequence sequence{.tokens = e.tokens,
                          .segments = e.segments,
                          .digit_positions = e.digit_positions,
                          .coordinates = e.coordinates};
  check_cache(options.evaluation.cache, setup.model_config, encoding, sequence);
}

size_t find_split(const TaskSetup& task, const std::string& name) {
  std::vector<std::string> names;
  for (const TaskInfo::Split& split : task.splits) names.push_back(split.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  throw InputError(fmt::format("task '{}' has no split '{}'{} (its splits: {})", task.spec, name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace posbench
