#include "base/printable.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace posbench {
namespace {

/// Returns the number of bytes of the UTF-8 character at the start of a non-empty text; 0 if it is invalid.
size_t character_size(std::string_view text, std::uint32_t& character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t size = byte(0) < 0x80 ? 1 : (byte(0) & 0xE0) == 0xC0 ? 2 : (byte(0) & 0xF0) == 0xE0 ? 3 : 4;
  if (size == 4 && (byte(0) & 0xF8) != 0xF0) return 0;
  if (text.size() < size) return 0;
  character = size == 1 ? byte(0) : byte(0) & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  return character < kSmallest[size] || surrogate || character > 0x10FFFF ? 0 : size;
}

/// Returns whether c is a control character, a separator of lines or paragraphs, or a mark that turns the
/// direction of text.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c < 0x2030) || (c >= 0x2066 && c < 0x206A) ||
         c == 0x200E || c == 0x200F;
}

/// Returns whether c is a space of any width, also of none.
bool is_space(std::uint32_t c) {
  return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200D) || c == 0x202F || c == 0x205F ||
         c == 0x2060 || c == 0x3000 || c == 0xFEFF;
}

template <class Keep>
std::string filtered(std::string_view text, Keep keep) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t character = 0;
    const size_t size = character_size(text, character);
    if (size > 0 && keep(character)) {
      safe.append(text.substr(0, size));
    } else {
      safe.append(size > 0 ? size : 1, '?');
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return safe;
}

}  // namespace

std::string to_printable(std::string_view text) {
  return filtered(text, [](std::uint32_t c) { return !is_control(c); });
}

std::string to_printable_lines(std::string_view text) {
  return filtered(text, [](std::uint32_t c) { return c == '\n' || c == '\t' || !is_control(c); });
}

std::string to_valid_utf8(std::string_view text) {
  return filtered(text, [](std::uint32_t) { return true; });
}

std::string to_one_line(std::string_view text, size_t max_size) {
  if (text.size() <= max_size) return to_printable(text);
  const size_t head = max_size / 3 * 2, tail = max_size - head;
  return to_printable(text.substr(0, head)) + " ... " + to_printable(text.substr(text.size() - tail));
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    std::uint32_t character = 0;
    const size_t size = std::max<size_t>(character_size(text.substr(at), character), 1);
    if (!is_space(character)) {
      begin = std::min(begin, at);
      end = at + size;
    }
    at += size;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

}  // namespace posbench
