// The board: what many reports say together about every encoding on every task, in tiers instead of ranks, with the
// cost beside the accuracy.
//
// Reports of the board are kept with the program; a user's own are added to them. Experiments of one task and encoding
// pool their seeds over the kept reports, which must have the same settings. An own encoding that the board has too is
// another row, named with its report.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/statistics/learned.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// Core time of a training step with each encoding, beside one with plain attention.
using Costs = std::map<std::string, double>;

/// All reports in one. Own experiments have names that no kept one has.
struct BoardReport {
  Report report;
  std::set<ExperimentId> own;
  std::vector<std::string> warnings;
  Costs costs;  // those of the kept encodings, and of own ones as far as they can be known
};

/// Costs of own encodings follow from their seconds for each step, beside those of encodings in the same report whose
/// cost is known. Throws std::runtime_error, with the reason, if two reports have the same task with other samples or,
/// unless that is allowed, another budget.
BoardReport merge_board(std::span<const NamedReport> kept, std::span<const NamedReport> own, const Costs& known,
                        bool allow_different_budget);

/// What decides: a split by its name, or the mean over a kind of splits, "in_distribution" or "out_of_distribution".
struct BoardOptions {
  std::string split = "out_of_distribution";
  Metric metric = Metric::sequence;  // an accuracy
};

enum class Standing { in_tier, too_few_seeds, not_learned };

/// One encoding on one task.
struct BoardRow {
  std::string encoding;
  bool own = false;
  Standing standing = Standing::in_tier;
  std::optional<int> tier;                    // from 1; set if it stands in one
  bool unsettled = false;                     // the mean is below one in a later tier: its seeds differ too much to tell
  std::vector<double> values;                 // the accuracy that decides, of each seed
  double mean = 0;                            // of these
  std::optional<double> in_distribution;      // the mean over seeds and splits; empty if there is no such split
  Learned learned;
  int unfinished = 0;                         // experiments that diverged or failed, and count as 0
  std::optional<double> cost;
};

struct BoardTask {
  std::string task;
  std::string split;  // as in BoardOptions
  std::vector<std::string> splits;  // whose mean decides
  int steps = 0;                    // of the longest training of an experiment; early stopping may end others before
  std::vector<BoardRow> rows;  // by tier and mean; then those with too few seeds, then those that have not learned
};

struct Board {
  BoardOptions options;
  std::vector<BoardTask> tasks;  // as the reports list them; those that have the split
};

/// Out of distribution, encodings that have not learned the task stand in no tier.
Board make_board(const BoardReport&, const BoardOptions& = {});

}  // namespace posbench
