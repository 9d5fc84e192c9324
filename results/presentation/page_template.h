// The page as CMake composed it from results/presentation/page/ and the system's Vega, with {{title}}, {{head}}, {{documents}}
// and
// {{data}} left to fill in.
#pragma once
#include <string_view>

namespace posbench {

extern const std::string_view kPageTemplate;

}  // namespace posbench
