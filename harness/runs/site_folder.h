// Writes the files of a site into a folder. The folder appears as a whole: the files are written into a temporary
// folder next to it, which is renamed at the end.
#pragma once
#include <filesystem>
#include <span>

#include "results/document/site.h"

namespace posbench {

class SiteFolder {
 public:
  /// Throws InputError if the path is taken: by a file, or by a folder that is not empty. With `force` the folder
  /// may have a site that this class wrote. It is recognized by its file posbench-site.json, which lists the files
  /// of the site, and must have no others.
  SiteFolder(const std::filesystem::path&, bool force);

  /// Writes the files. An existing site is replaced by a rename and deleted afterwards. Throws FileError if the
  /// file system fails; the path then has its former content.
  void write(std::span<const SiteFile>) const;

 private:
  std::filesystem::path path_;  // without links and a slash at the end
};

}  // namespace posbench
