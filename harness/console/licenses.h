// The licence notices of what the program links and embeds.
#pragma once
#include <string>

namespace posbench {

/// posbench's own licence in a line, then each library with its notice: what `--licenses` prints.
std::string license_notices();

}  // namespace posbench
