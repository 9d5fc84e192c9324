// Reads files, and writes them so that they survive a crash of the process or of the machine. No other source file
// opens files for writing.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/error.h"

namespace posbench {

/// An open file.
class File {
 public:
  /// `flags` are those of open(2). Messages name `shown`, if it is given. Throws FileError, as do all functions
  /// below.
  File(std::filesystem::path, int flags, std::filesystem::path shown = {});
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  void write(std::string_view text);
  void write_at(off_t offset, std::string_view text);
  /// Reads from the current offset to the end. Throws InputError if that is more than `max_size` bytes.
  std::string read(std::uintmax_t max_size = std::numeric_limits<std::uintmax_t>::max());
  /// Reads up to `size` bytes into `to`. Returns their number, which is 0 at the end.
  size_t read(char* to, size_t size);
  /// Writes to the disk, if the file system can flush files: some network and FUSE file systems cannot.
  void flush();
  /// The next read() begins at the first byte.
  void rewind();
  /// Makes a shorter file this large, with zeros, if the file system can reserve the space. If the space is
  /// missing, the file keeps its size.
  void reserve(off_t size);
  /// Gives the file the mode of another, and its owner if this process may do that.
  void take_mode(const std::filesystem::path& of);
  off_t size() const;
  /// Returns true if the file has several names (hard links).
  bool is_linked() const;
  void truncate(off_t size);
  /// Locks the file for this process until it is closed or the process ends. Returns false if another process has
  /// locked it.
  bool lock();
  /// Throws if the path no longer leads to this file: it was moved, removed or replaced.
  void check_in_place() const;

 private:
  off_t offset() const;
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path path_, shown_;
  int descriptor_;
};

/// Writes a file in pieces: into a temporary file in the same folder, which is flushed to disk and renamed at the
/// end, so that at any moment the path has the old text or the new one. Follows a symbolic link, also to a file
/// that does not exist yet. Keeps the mode of an old file. Writes into a special file (a pipe, a device, standard
/// output) without replacing it, and in place at the end into a file that cannot be replaced: its folder is
/// read-only, or it is a mount point.
class OutputFile {
 public:
  /// `anywhere` has write_at instead of write. A special file then gets the whole text at the end, through a file
  /// without a name in the folder for temporary files.
  enum class Order { sequential, anywhere };
  /// `keep` also writes into a file with several names (hard links) in place. `replace` leaves the other names
  /// their text, as those of a backup of a run.
  enum class Links { keep, replace };

  explicit OutputFile(const std::filesystem::path&, Order = Order::sequential, Links = Links::keep);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // deletes the temporary file, if finish() was not called

  void write(std::string_view text) { file_->write(text); }
  void write_at(off_t offset, std::string_view text) { file_->write_at(offset, text); }
  /// Throws Interrupted, too.
  void finish();

 private:
  void remove_temporary();
  void copy_to(File&);
  void write_in_place();

  std::filesystem::path path_, target_, temporary_;
  bool in_place_ = false;
  std::unique_ptr<File> file_, special_;  // special_ gets the bytes of file_
};

/// Writes a whole file as OutputFile does.
void write_file(const std::filesystem::path&, std::string_view text,
                OutputFile::Links links = OutputFile::Links::keep);
/// Reads a whole file or pipe. Throws InputError if it has more than `max_size` bytes.
std::string read_file(const std::filesystem::path&,
                      std::uintmax_t max_size = std::numeric_limits<std::uintmax_t>::max());

/// Throws FileError: the content of a file needs more memory than there is.
[[noreturn]] void refuse_memory(const std::filesystem::path&);
/// Returns f(), which reads a file that the user named. Calls refuse_memory() if memory runs out.
template <class F>
auto within_memory(const std::filesystem::path& file, F f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    refuse_memory(file);
  }
}

/// Calls f with each line of a file, without its line break, and with true if it has one: the last may have none.
void for_each_line(const std::filesystem::path&,
                   const std::function<void(std::string_view line, bool is_whole)>& f);

/// Returns whether a file must be written in place: a pipe or a device, this process's standard output or error,
/// or a name under /dev or /proc that leads to an open descriptor. Throws FileError for a folder.
bool is_special(const std::filesystem::path&);

/// Throws InputError if a file cannot be written: it does not exist, and its folder is missing or not writable.
void check_output_file(const std::filesystem::path& file);
/// Throws InputError, which names `shown`, if nothing can be created in a folder, or in the nearest of its parents
/// that exists.
void check_output_folder(const std::filesystem::path& folder, const std::filesystem::path& shown);

/// Creates a folder and the parents that are missing, each flushed to disk. Does nothing if the folder exists.
void make_folder(const std::filesystem::path&);
/// Creates a folder as make_folder() does. Returns false if something has its path already.
bool make_new_folder(const std::filesystem::path&);
/// Renames a file within its folder and flushes the folder to disk.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Deletes a file. Does nothing if the file does not exist.
void remove_file(const std::filesystem::path&);
/// Flushes the names of a folder's files to disk, if the file system can do so.
void flush_folder(const std::filesystem::path&);

/// Returns whether a file has a name of the temporary files of write_file.
bool is_temporary(const std::filesystem::path&);
/// Returns a new path of that form in a folder, unique among processes.
std::filesystem::path temporary_name(const std::filesystem::path& folder);

}  // namespace posbench
