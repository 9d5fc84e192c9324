#include "harness/exchange/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace posbench {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of the format");

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kAlignment = 8;  // of the numbers

SafetensorsEntry read_entry(const std::string& name, const Field& json) {
  constexpr std::int64_t kMax = std::int64_t{1} << 48;
  const auto read_size = [](const Field& size) { return size.integer(0, kMax); };
  SafetensorsEntry entry{.name = name, .type = json["dtype"].text()};
  entry.shape = read_list<std::int64_t>(json["shape"], read_size);
  const Field offsets = json["data_offsets"];
  const auto given = read_list<std::int64_t>(offsets, read_size);
  if (given.size() != 2 || given[0] > given[1]) offsets.fail("expected the first byte and the end of the numbers");
  entry.begin = given[0];
  entry.end = given[1];
  return entry;
}

}  // namespace

std::string safetensors_header(const Json& metadata, const std::vector<SafetensorsEntry>& entries) {
  Json header;
  if (!metadata.empty()) header[kMetadata] = metadata;
  for (const SafetensorsEntry& entry : entries) {
    header[entry.name] = {
        {"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = to_compact_json(header);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

void refuse_size(const std::string& file, std::uint64_t size, std::uint64_t expected, const char* bound) {
  throw InputError(to_printable(
      fmt::format("{}: {} bytes, expected {} {}; it is truncated or damaged", file, size, expected, bound)));
}

SafetensorsFile split_safetensors(std::string_view bytes, const std::string& file) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) refuse_size(file, bytes.size(), sizeof size, "or more");
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > bytes.size() - sizeof size)
    refuse_size(file, bytes.size(), sizeof size + std::min(size, std::uint64_t{1} << 62), "or more");
  SafetensorsFile result{.numbers = bytes.substr(sizeof size + size), .header_size = sizeof size + size};
  const Json header = parse_json(bytes.substr(sizeof size, size), file);
  const Field root(header, file);
  for (const auto& [name, ignored] : root.object().items()) {
    const Field value = root[name.c_str()];
    if (name == kMetadata) {
      for (const auto& [key, text] : value.object().items()) result.metadata[key] = value[key.c_str()].text();
      continue;
    }
    result.entries.push_back(read_entry(name, value));
    const std::int64_t end = result.entries.back().end;
    if (end > std::ssize(result.numbers))
      refuse_size(file, bytes.size(), result.header_size + static_cast<std::uint64_t>(end), "or more");
  }
  return result;
}

}  // namespace posbench
