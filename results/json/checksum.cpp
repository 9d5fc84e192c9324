#include "results/json/checksum.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"

namespace posbench {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr size_t kEnd = 200;  // bytes that hold a checksum, also if another program has indented it

/// Returns the text without white space and one `c` at its end.
std::string_view without_last(std::string_view text, char c) {
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  if (text.ends_with(c)) text.remove_suffix(1);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// Removes a token and the white space in front of it from the beginning of a text. Returns whether it was there.
bool skip(std::string_view& text, std::string_view token) {
  const std::string_view rest = text.substr(std::min(text.find_first_not_of(kSpace), text.size()));
  if (!rest.starts_with(token)) return false;
  text = rest.substr(token.size());
  return true;
}

}  // namespace

std::uint32_t crc32_after(std::uint32_t before, std::string_view bytes) {
  if (bytes.empty()) return before;  // crc32_z returns 0 for a null pointer
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32_joined(std::uint32_t before, std::uint32_t after, std::int64_t size) {
  return static_cast<std::uint32_t>(crc32_combine(before, after, static_cast<z_off_t>(size)));
}

std::string crc32_text(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

std::string crc32_text(std::string_view bytes, std::uint32_t before) {
  return crc32_text(crc32_after(before, bytes));
}

std::string with_checksum(std::string_view text, std::uint32_t before) {
  const std::string_view members = without_last(text, '}'), end = text.substr(members.size());
  const bool has_lines = end.starts_with('\n');
  return fmt::format("{},{}\"{}\":{}\"{}\"{}", members, has_lines ? "\n " : "", kChecksum, has_lines ? " " : "",
                     crc32_text(members, before), end);
}

void check_checksum(std::string_view text, const std::string& file, const std::string& advice) {
  ChecksumReader reader;
  reader.add(text);
  reader.check(file, advice);
}

void ChecksumReader::add(std::string_view text) {
  const size_t kept = std::min(end_.size(), kEnd - std::min(text.size(), kEnd)), more = end_.size() - kept;
  before_ = crc32_after(before_, std::string_view(end_).substr(0, more));
  end_.erase(0, more);
  const size_t first = text.size() - std::min(text.size(), kEnd);
  before_ = crc32_after(before_, text.substr(0, first));
  end_ += text.substr(first);
}

void ChecksumReader::check(const std::string& file, const std::string& advice) const {
  const std::string_view end = end_;
  const size_t comma = end.rfind(',');
  if (comma == end.npos) return;
  std::string_view member = without_last(end.substr(comma + 1), '}');
  if (!skip(member, fmt::format("\"{}\"", kChecksum)) || !skip(member, ":")) return;
  const std::string expected = fmt::format("\"{}\"", crc32_text(end.substr(0, comma), before_));
  if (skip(member, expected) && member.empty()) return;
  while (member.starts_with(' ')) member.remove_prefix(1);
  throw InputError(to_printable(fmt::format(
      "{}: {} is {}, expected {}: {}", file, kChecksum, member, expected,
      advice.empty() ? "the file was changed; restore it, or delete crc32 if the change was intended" : advice)));
}

}  // namespace posbench
