#include "harness/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace posbench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* action) {
  const int error = errno;
  throw std::runtime_error(fmt::format("cannot {} {}: {}", action, path.string(), std::strerror(error)));
}

/// An open file, written whole or not at all; closed with its flush checked.
class File {
 public:
  File(fs::path path, int flags)
      : path_(std::move(path)), descriptor_(open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail(path_, "open");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  void write(const std::string& text) {
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(descriptor_, text.data() + done, text.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(path_, "write");
      done += static_cast<size_t>(n);
    }
  }
  void flush() {
    if (fsync(descriptor_) != 0) fail(path_, "write");
  }
  void truncate(off_t size) {
    if (ftruncate(descriptor_, size) != 0) fail(path_, "shorten");
  }

 private:
  fs::path path_;
  int descriptor_;
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json to_json(const ExperimentId& id) { return {{"task", id.task}, {"encoding", id.encoding}, {"seed", id.seed}}; }

/// The first place where two configurations differ, in words.
std::string difference(const Json& before, const Json& now) {
  const Json patch = Json::diff(before, now);
  const std::string place = patch.at(0).at("path");
  const Json::json_pointer pointer(place);
  const auto value = [&](const Json& json) {
    return json.contains(pointer) ? json.at(pointer).dump() : "missing";
  };
  return fmt::format("{} was {} and is now {}", place.substr(1), value(before), value(now));
}

}  // namespace

void write_file(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".tmp";
  try {
    File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(text);
    file.flush();
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  fs::rename(temporary, path);
}

RunDirectory::RunDirectory(fs::path path, Existing existing, const Json& config, const Json& context,
                           const std::vector<ExperimentId>& experiments)
    : path_(std::move(path)), config_(config), experiments_(experiments) {
  const fs::path manifest = path_ / "manifest.json", lines = path_ / "experiments.jsonl";
  const bool there = fs::exists(path_) && !(fs::is_directory(path_) && fs::is_empty(path_));
  if (there && existing == Existing::refuse) {
    throw std::invalid_argument(fmt::format(
        "{} exists; add --resume to go on with it, --force to replace it, or choose another -o", path_.string()));
  }
  if (there && !fs::exists(manifest)) {
    throw std::invalid_argument(
        fmt::format("{} is not a run directory (it has no manifest.json); choose another -o", path_.string()));
  }
  if (there && existing == Existing::resume) {
    const Json before = read_json(manifest);
    if (!before.is_object() || !before.contains("config")) {
      throw std::invalid_argument(fmt::format("{} has no config; --force starts afresh", manifest.string()));
    }
    if (before["config"] != config) {
      throw std::invalid_argument(fmt::format("{} holds another configuration: {}; use --force or another -o",
                                              path_.string(), difference(before["config"], config)));
    }
    const std::string text = fs::exists(lines) ? read_text(lines) : "";
    size_t kept = 0;
    for (int number = 1; kept < text.size(); ++number) {
      const size_t end = text.find('\n', kept);
      const std::string place = fmt::format("{}:{}", lines.string(), number);
      if (end == text.npos) {
        dropped_ = fmt::format("{}: the last line is cut off; its experiment is done again", place);
        break;
      }
      const Json json = parse_json(std::string_view(text).substr(kept, end - kept), place);
      const ExperimentResult result = experiment_from_json(json, place);
      seconds_[result.id] = json.value("seconds", 0.0);
      finished_[result.id] = result;
      kept = end + 1;
    }
    if (kept < text.size()) File(lines, O_WRONLY).truncate(static_cast<off_t>(kept));
    return;
  }

  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw std::invalid_argument(fmt::format("cannot create {}: {}", path_.string(), error.message()));
  if (access(path_.c_str(), W_OK) != 0)
    throw std::invalid_argument(fmt::format("cannot write into {}", path_.string()));
  Json list = Json::array();
  for (const ExperimentId& id : experiments) list.push_back(to_json(id));
  fs::remove(path_ / "report.json");
  fs::remove(path_ / "report.html");
  { File(lines, O_WRONLY | O_CREAT | O_TRUNC).flush(); }
  write_file(manifest, pretty({{"config", config}, {"context", context}, {"experiments", list}}));
}

void RunDirectory::append(const ExperimentResult& result, double seconds) {
  Json json = posbench::to_json(result);
  json["seconds"] = seconds;
  File file(path_ / "experiments.jsonl", O_WRONLY | O_APPEND);
  file.write(compact(json) + "\n");
  file.flush();
  finished_[result.id] = result;
  seconds_[result.id] = seconds;
}

Report RunDirectory::write_report(const std::vector<TaskBaseline>& tasks, Json context) const {
  Report report{.context = std::move(context), .config = config_, .tasks = tasks};
  Json times = Json::array();
  double total = 0;
  for (const ExperimentId& id : experiments_) {
    const auto found = finished_.find(id);
    if (found == finished_.end()) continue;
    report.experiments.push_back(found->second);
    Json time = to_json(id);
    time["seconds"] = seconds_.at(id);
    total += seconds_.at(id);
    times.push_back(std::move(time));
  }
  report.timing = {{"core_seconds", total}, {"experiments", times}};
  write_file(path_ / "report.json", pretty(posbench::to_json(report)));
  return report;
}

}  // namespace posbench
