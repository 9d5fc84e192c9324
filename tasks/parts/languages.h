// Finds formal languages by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "tasks/parts/language.h"

namespace posbench {

/// Returns the names of the languages.
const std::vector<std::string>& language_names();

/// Returns the language with this index in language_names(), for words of up to `longest` symbols.
std::unique_ptr<Language> make_language(int index, int longest);

}  // namespace posbench
