#pragma once
#include <stdexcept>
#include <string>

namespace posbench {

/// A file could not be read or written. Not thrown for invalid content.
class FileError : public std::runtime_error {
 public:
  /// `error` is the value of errno, or 0.
  explicit FileError(const std::string& what, int error = 0) : std::runtime_error(what), error_(error) {}
  int error() const { return error_; }

 private:
  int error_;
};

}  // namespace posbench
