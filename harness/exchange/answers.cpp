#include "harness/exchange/answers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/exchange/array_file.h"
#include "harness/training/evaluate.h"
#include "harness/training/evaluate_grids.h"
#include "harness/training/tally.h"
#include "results/json/json.h"

namespace posbench {
namespace {

[[noreturn]] void refuse_answers(const std::string& file, const std::string& what) {
  throw InputError(fmt::format("{}: {}", file, what));
}

class ArrayAnswers final : public Answers {
 public:
  explicit ArrayAnswers(const std::filesystem::path& path)
      : bytes_(read_array_bytes(path)), file_(parse_arrays(bytes_, path.string())) {
    const std::string file = path.string();
    const auto find = [&](const char* name) {
      const auto found = file_.arrays.find(name);
      return found == file_.arrays.end() ? nullptr : &found->second;
    };
    const ArrayView* numbers = find("index");
    if (numbers == nullptr)
      refuse_answers(file, "'index' is missing: the number of the sample that each row answers");
    if (!numbers->is_integer() || numbers->shape.size() != 1)
      refuse_answers(file, fmt::format("'index' is {}, expected integers of shape (N)", described(*numbers)));
    ids_ = find("answers");
    logits_ = find("logits");
    if ((ids_ == nullptr) == (logits_ == nullptr))
      refuse_answers(file,
                     "expected either 'answers', ids of shape (N, S), or 'logits' of shape (N, S, vocabulary)");
    const std::int64_t rows = numbers->shape[0];
    if (ids_ != nullptr && (!ids_->is_integer() || ids_->shape.size() != 2 || ids_->shape[0] != rows))
      refuse_answers(file,
                     fmt::format("'answers' is {}, expected integers of shape ({}, S)", described(*ids_), rows));
    if (logits_ != nullptr && (!logits_->is_float() || logits_->shape.size() != 3 || logits_->shape[0] != rows))
      refuse_answers(file, fmt::format("'logits' is {}, expected floats of shape ({}, S, vocabulary)",
                                       described(*logits_), rows));
    for (std::int64_t n = 0; n < rows; ++n) index.push_back(numbers->integer(n));
  }

  bool has_logits() const override { return logits_ != nullptr; }
  std::int64_t columns(size_t) const override { return (ids_ ? ids_ : logits_)->shape[1]; }
  std::int64_t id(size_t row, size_t column) const override {
    return ids_->integer(static_cast<std::int64_t>(row) * ids_->shape[1] + static_cast<std::int64_t>(column));
  }
  void logits(size_t row, size_t column, std::vector<double>& values) const override {
    const std::int64_t count = logits_->shape[2];
    const std::int64_t first =
        (static_cast<std::int64_t>(row) * logits_->shape[1] + static_cast<std::int64_t>(column)) * count;
    values.resize(static_cast<size_t>(count));
    for (std::int64_t v = 0; v < count; ++v) values[static_cast<size_t>(v)] = logits_->number(first + v);
  }

 private:
  static std::string described(const ArrayView& array) {
    return fmt::format("{} of shape ({})", array.type(), fmt::join(array.shape, ", "));
  }

  std::string bytes_;
  ArrayFile file_;
  const ArrayView *ids_ = nullptr, *logits_ = nullptr;
};

class LineAnswers final : public Answers {
 public:
  explicit LineAnswers(const std::filesystem::path& path) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    if (char first = ' '; is_file && File(path, O_RDONLY).read(&first, 1) > 0 && first == '\0')
      refuse_answers(path.string(), "not JSON: it begins with a zero byte");
    for_each_line(path, [&](std::string_view text, bool) {  // the last line need not end
      add(text, fmt::format("{}:{}", path.string(), index.size() + 1));
    });
  }

  bool has_logits() const override { return !logits_.empty(); }
  std::int64_t columns(size_t row) const override {
    return static_cast<std::int64_t>(has_logits() ? logits_[row].size() : ids_[row].size());
  }
  std::int64_t id(size_t row, size_t column) const override { return ids_[row][column]; }
  void logits(size_t row, size_t column, std::vector<double>& values) const override {
    values = logits_[row][column];
  }

