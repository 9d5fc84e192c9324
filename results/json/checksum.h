// Computes the CRC-32 of zlib, gzip and PNG, and protects the JSON files that posbench writes and reads with it.
// Such a file is an object whose last member is `crc32`, the checksum of the bytes before the last comma in eight
// hexadecimal digits. A file without this member, or with others behind it, has no checksum: a user may delete it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace posbench {

constexpr const char* kChecksum = "crc32";

/// Returns the checksum of bytes that follow others, whose checksum is `before`.
std::uint32_t crc32_after(std::uint32_t before, std::string_view bytes);

/// Returns the checksum of bytes that have `before`, followed by `size` bytes that have `after`.
std::uint32_t crc32_joined(std::uint32_t before, std::uint32_t after, std::int64_t size);

/// Returns the checksum in eight hexadecimal digits.
std::string crc32_text(std::string_view bytes, std::uint32_t before = 0);
std::string crc32_text(std::uint32_t checksum);

/// Returns the text of an object, which is not empty, with the checksum as its last member. `before` is the
/// checksum of bytes in front of the text.
std::string with_checksum(std::string_view text, std::uint32_t before = 0);

/// Throws InputError, which begins with `file`, if the text of an object has a checksum of other bytes. `advice`
/// tells what to do.
void check_checksum(std::string_view text, const std::string& file, const std::string& advice = "");

/// Checks the text of a file while it is read.
class ChecksumReader {
 public:
  void add(std::string_view text);
  /// Does what check_checksum() does, with this advice or with that for a file.
  void check(const std::string& file, const std::string& advice = "") const;

 private:
  std::uint32_t before_ = 0;  // checksum of the bytes in front of end_
  std::string end_;           // has the checksum
};

}  // namespace posbench
