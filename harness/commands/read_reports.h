// Reports as commands are given them: files, or run directories, whose runs may be unfinished.
#pragma once
#include <filesystem>
#include <vector>

#include "results/types/report.h"

namespace posbench {

/// Throws std::invalid_argument where it cannot be read.
Report read_given(const std::filesystem::path&);
std::vector<Report> read_given(const std::vector<std::filesystem::path>&);

/// With the paths as names. The reports must outlive what is returned.
std::vector<NamedReport> named(const std::vector<std::filesystem::path>&, const std::vector<Report>&);

}  // namespace posbench
