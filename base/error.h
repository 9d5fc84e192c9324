// Defines the two kinds of errors that posbench reports to its user. Any other exception is a defect of posbench.
#pragma once
#include <stdexcept>
#include <string>

namespace posbench {

/// The user gave something invalid: an option, a configuration or the content of a file. The text is one line that
/// states what was given, what was expected and what to do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file system failed: a file could not be read or written. Not thrown for invalid content.
class FileError : public std::runtime_error {
 public:
  /// `error` is the value of errno, or 0.
  explicit FileError(const std::string& what, int error = 0) : std::runtime_error(what), error_(error) {}
  int error() const { return error_; }

 private:
  int error_;
};

}  // namespace posbench
