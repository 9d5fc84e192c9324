// Takes over finished experiments of earlier runs, so that a run with more seeds, encodings or tasks does not train
// them again.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/runs/run_record.h"
#include "harness/runs/suite.h"

namespace posbench {

struct ReusedResults {
  std::map<ExperimentId, FinishedExperiment> finished;
  std::vector<std::string> notes;  // a line for each run that gave experiments
};

/// Reads the experiments of other runs or reports that the suite has too: with the same task, encoding, seed, settings
/// and version of the task. Experiments that diverged or failed are left out. Throws InputError if a run has none of
/// this suite, or if it used a plug-in that is not loaded.
ReusedResults read_reusable(const Suite&, const std::vector<std::filesystem::path>& runs);

/// Removes the experiments whose results are all reused.
void leave_out_finished(Suite&, const ReusedResults&);

}  // namespace posbench
