// Makes the options of a report's page from the registry of encodings.
#pragma once
#include <string>

#include "results/presentation/report_page.h"

namespace posbench {

/// Returns the families and the colors of the encodings.
PageOptions page_options();

/// Accepts "cope:positions=16" and, from a page of several runs, "cope (runs/before)". Returns "other" for an
/// unknown encoding.
std::string family_of(const std::string& encoding);

/// Returns the number of the color of an encoding, which is the same on all pages. Takes the same texts as
/// family_of.
int style_of(const std::string& encoding);

}  // namespace posbench
