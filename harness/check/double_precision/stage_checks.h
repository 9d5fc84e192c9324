// Compares the gradients of every stage of an encoding with finite differences, for all inputs of the stage.
#pragma once
#include <string>

#include "harness/check/double_precision/finite_differences.h"
#include "harness/check/double_precision/fixture.h"

namespace posbench::inline POSBENCH_REAL {

/// Checks each stage alone, in the last layer of the model. Sets `stage` to the name of the stage that runs, for
/// exceptions.
void check_stages(Fixture&, const ModelConfig&, std::string& stage, Worst&);

}  // namespace posbench::inline POSBENCH_REAL
