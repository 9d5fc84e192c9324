// States where and when a run was made, for the report's `context` and for `--version`.
#pragma once
#include <string>
#include <vector>

#include "results/json/json.h"

namespace posbench {

/// Returns machine, compiler, commit, library versions, plug-ins, command and the current time.
Json provenance(const std::vector<std::string>& command);

/// Returns the first plug-in in the context of a run that is not loaded, or was loaded from a file with other
/// bytes; "" if there is none.
std::string missing_plugin(const Json& context);

/// Returns "posbench 0.2.0 (commit ...; GNU 12.2.0; -O3 ...; instruction set v4)".
std::string version();

/// Returns an entry of BibTeX with the version and the commit.
std::string citation();

/// Returns the current time in UTC: 2026-11-20T16:02:31Z.
std::string timestamp();

}  // namespace posbench
