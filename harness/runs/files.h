// Files that survive a crash of the process or of the machine.
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
  /// `flags` as of open(2). Throws FileError, as all below; messages name `shown` where it is given.
  File(std::filesystem::path, int flags, std::filesystem::path shown = {});
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  void write(std::string_view text);
  void write_at(off_t offset, std::string_view text);
  std::string read();  // from the current offset to the end
  void flush();        // to the disk
  off_t size() const;
  void truncate(off_t size);
  /// Locks the file for this process until it is closed, however the process ends. False where another process has
  /// locked it.
  bool lock();
  /// Throws if the path no longer leads to this file: it was moved, removed or replaced.
  void check_in_place() const;

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_, shown_;
  int descriptor_;
};

/// Writes a whole file: a new temporary file beside it, flushed to disk, then renamed to it, so that at any moment the
/// path has the old text or the new one. A symbolic link is followed. A path that is not a regular file (a pipe, a
/// terminal, /dev/null, /dev/stdout) is not replaced; the text is written into it.
void write_file(const std::filesystem::path&, std::string_view text);
std::string read_file(const std::filesystem::path&);

/// Creates a folder and the parents that are missing, each flushed to disk. Does nothing where it exists.
void make_folder(const std::filesystem::path&);
/// Renames a file within its folder and flushes the folder to disk.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Deletes a file where there is one.
void remove_file(const std::filesystem::path&);
/// Flushes the names of a folder's files to disk, where the file system can.
void flush_folder(const std::filesystem::path&);

/// Whether a file's name is one that write_file gives its temporary files.
bool is_temporary(const std::filesystem::path&);

}  // namespace posbench
