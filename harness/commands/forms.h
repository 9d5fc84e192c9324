// Finds the form of a command that an argument and its options mean, as in `check NAME` and `check REPORT`.
#pragma once
#include <string>
#include <vector>

#include "harness/console/command.h"

namespace posbench {

enum class Subject { task, encoding, path, unknown };

/// Returns what an argument names: a task or an encoding, with or without options, or a file or folder. Throws
/// InputError if a run has the name of a task or an encoding.
Subject subject_of(const std::string& argument);

/// A form of a command.
struct Form {
  std::string usage;                 // "posbench check REPORT"
  std::vector<std::string> options;  // that not all forms have
};

/// Throws InputError if an option is given that the form does not have.
void check_options(const Command&, const std::vector<Form>& forms, const Form& used);

/// Returns the usage of all forms, separated by commas.
std::string usages(const std::vector<Form>& forms);

}  // namespace posbench
