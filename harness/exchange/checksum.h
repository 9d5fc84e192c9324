// Computes the CRC-32 of zlib, gzip and PNG.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace posbench {

/// Returns the checksum of bytes that follow others, whose checksum is `before`.
std::uint32_t crc32_after(std::uint32_t before, std::string_view bytes);

/// Returns the checksum in eight hexadecimal digits.
std::string crc32_text(std::string_view bytes, std::uint32_t before = 0);

}  // namespace posbench
