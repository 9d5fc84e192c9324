// Writes a web site of all encodings, tasks and claims: an index, a page for each, the board and a report. The
// pages share one style and the scripts, which are files of the site. They open from a folder, without a server.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/presentation/site_description.h"

namespace posbench {

/// Returns all files. Calls `on_page` from any thread after each page of an encoding, a task or a claim. Throws
/// InputError if the settings of a report on the board contradict another.
std::vector<SiteFile> make_site(const SiteContents&, int jobs,
                                const std::function<void(size_t done, size_t total)>& on_page = {});

}  // namespace posbench