 private:
  void add(std::string_view text, const std::string& location) {
    constexpr std::int64_t kMax = std::int64_t{1} << 48;
    const Json json = parse_json(text, location);
    const Field line(json, location);
    index.push_back(line["index"].integer(0, kMax));
    const bool logits = line.has("logits");
    if (logits == line.has("answers")) refuse_answers(location, "expected either 'answers' or 'logits'");
    if (index.size() > 1 && logits != has_logits())
      refuse_answers(location, "expected 'answers' in every line, or 'logits' in every line");
    if (logits) {
      logits_.push_back(read_list<std::vector<double>>(line["logits"], [](const Field& row) {
        return read_list<double>(row, [](const Field& value) { return value.number(-HUGE_VAL, HUGE_VAL); });
      }));
    } else {
      ids_.push_back(
          read_list<std::int64_t>(line["answers"], [](const Field& id) { return id.integer(-kMax, kMax); }));
    }
  }

  std::vector<std::vector<std::int64_t>> ids_;
  std::vector<std::vector<std::vector<double>>> logits_;
};

/// Returns the row of each sample, in order.
std::vector<size_t> match_rows(const Answers& answers, const SampleSet& set, const std::string& file) {
  constexpr size_t kNone = -1;
  // If there are fewer rows than samples, one of the first samples is missing.
  std::vector<size_t> rows(std::min<size_t>(set.count, answers.index.size() + 1), kNone);
  const auto first = static_cast<std::int64_t>(set.first), last = first + static_cast<std::int64_t>(set.count) - 1;
  for (size_t row = 0; row < answers.index.size(); ++row) {
    const std::int64_t index = answers.index[row];
    if (index < first || index > last)
      refuse_answers(file,
                     fmt::format("sample {} is not in the range {} to {} of its manifest", index, first, last));
    if (static_cast<size_t>(index - first) >= rows.size()) continue;
    size_t& at = rows[static_cast<size_t>(index - first)];
    if (at != kNone) refuse_answers(file, fmt::format("sample {} occurs in it twice", index));
    at = row;
  }
  const auto missing = std::ranges::find(rows, kNone);
  if (missing != rows.end())
    refuse_answers(file, fmt::format("sample {} is missing; expected {} to {}", first + (missing - rows.begin()),
                                     first, last));
  return rows;
}

/// Returns the size of a test at a multiple of a trained value, which is that of a run; empty for other samples.
std::optional<TestSize> size_of(const SampleSet& set) {
  if (!set.point) return std::nullopt;
  return test_size(set.task->options.evaluation, set.point->multiple);
}

/// Throws InputError if a test at a multiple of a trained value has fewer samples than that of a run.
void check_decided(const SampleSet& set, const SplitResult& result, const std::string& file) {
  const std::optional<TestSize> size = size_of(set);
  if (size && set.first != 0) refuse_answers(file, fmt::format("it begins with sample {}, expected 0", set.first));
  if (!size || size->is_enough(result.sequences, result.sequence)) return;
  refuse_answers(file, fmt::format("{} samples do not decide whether 0.90 of the sequences are right; answer {}",
                                   result.sequences, size->most));
}

/// Moves the answered points into the result until the grid ends. Throws InputError if one occurs twice or a
/// smaller one is missing.
void add_points(std::vector<GridPoint> answered, const TaskGrid& grid, const EvaluationOptions& options,
                const std::string& who, GridResult& result) {
  std::ranges::sort(answered, {}, &GridPoint::multiple);
  const auto refuse = [&](double multiple, const char* what) {
    throw InputError(fmt::format("the answers to '{}' of {} {}; score those to each multiple once",
                                 point_name(grid.option, multiple), who, what));
  };
  const auto twice = std::ranges::adjacent_find(answered, {}, &GridPoint::multiple);
  if (twice != answered.end()) refuse(twice->multiple, "occur twice");
  for (const GridPoint& point : answered) {
    const double expected = grid.points[result.points.size()].multiple;
    if (point.multiple != expected) refuse(expected, "are missing");
    result.points.push_back(point);
    if (is_last(grid, result, options)) return;
  }
}

}  // namespace

