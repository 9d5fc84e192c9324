// Registers names of methods that are an encoding with options, such as YaRN.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// Makes "yarn" an alias of interpolated that stands for method=yarn. The file of the encoding has this object
/// next to its registration.
struct RegisterMethods {
  /// `methods`: the options of each name, which is in lower case.
  RegisterMethods(const std::string& encoding, const std::map<std::string, std::string>& methods);
};

/// Returns the options that an alias stands for, such as "method=yarn", regardless of case; "" if it has none.
std::string options_of_alias(std::string_view alias);

}  // namespace posbench::inline POSBENCH_REAL
