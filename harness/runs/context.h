// Where and when a run was made, for the report's `context` and for `--version`.
#pragma once
#include <string>
#include <vector>

#include "results/json/json.h"

namespace posbench {

/// Machine, compiler, commit, library versions, plug-ins and the command, with the current time.
Json context(const std::vector<std::string>& command);

/// "posbench 0.1.0 (commit ...; GNU 12.2.0; -O3 ...; instruction set v4)".
std::string version();

/// The time now, in UTC: 2026-11-20T16:02:31Z.
std::string timestamp();

}  // namespace posbench
