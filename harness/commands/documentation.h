// The pages docs/tasks.md and docs/encodings.md, written from the registries and from measurements.
#pragma once
#include <string>

namespace posbench {

/// `what` is tasks or encodings; throws std::invalid_argument for anything else.
std::string page(const std::string& what);

}  // namespace posbench
