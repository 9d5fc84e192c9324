// Computes SHA-256 (FIPS 180-4), which identifies the bytes of a plug-in in manifests and reports.
#pragma once
#include <string>
#include <string_view>

namespace posbench {

/// Returns 64 hexadecimal digits, as sha256sum prints them.
std::string sha256(std::string_view bytes);

}  // namespace posbench
