// Files that survive what happens to the process and to the machine.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_error.h"

namespace posbench {

/// An open file.
class File {
 public:
  /// `flags` as of open(2). Throws FileError, as all below.
  File(std::filesystem::path, int flags);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  void write(std::string_view text);
  std::string read();  // the rest of it
  void flush();        // to the disk
  off_t size() const;
  void truncate(off_t size);
  /// Takes the file for this process until it is closed, however the process ends. False where another has it.
  bool lock();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_;
  int descriptor_;
};

/// Writes a whole file by a temporary one beside it and a rename, flushed to disk.
void write_file(const std::filesystem::path&, std::string_view text);
std::string read_file(const std::filesystem::path&);
/// Inside a folder that is there.
void make_folder(const std::filesystem::path&);

}  // namespace posbench
