// Tells the errors of files that the user named from those of the file system.
#pragma once
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "base/error.h"

namespace posbench {

/// Returns "PATH: File name too long".
inline std::string text_of(const std::filesystem::filesystem_error& error) {
  return error.path1().string() + ": " + error.code().message();
}

/// Returns f(), which reads files that the user named. A file that is missing, not readable or invalid becomes an
/// InputError; a failure of the disk or of the machine stays a FileError.
template <class F>
auto read_user_files(F f) {
  const auto is_machine_error = [](int error) {
    constexpr int kMachine[] = {ENOSPC, EDQUOT, EFBIG, EIO, ENFILE, EMFILE, ENOMEM};
    return std::ranges::find(kMachine, error) != std::end(kMachine);
  };
  try {
    return f();
  } catch (const FileError& error) {
    if (is_machine_error(error.error())) throw;
    throw InputError(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    if (is_machine_error(error.code().value())) throw FileError(text_of(error), error.code().value());
    throw InputError(text_of(error));
  }
}

}  // namespace posbench
