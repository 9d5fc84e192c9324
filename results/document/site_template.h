// Provides the page of a site, from results/document/site/.
#pragma once
#include <string_view>

namespace posbench {

/// {{root}}, {{title}}, {{head}}, {{contents}}, {{content}}, {{documents}} and {{scripts}} are not filled in yet.
extern const std::string_view kSiteTemplate;
extern const std::string_view kSiteStyle;   // in addition to the style of kPageTemplate
extern const std::string_view kSiteScript;  // search and tables

}  // namespace posbench
