#pragma once
#include <stdexcept>

namespace posbench {

/// A file could not be written or read: not the fault of what was to be written.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace posbench
