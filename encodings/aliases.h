// Registers other names of encodings, by which papers call them.
#pragma once
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

/// Returns the registered names of the encodings with an alias, regardless of case.
std::vector<std::string> encodings_called(std::string_view alias);

/// Returns the aliases of an encoding, in the order of its registration.
std::vector<std::string> aliases_of(const std::string& encoding);

/// Returns all aliases of exactly one encoding, sorted.
std::vector<std::string> unique_aliases();

}  // namespace posbench::inline POSBENCH_REAL
