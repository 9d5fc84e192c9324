#include "harness/exchange/plugins.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/text.h"
#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "harness/config/user_files.h"
#include "harness/exchange/plugin_abi.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

std::vector<Plugin>& loaded() {
  static auto* const plugins = std::make_unique<std::vector<Plugin>>().release();  // exists while exit() runs
  return *plugins;
}

/// Refuses a file that was not built for this program.
void check_abi(const fs::path& path, const std::string& bytes) {
  constexpr size_t kMaxAbi = 200;  // characters
  const std::string begin = POSBENCH_ABI_BEGIN;
  const size_t found = bytes.find(begin);
  const size_t first = found == bytes.npos ? 0 : found + begin.size();
  const std::string abi = bytes.substr(first, std::min<size_t>(bytes.find('}', first) - first, kMaxAbi));
  const bool is_text = std::ranges::all_of(abi, [](unsigned char c) { return c >= ' ' && c <= '~'; });
  if (found == bytes.npos || !is_text) {
    throw InputError(
        fmt::format("plug-in {}: not a plug-in of posbench; posbench_add_plugin builds them (docs/plugins.md)",
                    path.string()));
  }
  if (abi != POSBENCH_ABI) {
    throw InputError(fmt::format("plug-in {}: built for '{}', and this program is '{}'; build it again",
                                 path.string(), abi, POSBENCH_ABI));
  }
}

constexpr char kLoaded = '\6';  // written by the child process when the library is loaded

/// Loads the library in a child process, because an invalid registration ends the process. Returns the error, or
/// "".
std::string try_loading(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::string result;
    try {
      result = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr ? std::string(1, kLoaded) : dlerror();
    } catch (const std::exception& error) {
      result = fmt::format("throws an exception while it is loaded: {}", error.what());
    } catch (...) {
      result = "throws an exception while it is loaded";
    }
    _exit(write(ends[1], result.data(), result.size()) < 0 ? 2 : 0);
  }
  close(ends[1]);
  std::string fault;
  char buffer[1024];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    fault.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || fault.ends_with(kLoaded)) return "";
  while (fault.ends_with('\n')) fault.pop_back();
  std::ranges::replace(fault, '\n', ' ');
  if (fault.starts_with("posbench: ")) fault.erase(0, 10);
  constexpr std::string_view kTerminated = "terminate called after throwing an instance of ";
  if (fault.starts_with(kTerminated))
    fault.replace(0, kTerminated.size(), "throws an exception while it is loaded: ");
  return fault.empty() ? "ends the program while it is loaded" : to_printable(fault);
}

std::vector<std::string> added(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  std::vector<std::string> added;
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(added));
  return added;
}

/// Returns the task or encoding with this name regardless of case, or "". The encoding or task `own` of `own_kind`
/// does not count.
std::string registered_as(const std::string& name, const std::string& own_kind, const std::string& own) {
  const std::pair<const char*, std::vector<std::string>> kinds[] = {
      {"task", tasks().names()}, {"encoding", encodings().names_with_presets()}};
  for (const auto& [kind, names] : kinds) {
    for (const std::string& other : names) {
      if (lower_case(other) == lower_case(name) && (kind != own_kind || other != own))
        return fmt::format("{} '{}'", kind, other);
    }
  }
  return "";
}

/// Refuses names and aliases that would mean two things. Two encodings may share an alias.
void check_names(const Plugin& plugin, const std::string& path) {
  const auto check = [&](const std::string& what, const std::string& name, const std::string& taken) {
    if (!taken.empty())
      throw InputError(fmt::format("plug-in {}: {} '{}' has the name of {}; rename it", path, what, name, taken));
  };
  const auto check_kind = [&](const std::string& kind, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      check(kind, name, registered_as(name, kind, name));
      for (const std::string& other : encodings_called(name)) {
        if (kind != "encoding" || other != name) check(kind, name, "an alias of '" + other + "'");
      }
    }
  };
  check_kind("encoding", plugin.encodings);
  check_kind("task", plugin.tasks);
  const auto check_options = [](const std::vector<OptionInfo>& options) {
    for (const OptionInfo& option : options) check_identifier("option", option.name);
  };
  try {
    for (const std::string& name : plugin.encodings) {
      for (const std::string& alias : aliases_of(name)) {
        check("alias", alias, registered_as(alias, "encoding", name));
        check_identifier("alias", alias);
      }
      check_options(encodings().find(name).options);
    }
    for (const std::string& name : plugin.tasks) check_options(tasks().find(name).options);
  } catch (const std::logic_error& error) {
    throw InputError(fmt::format("plug-in {}: {}", path, error.what()));
  }
}

}  // namespace

void load_plugin(const std::string& path) {
  constexpr std::uintmax_t kMaxPlugin = std::uintmax_t{1} << 30;  // bytes
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw InputError(fmt::format(
        "plug-in '{}': {}", path,
        fs::exists(path, error) ? "expected a shared library, not a folder or a pipe" : "there is no such file"));
  }
  const std::string bytes = within_memory(
                        path, [&] { return read_user_files([&] { return read_file(path, kMaxPlugin); }); }),
                    hash = sha256(bytes);
  if (std::ranges::find(loaded(), hash, &Plugin::sha256) != loaded().end()) return;
  check_abi(path, bytes);
  const std::string absolute = fs::absolute(path).string();  // dlopen searches a name without a slash elsewhere
  const std::string fault = try_loading(absolute);
  if (!fault.empty()) throw InputError(fmt::format("plug-in '{}': {}", path, fault));
  const std::vector<std::string> encodings_before = encodings().names(), tasks_before = tasks().names();
  if (dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    throw InputError(fmt::format("plug-in '{}': {}", path, to_printable(dlerror())));
  }
  const Plugin plugin{fs::path(path).filename().string(), hash, added(encodings_before, encodings().names()),
                      added(tasks_before, tasks().names())};
  if (plugin.encodings.empty() && plugin.tasks.empty()) {
    throw InputError(fmt::format("plug-in {}: registers no encoding and no task", path));
  }
  check_names(plugin, path);
  loaded().push_back(plugin);
}

const std::vector<Plugin>& plugins() { return loaded(); }

std::string plugins_text() {
  std::vector<std::string> files;
  for (const Plugin& plugin : loaded()) files.push_back(to_printable(plugin.file));
  if (files.empty()) return "";
  return fmt::format("{}{}", files.size() == 1 ? "plug-in " : "one of the plug-ins ", fmt::join(files, ", "));
}

}  // namespace posbench
