// Takes over finished experiments of earlier runs, so that a run with more seeds, encodings or tasks does not
// train them again.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"

namespace posbench {

struct ReusedResults {
  std::map<ExperimentId, FinishedExperiment>
      finished;                      // an experiment is here with all its extensions, or not at all
  std::vector<std::string> notes;    // a line for each run that gives experiments
  std::vector<std::string> useless;  // a line for each run that gives none, with the reason
};

/// Reads the experiments of other runs or reports that the suite has too: with the same task, encoding, seed,
/// settings, splits and version of the task. Experiments that diverged or failed are left out. Throws InputError
/// if a report is not of a run, or if a run used a plug-in that is not loaded.
ReusedResults read_reusable(const Suite&, const std::vector<std::filesystem::path>& runs);

/// Throws InputError if the models of a report were trained by another program, or with a plug-in that is not
/// loaded.
void check_origin(const std::string& name, const Report&);

/// Removes the experiments that are reused.
void leave_out_reused(Suite&, const ReusedResults&);

}  // namespace posbench
