// Registers other names of encodings, by which papers call them.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

/// Lets specs and commands name an encoding by its aliases, which are in lower case. The file of the encoding has
/// this object next to its registration. Several encodings may have the same alias; users must then choose one of
/// them.
struct RegisterAliases {
  RegisterAliases(const std::string& encoding, const std::vector<std::string>& aliases);
};

/// Registers names of methods that are an encoding with options: "yarn" is interpolated with method=yarn.
struct RegisterMethods {
  /// `methods`: the options of each name.
  RegisterMethods(const std::string& encoding, const std::map<std::string, std::string>& methods);
};

/// Returns the options that an alias stands for, such as "method=yarn", regardless of case; "" if it has none.
std::string options_of_alias(std::string_view alias);

/// Returns the registered names of the encodings with an alias, regardless of case.
std::vector<std::string> encodings_called(std::string_view alias);

/// Returns the aliases of an encoding, in the order of its registration.
std::vector<std::string> aliases_of(const std::string& encoding);

/// Returns all aliases of exactly one encoding, sorted.
std::vector<std::string> unique_aliases();

}  // namespace posbench::inline POSBENCH_REAL