std::unique_ptr<Answers> read_answers(const std::filesystem::path& path) {
  const bool is_lines = lower_case(path.extension().string()) == ".jsonl";
  return within_memory(path, [&]() -> std::unique_ptr<Answers> {
    if (is_lines) return std::make_unique<LineAnswers>(path);
    return std::make_unique<ArrayAnswers>(path);
  });
}

SplitResult score(const Answers& answers, const SampleSet& set, const std::string& file) {
  const std::vector<size_t> rows = match_rows(answers, set, file);
  const int vocabulary = set.task->model_config.vocabulary;
  const auto is_finite = [](double x) { return std::isfinite(x); };
  Tally tally;
  std::vector<double> logits;
  const std::optional<TestSize> size = size_of(set);
  for (std::uint64_t n = 0; n < set.count; ++n) {
    if (size && size->is_enough(static_cast<std::int64_t>(n), tally.sequence())) break;
    const auto [example, length] = set.sample(set.first + n);
    const size_t row = rows[n];
    const std::string sample = fmt::format("sample {}", set.first + n);
    if (answers.columns(row) < static_cast<std::int64_t>(example.scored.size())) {
      refuse_answers(file, fmt::format("{} has {} scored positions, and answers for {}", sample,
                                       example.scored.size(), answers.columns(row)));
    }
    std::vector<ScoredAnswer> scored;
    for (size_t column = 0; column < example.scored.size(); ++column) {
      const int target = example.targets[static_cast<size_t>(example.scored[column])];
      if (!answers.has_logits()) {
        const std::int64_t id = answers.id(row, column);
        if (id < 0 || id >= vocabulary) {
          refuse_answers(file, fmt::format("{}: the answer at scored position {} is {}, expected 0 to {}", sample,
                                           column, id, vocabulary - 1));
        }
        scored.push_back({.right = id == target});
        continue;
      }
      answers.logits(row, column, logits);
      if (logits.size() != static_cast<size_t>(vocabulary)) {
        refuse_answers(file, fmt::format("{} has {} logits at a position, expected {}, the vocabulary", sample,
                                         logits.size(), vocabulary));
      }
      logits.resize(static_cast<size_t>(set.stream().num_outputs()));
      if (!std::ranges::all_of(logits, is_finite))
        refuse_answers(file, fmt::format("{}: a logit at scored position {} is {}, expected a finite number",
                                         sample, column, *std::ranges::find_if_not(logits, is_finite)));
      scored.push_back(score_answer(logits, example.candidates, target));
    }
    tally.add(example, length, scored);
  }
  SplitResult result = tally.result();
  check_decided(set, result, file);
  if (result.token.total == 0) refuse_answers(file, "none of its samples has a scored position");
  return result;
}

std::vector<GridResult> AnsweredGrids::join(const TaskSetup& task, const std::string& who) const {
  const EvaluationOptions& options = task.options.evaluation;
  std::vector<GridResult> results;
  for (const TaskGrid& grid : task.grids) {
    if (grid.points.empty()) copy_near_grid(grid, results);
    const auto answered = points.find(grid.option);
    if (answered == points.end()) continue;
    GridResult result{.option = grid.option};
    add_points(answered->second, grid, options, who, result);
    if (!is_last(grid, result, options)) {
      const auto end = ends.find(grid.option);
      if (end == ends.end()) {
        throw InputError(fmt::format(
            "the answers to '{}' of {} are missing; add them, or state in model.grid_end why the model has none",
            point_name(grid.option, grid.points[result.points.size()].multiple), who));
      }
      result.end = GridEnd::encoding;
      result.reason = end->second;
    } else if (!grid.limit.empty()) {
      result.end = GridEnd::task;
      result.reason = grid.limit;
    }
    results.push_back(ended(std::move(result)));
  }
  return results;
}

}  // namespace posbench
