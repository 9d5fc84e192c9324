#pragma once
#include <stdexcept>

namespace posbench {

/// A file could not be read or written. Not thrown for invalid content.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace posbench
