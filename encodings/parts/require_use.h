// Refuses options that have no effect with the other options.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// Throws InputError if `value` is not the default of the option and `user` does not use it. `user` is the setting
/// that decides, such as "method=linear".
template <class Value>
void require_use(std::string_view encoding, std::string_view option, const Value& value,
                 const std::type_identity_t<Value>& standard, bool is_used, std::string_view user) {
  if (is_used || value == standard) return;
  throw InputError(fmt::format("encoding '{0}': {1} is {2}, but {3} does not use it; leave out {1}", encoding,
                               option, value, user));
}

}  // namespace posbench::inline POSBENCH_REAL
