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

/// Loads a shared library that posbench_add_plugin built; one that is loaded already is left alone. Throws
/// std::invalid_argument, with one line, where it is missing, no plug-in, of another posbench, cannot be linked, or
/// registers a name that is taken.
void load_plugin(const std::string& path);

/// Those that are loaded, in their order.
const std::vector<Plugin>& plugins();

}  // namespace posbench
