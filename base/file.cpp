#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/signals.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 1 << 20;  // bytes that are read at once
constexpr const char *kTemporaryPrefix = ".posbench-", *kTemporarySuffix = ".tmp";

[[noreturn]] void refuse(const char* action, const fs::path& path, int error) {
  throw FileError(fmt::format("cannot {} '{}': {}", action, path.string(), std::strerror(error)), error);
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// Returns the file to which a symbolic link leads, also if it does not exist yet.
fs::path follow_links(fs::path path) {
  std::error_code error;
  constexpr int kMostLinks = 40;  // as Linux follows
  for (int n = 0; n < kMostLinks && fs::is_symlink(path, error); ++n)
    path = folder_of(path) / fs::read_symlink(path);
  return path;
}

/// Returns whether a regular file exists that this process may write.
bool is_writable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), W_OK) == 0;
}

/// Returns whether an error means that a file cannot be created or renamed in a folder, which says nothing about
/// writing the files in it.
bool is_error_of_folder(int error) {
  constexpr std::array kErrors{EACCES, EBUSY, EPERM, EROFS, ETXTBSY, EXDEV};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

/// Throws InputError, which names `shown`, if this process cannot create files in a folder.
void check_writable(const fs::path& folder, const fs::path& shown) {
  if (access((folder / ".").c_str(), W_OK | X_OK) == 0) return;
  throw InputError(fmt::format("cannot create '{}': {}; create the folder or choose another -o", shown.string(),
                               std::strerror(errno)));
}

/// Returns the folder for temporary files, which TMPDIR may name.
fs::path temporary_folder() {
  std::error_code error;
  if (const fs::path folder = fs::temp_directory_path(error); !error) return folder;
  const char* const given = std::getenv("TMPDIR");
  throw InputError(fmt::format("the folder for temporary files is '{}', expected one that exists; correct TMPDIR",
                               given ? given : "/tmp"));
}

}  // namespace

fs::path temporary_name(const fs::path& folder) {
  static thread_local std::random_device random;
  return folder / fmt::format("{}{:08x}{:08x}{}", kTemporaryPrefix, random(), random(), kTemporarySuffix);
}

bool is_special(const fs::path& path) {
  struct stat about {
  }, open{};
  if (stat(path.c_str(), &about) != 0) return false;
  if (S_ISDIR(about.st_mode)) refuse("write", path, EISDIR);
  if (!S_ISREG(about.st_mode)) return true;
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(descriptor, &open) == 0 && open.st_dev == about.st_dev && open.st_ino == about.st_ino) return true;
  }
  std::error_code error;
  const std::string folder = fs::canonical(folder_of(path), error).string();
  return folder == "/dev" || folder.starts_with("/proc/");
}

File::File(fs::path path, int flags, fs::path shown)
    : path_(std::move(path)),
      shown_(shown.empty() ? path_ : std::move(shown)),
      descriptor_(open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("open");
}

File::~File() { close(descriptor_); }

void File::fail(const char* action) const { refuse(action, shown_, errno); }

void File::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void File::write_at(off_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = pwrite(descriptor_, text.data(), text.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    text.remove_prefix(static_cast<size_t>(n));
    offset += n;
  }
}

std::string File::read(std::uintmax_t max_size) {
  const auto check = [&](std::uintmax_t size) {
    if (size > max_size) throw InputError(fmt::format("{}: has more than {} bytes", shown_.string(), max_size));
  };
  std::string text, chunk(kBlock, '\0');
  const auto all = static_cast<std::uintmax_t>(size()), done = static_cast<std::uintmax_t>(offset());
  if (all > done) {  // 0 for a pipe
    check(all - done);
    text.reserve(all - done);
  }
  for (;;) {
    const size_t n = read(chunk.data(), chunk.size());
    if (n == 0) return text;
    text.append(chunk, 0, n);
    check(text.size());
  }
}

size_t File::read(char* to, size_t size) {
  for (;;) {
    const ssize_t n = ::read(descriptor_, to, size);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) fail("read");
  }
}

void File::flush() {
  constexpr std::array kCannotFlush{EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP};
  if (fsync(descriptor_) == 0 || std::ranges::find(kCannotFlush, errno) != kCannotFlush.end()) return;
  fail("write");
}

void File::rewind() {
  if (lseek(descriptor_, 0, SEEK_SET) != 0) fail("read");
}

void File::reserve(off_t size) {
  const off_t before = this->size();
  if (size <= before) return;
#ifdef __linux__
  const int error = posix_fallocate(descriptor_, 0, size);
  if (error == 0 || error == EINVAL || error == EOPNOTSUPP) return;
  truncate(before);
  refuse("write", shown_, error);
#endif
}

void File::take_mode(const fs::path& of) {
  struct stat about {};
  if (stat(of.c_str(), &about) != 0) return;
  const mode_t kept = fchown(descriptor_, about.st_uid, about.st_gid) == 0 ? 07777 : 01777;  // no setuid of others
  if (fchmod(descriptor_, about.st_mode & kept) != 0) fail("write");
}

/// Returns the current offset; 0 for a pipe.
off_t File::offset() const { return std::max<off_t>(lseek(descriptor_, 0, SEEK_CUR), 0); }

off_t File::size() const {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) fail("read");
  return about.st_size;
}

bool File::is_linked() const {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) fail("read");
  return about.st_nlink > 1;
}

void File::truncate(off_t size) {
  if (ftruncate(descriptor_, size) != 0) fail("shorten");
}

