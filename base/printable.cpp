#include "base/printable.h"

namespace posbench {

std::string printable(std::string_view text) {
  std::string safe(text);
  for (size_t i = 0; i < safe.size(); ++i) {
    const auto byte = static_cast<unsigned char>(safe[i]);
    const auto next = static_cast<unsigned char>(i + 1 < safe.size() ? safe[i + 1] : 0);
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;           // U+0080 to U+009F
    const bool line = byte == 0xE2 && next == 0x80 && i + 2 < safe.size()  // U+2028 and U+2029, and the marks that
                      && ((static_cast<unsigned char>(safe[i + 2]) & 0xF8) == 0xA8);  // turn the direction of text
    if (byte < 0x20 || byte == 0x7F) safe[i] = '?';
    if (c1) safe[i] = safe[i + 1] = '?';
    if (line) safe[i] = safe[i + 1] = safe[i + 2] = '?';
  }
  return safe;
}

bool is_name(std::string_view text) { return !text.empty() && printable(text) == text; }

}  // namespace posbench
