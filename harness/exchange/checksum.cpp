#include "harness/exchange/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace posbench {

std::uint32_t crc32_after(std::uint32_t before, std::string_view bytes) {
  if (bytes.empty()) return before;  // crc32_z returns 0 for a null pointer
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string crc32_text(std::string_view bytes, std::uint32_t before) {
  return fmt::format("{:08x}", crc32_after(before, bytes));
}

}  // namespace posbench
