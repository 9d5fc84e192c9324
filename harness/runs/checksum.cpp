#include "harness/runs/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

#include <string>
#include <string_view>

namespace posbench {

std::string crc32_text(std::string_view bytes) {
  return fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace posbench
