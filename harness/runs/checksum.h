// Computes the checksums of lines and loss files.
#pragma once
#include <string>
#include <string_view>

namespace posbench {

/// Returns the CRC-32 of zlib, gzip and PNG in eight hexadecimal digits.
std::string crc32_text(std::string_view bytes);

}  // namespace posbench
