// Provides the pages as CMake composed them from results/document/page/, results/document/site/ and the system's
// Vega. Parts such as {{title}} are not filled in yet.
#pragma once
#include <string_view>

namespace posbench {

extern const std::string_view kPageTemplate;  // a page that is a file of its own
extern const std::string_view kSiteTemplate;  // a page of a site
extern const std::string_view kSiteStyle;     // in addition to the style of kPageTemplate
extern const std::string_view kSiteScript;    // search and tables

}  // namespace posbench
