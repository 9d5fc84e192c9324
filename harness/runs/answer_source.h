// Where the answer of a scored position stands in what the model read.
#pragma once
#include <optional>
#include <string>

#include "model/tensor.h"
#include "tasks/task.h"

namespace posbench {

/// The token that holds the answer of scored position n. Empty for tasks whose answers no single token holds, or whose
/// distances do not tell which.
std::optional<Index> answer_source(const std::string& task_name, const Example&, size_t n);

}  // namespace posbench
