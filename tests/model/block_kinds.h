// Lists the registered kinds of blocks for tests that run with each of them.
#pragma once
#include <string>
#include <vector>

#include "model/block.h"

namespace posbench {

/// Returns the kinds with a recurrent layer, or those with attention.
inline std::vector<std::string> block_kinds(bool recurrent) {
  std::vector<std::string> kinds = blocks().names();
  std::erase_if(kinds, [&](const std::string& kind) { return blocks().find(kind).is_recurrent() != recurrent; });
  return kinds;
}

}  // namespace posbench
