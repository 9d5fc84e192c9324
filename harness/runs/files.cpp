#include "harness/runs/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace posbench {
namespace {

namespace fs = std::filesystem;

/// The name of a new file, too; as far as the file system can.
void flush_folder(const fs::path& path) {
  const int folder = open(path.has_parent_path() ? path.parent_path().c_str() : ".", O_RDONLY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

}  // namespace

File::File(fs::path path, int flags)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("open");
}

File::~File() { close(descriptor_); }

void File::fail(const char* action) const {
  const int error = errno;
  throw FileError(fmt::format("cannot {} {}: {}", action, path_.string(), std::strerror(error)));
}

void File::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    text.remove_prefix(static_cast<size_t>(n));
  }
}

std::string File::read() {
  std::string text, chunk(1 << 20, '\0');
  for (;;) {
    const ssize_t n = ::read(descriptor_, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read");
    if (n == 0) return text;
    text.append(chunk, 0, static_cast<size_t>(n));
  }
}

void File::flush() {
  if (fsync(descriptor_) != 0) fail("write");
}

off_t File::size() const {
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) fail("read");
  return about.st_size;
}

void File::truncate(off_t size) {
  if (ftruncate(descriptor_, size) != 0) fail("shorten");
}

bool File::lock() {
  // Some network file systems cannot lock; there the user must see to it.
  return flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void write_file(const fs::path& path, std::string_view text) {
  const fs::path temporary = path.string() + ".tmp";
  try {
    {
      File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
      file.write(text);
      file.flush();
    }
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) throw FileError(fmt::format("cannot write {}: {}", path.string(), error.message()));
    flush_folder(path);
  } catch (const FileError&) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

std::string read_file(const fs::path& path) { return File(path, O_RDONLY).read(); }

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directory(path, error);
  if (error) throw FileError(fmt::format("cannot create {}: {}", path.string(), error.message()));
}

}  // namespace posbench
