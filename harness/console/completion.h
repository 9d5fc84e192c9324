// Completes commands, options and registered names in a shell.
#pragma once
#include <string>
#include <vector>

#include "harness/console/command.h"

namespace posbench {

/// Returns the script of a shell: bash, zsh or fish. It calls `posbench --complete WORDS` and offers what this
/// prints.
std::string completion_script(const std::string& shell);

/// Returns what completes the last of the words that follow the name of the program. The first line is "words",
/// "file BEFORE" or "folder BEFORE"; the shell completes files itself, after the text BEFORE of the word. Further
/// lines have a whole word each, and after a tab its description, if it has one.
std::string completions(const CommandLine&, const std::vector<std::string>& words);

}  // namespace posbench
