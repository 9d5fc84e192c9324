// Returns the license notices of the linked and embedded libraries.
#pragma once
#include <string>

namespace posbench {

/// Returns the text of `--licenses`: the license of posbench in one line, then each library with its notice.
std::string license_notices();

}  // namespace posbench
