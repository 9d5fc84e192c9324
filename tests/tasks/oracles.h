// An independent statement of every task: from what the model reads, the answers at the scored places. A new task
// owes one row here.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace posbench {

using Tokens = std::vector<int>;

/// The answers in the order of Example::scored. Reads tokens and scored places; must not read targets.
using Oracle = std::function<Tokens(const Example&)>;

const std::map<std::string, Oracle>& oracles();

}  // namespace posbench
