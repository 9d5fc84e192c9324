// Reads and scores the answers of a model to samples, in a file that any program can write.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/exchange/sample_set.h"
#include "harness/training/task_setup.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Answers to samples, one row for each sample.
class Answers {
 public:
  virtual ~Answers() = default;

  std::vector<std::int64_t> index;                     // the sample of each row
  virtual bool has_logits() const = 0;                 // instead of ids
  virtual std::int64_t columns(size_t row) const = 0;  // the number of positions that the row answers
  virtual std::int64_t id(size_t row, size_t column) const = 0;
  /// Reads logits or log-probabilities of the vocabulary. The caller must check their number.
  virtual void logits(size_t row, size_t column, std::vector<double>&) const = 0;
};

/// Reads a .safetensors or .jsonl file. Throws InputError if it is invalid.
std::unique_ptr<Answers> read_answers(const std::filesystem::path&);

/// Returns the accuracy of the answers, and their loss and margin if they are logits. Throws InputError unless the
/// file has each sample of the set once and no other sample.
SplitResult score(const Answers&, const SampleSet&, const std::string& file);

/// The multiples of one task, model and seed that were answered.
struct AnsweredGrids {
  std::map<std::string, std::vector<GridPoint>> points;  // by the option of the grid, in any order
  std::map<std::string, std::string> ends;  // the reason why the model does not answer larger multiples, by option

  void add(const TaskGrid& grid, const GridPoint& point) { points[grid.option].push_back(point); }
  /// Returns the grids of the task as a run ends them. A grid without answers is left out, and multiples after its
  /// end are not read. Throws InputError, which names the model by `who`, if a multiple is missing or occurs
  /// twice.
  std::vector<GridResult> join(const TaskSetup&, const std::string& who) const;
};

}  // namespace posbench
