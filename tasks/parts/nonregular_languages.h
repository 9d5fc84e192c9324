// Declares formal languages that no finite automaton accepts.
#pragma once
#include <memory>

#include "tasks/parts/language.h"

namespace posbench {

std::unique_ptr<Language> make_majority();
std::unique_ptr<Language> make_unmarked_reversal();
std::unique_ptr<Language> make_marked_copy();
std::unique_ptr<Language> make_missing_duplicate();

}  // namespace posbench
