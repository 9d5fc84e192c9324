// Collects what a site shows from the registries, the claims and the board.
#pragma once
#include "results/presentation/site.h"

namespace posbench {

/// Returns all registered encodings and tasks, those that only the board has, and all claims with the verdicts
/// that follow from the stored evidence. The reference must outlive the result.
SiteContents make_site_contents(BoardReport, const NamedReport& reference);

}  // namespace posbench
