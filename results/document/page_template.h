// Provides the page as CMake composed it from results/document/page/ and the system's Vega.
// {{title}}, {{head}}, {{contents}}, {{content}}, {{documents}}, {{data}} and {{rows}} are not filled in yet.
#pragma once
#include <string_view>

namespace posbench {

extern const std::string_view kPageTemplate;

}  // namespace posbench
