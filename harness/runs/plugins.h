// Encodings and tasks from outside the tree: shared libraries that register theirs when they are loaded.
#pragma once
#include <string>
#include <vector>

namespace posbench {

struct Plugin {
  std::string file;    // its name, without folders
  std::string sha256;  // of its bytes
  std::vector<std::string> encodings, tasks;
};

/// Loads a shared library that posbench_add_plugin built; does nothing if it is already loaded. Throws
/// std::invalid_argument, with one line, if it is missing, no plug-in, built for another posbench, cannot be linked,
/// or registers a name that is taken.
void load_plugin(const std::string& path);

/// The loaded plug-ins, in the order of loading.
const std::vector<Plugin>& plugins();

}  // namespace posbench
