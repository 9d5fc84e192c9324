// Makes the options of a report's page from the registry of encodings and the run directories.
#pragma once
#include <filesystem>
#include <span>
#include <string>

#include "results/presentation/report_page.h"

namespace posbench {

/// Returns the families of the encodings, and links from `page` to the pages of `posbench inspect` that users
/// saved in the run directories as inspect/MODEL.html. The names of the runs are directories or reports in them.
PageOptions page_options(std::span<const NamedReport> runs, const std::filesystem::path& page);

/// Accepts "cope:positions=16" and, from a page of several runs, "cope (runs/before)". Returns "other" for an
/// unknown encoding.
std::string family_of(const std::string& encoding);

/// Returns the number of the color of an encoding, which is the same on all pages. Takes the same texts as
/// family_of.
int style_of(const std::string& encoding);

}  // namespace posbench
