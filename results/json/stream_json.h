// Writes JSON with a long list, whose items are not all in memory as JSON.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "results/json/json.h"

namespace posbench {

/// Returns the same text as to_indented_json() for the object `frame` with a list of `count` items under `key`, where
/// the frame has an empty list. `item` returns an item, which is an object with a list, by its index.
std::string to_indented_json(const Json& frame, const std::string& key, size_t count,
                             const std::function<Json(size_t index)>& item);

}  // namespace posbench
