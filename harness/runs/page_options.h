// The options of a report's page, from the registry of encodings and the run directories.
#pragma once
#include <filesystem>
#include <span>

#include "results/presentation/report_page.h"

namespace posbench {

/// Families of the encodings, and links from `page` to what `posbench inspect` saved in the folder "inspect" of the run
/// directories: inspection_path(). The names of the runs are directories or reports in them.
PageOptions page_options(std::span<const NamedReport> runs, const std::filesystem::path& page);

/// Of "cope:positions=16", or of "cope (runs/before)" on a page of several runs; of an unknown encoding, "other".
std::string family_of(const std::string& encoding);

/// Where a run directory keeps what `posbench inspect` shows of an experiment, for its page to link to.
std::filesystem::path inspection_path(const std::filesystem::path& run, const ExperimentId&);

}  // namespace posbench
