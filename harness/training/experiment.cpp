#include "harness/training/experiment.h"

#include <vector>

namespace posbench {

std::vector<ExperimentId> Experiment::ids() const {
  std::vector<ExperimentId> ids{id()};
  for (const Extension& extension : extensions)
    ids.push_back({task->spec, extension.label(encoding.text()), seed});
  return ids;
}

}  // namespace posbench
