// Merges many reports into a board: every encoding on every task, in tiers, with its accuracy and cost.
//
// The program contains the stored reports. The user's reports are added to them. Experiments of one task and
// encoding pool their seeds over the stored reports, which must have the same settings. An encoding of the user
// that the board has too is another row, named with its report.
//
// A model with a recurrent block or with the layers of a profile, such as kimi_linear, is an "other model". Its
// row has the name of the block or the profile, and is compared with no encoding.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/statistics/effective_length.h"
#include "results/statistics/learned.h"
#include "results/statistics/verdict.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// Core time of a training step with each encoding, divided by that with plain attention.
using Costs = std::map<std::string, double>;

/// All reports merged into one. The user's experiments have other names than the stored ones.
struct BoardReport {
  Report report;
  Report other_models;  // their experiments, with the name of the model as encoding
  std::set<ExperimentId> user_experiments;
  std::set<std::string> stored_tasks;  // of the stored reports
  std::vector<std::string> warnings;
  Costs costs;  // those of the stored encodings, and of the user's if they are known
  FindMark find_mark;
};

/// A model with other layers than those of the board.
struct OtherModel {
  std::string name;      // of its block or profile
  std::string encoding;  // its usual one; the row of another one is called "NAME (ENCODING)"
  Json settings;         // config.model; what the block or the profile sets has the value of the board
};

/// Facts about tasks and models that the reports do not contain. An empty function finds nothing.
struct BoardLookups {
  FindMark mark_of = {};
  /// Returns which other model the report has; nullopt if it has that of the board.
  std::function<std::optional<OtherModel>(const Report&)> other_model_of = {};
};

/// Merges the stored reports and those of the user. Estimates the costs of the user's encodings from their seconds
/// for each step, relative to those of encodings in the same report whose cost is known. Throws InputError if two
/// reports have the same task with other samples or, unless that is allowed, another budget.
BoardReport merge_board(std::span<const NamedReport> stored, std::span<const NamedReport> users,
                        const Costs& known, bool allow_different_budget, const BoardLookups& = {});

/// The accuracy that decides the tiers. `split` is a split, or a kind of splits: "in_distribution" or
/// "out_of_distribution".
struct BoardOptions {
  std::string split = "out_of_distribution";
  Metric metric = Metric::sequence;  // an accuracy
};

/// One encoding or other model on one task.
struct BoardRow {
  std::string encoding;
  bool is_users = false;              // not in a stored report
  bool is_other_model = false;        // `encoding` is its name, and the row is in no tier
  Verdict status = Verdict::in_tier;  // or too_few_seeds or not_learned
  std::optional<int> tier;            // from 1; empty if the row is in no tier
  /// A later tier has an encoding with a higher mean, because the seeds of this row vary too much for a test.
  bool unsettled = false;
  std::vector<double> values;             // the accuracy that decides, of each seed
  double mean = 0;                        // of these
  std::optional<double> in_distribution;  // the mean over seeds and splits; empty if there is no such split
  std::optional<EffectiveLength> effective_length,
      effective_far;  // empty without a grid of lengths, of far evidence
  Learned learned;
  int unfinished = 0;  // experiments that diverged or failed, and count as 0
  std::optional<double> cost;
};

/// Counts all encodings of a task, whichever rows are shown.
struct BoardTaskSummary {
  size_t encodings = 0, learned = 0;
  std::vector<std::string> keep;          // encodings with kKept or more on the split that decides, by their tiers
  std::optional<BoardRow> best;           // of those that have learned it
  size_t ties = 0;                        // other encodings with the mean of the best
  std::vector<std::string> other_models;  // that have learned it
};

struct BoardTask {
  std::string task;
  std::string mark;                 // the mark of the task, or empty
  bool is_users = false;            // only reports of the user have it
  std::string split;                // as in BoardOptions
  std::vector<std::string> splits;  // whose mean decides
  int steps = 0;               // of the longest training of an experiment; early stopping may end others before
  std::vector<BoardRow> rows;  // by tier and mean; then those with too few seeds, then those that have not learned
  std::vector<BoardRow> other_models;  // they do not count among the encodings
  BoardTaskSummary summary;
};

struct Board {
  BoardOptions options;
  std::vector<BoardTask> tasks;  // as the reports list them; those that have the split
};

/// Puts encodings that have not learned the task into no tier if the split is out of distribution.
Board make_board(const BoardReport&, const BoardOptions& = {});

/// Returns the rows of the encodings, then those of other models.
std::vector<BoardRow> all_rows(const BoardTask&);

/// Returns the tasks that have a mark.
std::vector<std::string> marked_tasks(const Board&);

}  // namespace posbench
