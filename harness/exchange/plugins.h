// Loads plug-ins: shared libraries that register encodings and tasks.
#pragma once
#include <string>
#include <vector>

namespace posbench {

struct Plugin {
  std::string file;    // its name, without folders
  std::string sha256;  // of its bytes
  std::vector<std::string> encodings, tasks;
};

/// Loads a shared library that posbench_add_plugin built. Does nothing if it is already loaded. Throws InputError
/// if it is missing, is no plug-in, was built for another posbench, cannot be linked, fails while it is loaded, or
/// registers an invalid or existing name.
void load_plugin(const std::string& path);

/// Returns the loaded plug-ins, in the order of loading.
const std::vector<Plugin>& plugins();

/// Returns "plug-in a.so" or "one of the plug-ins a.so, b.so"; empty if none is loaded.
std::string plugins_text();

}  // namespace posbench
