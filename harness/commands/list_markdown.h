// Writes the pages docs/tasks.md and docs/encodings.md for `posbench list --markdown`.
#pragma once
#include <string>

namespace posbench {

/// `kind` is tasks or encodings. Throws InputError for any other kind.
std::string registry_page(const std::string& kind);

}  // namespace posbench
