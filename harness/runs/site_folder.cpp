#include "harness/runs/site_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "results/json/checksum.h"
#include "results/json/json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "posbench-site.json";
constexpr const char* kWrittenBy = "posbench site";
constexpr std::uintmax_t kMaxMarker = 10'000'000;  // bytes

/// Returns a new folder next to another.
fs::path make_temporary_folder(const fs::path& path) {
  const fs::path folder = temporary_name(path.parent_path());
  make_folder(folder);
  return folder;
}

/// Deletes a folder and what it contains when it goes out of scope.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_new_file(const fs::path& path, const std::string& text) {
  make_folder(path.parent_path());
  File file(path, O_WRONLY | O_CREAT | O_EXCL);
  file.write(text);
  file.flush();
}

std::string marker_text(std::span<const SiteFile> files) {
  Json json{{"schema_version", 1}, {"written_by", kWrittenBy}, {"files", Json::array()}};
  for (const SiteFile& file : files) json["files"].push_back(file.path);
  return to_file_json(json);
}

/// Returns the files that the marker of a site lists. Throws InputError if the folder has no valid marker.
std::set<std::string> read_marker(const fs::path& folder) {
  const fs::path path = folder / kMarker;
  if (!fs::is_regular_file(fs::symlink_status(path))) {
    throw InputError(fmt::format(
        "'{}' was not written by 'posbench site', because it has no {}; choose another directory with -o",
        folder.string(), kMarker));
  }
  const std::string name = path.string();
  const std::string text = read_file(path, kMaxMarker);
  const Json json = parse_json(text, name);
  check_checksum(text, name);
  const Field marker(json, name);
  const Field writer = marker["written_by"], files = marker["files"];
  if (writer.text() != kWrittenBy) writer.fail(fmt::format("expected '{}'", kWrittenBy));
  std::set<std::string> names{kMarker};
  for (const std::string& file : read_list<std::string>(files, [](const Field& item) { return item.text(); }))
    names.insert(file);
  return names;
}

/// Throws InputError if the folder has something that is not a file of the site.
void check_content(const fs::path& folder) {
  const std::set<std::string> known = read_marker(folder);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (fs::is_directory(entry.symlink_status())) continue;
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (known.contains(name)) continue;
    throw InputError(fmt::format(
        "'{}' has the file '{}', which 'posbench site' did not write; move it, or choose another directory with -o",
        folder.string(), name));
  }
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw FileError(fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)), error);
}

/// Exchanges two folders in one step and returns 0, or another number if the file system cannot do that.
int exchange_at_once(const fs::path& one, const fs::path& other) {
#ifdef __APPLE__
  return renamex_np(one.c_str(), other.c_str(), RENAME_SWAP);
#else
  return renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
#endif
}

/// Exchanges two folders. File systems that cannot do that in one step rename each.
void exchange(const fs::path& temporary, const fs::path& path) {
  if (exchange_at_once(temporary, path) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) fail(path, errno);
  const fs::path old = make_temporary_folder(path);
  if (std::rename(path.c_str(), old.c_str()) != 0) {
    const int error = errno;
    std::error_code ignored;
    fs::remove(old, ignored);
    fail(path, error);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::rename(old.c_str(), path.c_str());
    fail(path, error);
  }
  if (std::rename(old.c_str(), temporary.c_str()) != 0) fail(old, errno);
}

}  // namespace

SiteFolder::SiteFolder(const fs::path& path, bool force) {
  const fs::path absolute = fs::absolute(path.has_filename() ? path : path.parent_path());
  path_ = fs::weakly_canonical(absolute);
  check_output_folder(path_.parent_path(), path);
  if (!fs::exists(path_)) return;
  if (!fs::is_directory(path_))
    throw InputError(fmt::format("'{}' is a file, expected a directory; choose another with -o", path.string()));
  if (fs::is_empty(path_)) return;
  check_content(path_);
  if (!force) {
    throw InputError(fmt::format(
        "'{}' is not empty; choose another directory with -o, or add --force to replace a site that this command wrote",
        path.string()));
  }
}

void SiteFolder::write(std::span<const SiteFile> files) const {
  make_folder(path_.parent_path());
  const TemporaryFolder temporary(make_temporary_folder(path_));
  std::set<fs::path> folders{temporary.path()};
  for (const SiteFile& file : files) {
    write_new_file(temporary.path() / file.path, file.text);
    folders.insert((temporary.path() / file.path).parent_path());
  }
  write_new_file(temporary.path() / kMarker, marker_text(files));
  for (const fs::path& folder : folders) flush_folder(folder);
  if (std::rename(temporary.path().c_str(), path_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) fail(path_, errno);
    exchange(temporary.path(), path_);
  }
  flush_folder(path_.parent_path());
}

}  // namespace posbench