bool File::lock() {
  // Some network file systems cannot lock. The user must then make sure that only one process writes.
  return flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void File::check_in_place() const {
  struct stat mine {
  }, named{};
  if (fstat(descriptor_, &mine) != 0 || stat(path_.c_str(), &named) != 0) fail("write");
  if (mine.st_dev != named.st_dev || mine.st_ino != named.st_ino)
    throw FileError(fmt::format("cannot write '{}': another file has taken its place", shown_.string()));
}

OutputFile::OutputFile(const fs::path& path, Order order, Links links) : path_(path) {
  if (is_special(path)) special_ = std::make_unique<File>(path, O_WRONLY | O_APPEND);
  if (special_ && order == Order::sequential) {
    file_ = std::move(special_);
    return;
  }
  target_ = follow_links(path);
  struct stat about {};
  in_place_ = links == Links::keep && stat(target_.c_str(), &about) == 0 && about.st_nlink > 1;
  const auto create = [&](const fs::path& folder) {
    temporary_ = temporary_name(folder);
    add_temporary(temporary_);
    try {
      file_ = std::make_unique<File>(temporary_, O_RDWR | O_CREAT | O_EXCL, path);
    } catch (...) {
      drop_temporary(temporary_);
      temporary_.clear();
      throw;
    }
  };
  try {
    if (!special_) create(folder_of(target_));
  } catch (const FileError& error) {
    if (!is_error_of_folder(error.error()) || !is_writable_file(target_)) throw;
    in_place_ = true;
  }
  if (!file_) {
    create(temporary_folder());
    remove_temporary();  // the bytes stay until the file is closed
  } else if (!in_place_) {
    file_->take_mode(target_);
  }
}

/// Deletes the temporary file, unless it was renamed.
void OutputFile::remove_temporary() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove(temporary_, ignored);
  drop_temporary(temporary_);
  temporary_.clear();
}

OutputFile::~OutputFile() { remove_temporary(); }

void OutputFile::finish() {
  if (special_) return copy_to(*special_);
  if (temporary_.empty() && !in_place_) return;
  if (!in_place_) file_->flush();
  check_interrupted();
  if (in_place_) return write_in_place();
  try {
    rename_file(temporary_, target_);
    drop_temporary(std::exchange(temporary_, {}));
  } catch (const FileError& error) {
    if (!is_error_of_folder(error.error()) || !is_writable_file(target_)) throw;
    write_in_place();
  }
}

void OutputFile::copy_to(File& to) {
  std::string piece(kBlock, '\0');
  file_->rewind();
  while (const size_t n = file_->read(piece.data(), piece.size())) to.write({piece.data(), n});
}

/// Reserves the space before it writes, so that a full disk destroys nothing.
void OutputFile::write_in_place() {
  File target(target_, O_WRONLY, path_);
  target.reserve(file_->size());
  copy_to(target);
  target.truncate(file_->size());
  target.flush();
}

void write_file(const fs::path& path, std::string_view text, OutputFile::Links links) {
  OutputFile file(path, OutputFile::Order::sequential, links);
  file.write(text);
  file.finish();
}

std::string read_file(const fs::path& path, std::uintmax_t max_size) {
  return File(path, O_RDONLY).read(max_size);
}

void refuse_memory(const fs::path& path) {
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(path, ignored);
  throw FileError(fmt::format("out of memory while '{}'{} is read; use a smaller file, or more memory",
                              path.string(), ignored ? "" : fmt::format(" of {} bytes", size)),
                  ENOMEM);
}

void for_each_line(const fs::path& path, const std::function<void(std::string_view line, bool is_whole)>& f) {
  File file(path, O_RDONLY);
  std::string text;  // of the lines that were not passed on yet
  size_t searched = 0;
  for (;;) {
    const size_t size = text.size();
    text.resize(size + kBlock);
    const size_t n = file.read(text.data() + size, kBlock);
    text.resize(size + n);
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', std::max(begin, searched))) != text.npos; begin = end + 1)
      f(std::string_view(text).substr(begin, end - begin), true);
    text.erase(0, begin);
    searched = text.size();
    if (n > 0) continue;
    if (!text.empty()) f(text, false);
    return;
  }
}

void check_output_file(const fs::path& file) {
  const fs::path target = follow_links(file);
  if (!is_special(file) && !is_writable_file(target)) check_writable(folder_of(target), file);
}

void check_output_folder(const fs::path& folder, const fs::path& shown) {
  std::error_code error;
  fs::path existing = folder;
  while (!existing.empty() && !fs::exists(existing, error)) existing = existing.parent_path();
  check_writable(existing.empty() ? "." : existing, shown);
}

void make_folder(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return;
  const fs::path name = path.has_filename() ? path : path.parent_path();  // "run/" is "run"
  if (name.has_parent_path() && name.parent_path() != name) make_folder(name.parent_path());
  if (mkdir(name.c_str(), 0777) != 0 && (errno != EEXIST || !fs::is_directory(name, error)))
    refuse("create", path, errno);
  flush_folder(folder_of(name));
}

bool make_new_folder(const fs::path& path) {
  if (path.has_parent_path()) make_folder(path.parent_path());
  if (mkdir(path.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    refuse("create", path, errno);
  }
  flush_folder(folder_of(path));
  return true;
}

void rename_file(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) refuse("write", to, errno);
  flush_folder(folder_of(to));
}

void remove_file(const fs::path& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) refuse("remove", path, errno);
}

void flush_folder(const fs::path& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

bool is_temporary(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kTemporaryPrefix) && name.ends_with(kTemporarySuffix);
}

}  // namespace posbench
