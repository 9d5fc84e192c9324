// The part of `posbench show` for claims.
#pragma once
#include <string>

namespace posbench {

/// Returns the text of the claim with this name. Empty if there is none.
std::string show_claim(const std::string& name);

}  // namespace posbench
