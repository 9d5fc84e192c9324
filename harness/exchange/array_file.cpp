#include "harness/exchange/array_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/text.h"
#include "results/json/checksum.h"
#include "results/json/json.h"

namespace posbench {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of the format");

constexpr const char* kMetadata = "__metadata__";
constexpr std::uint64_t kMaxHeader = 100'000'000;  // bytes, as in the library safetensors
constexpr size_t kAlignment = 8;                   // of the numbers
constexpr size_t kPiece = 1 << 20;                 // bytes of an array that are buffered before they are written

struct ScalarName {
  const char *in_file, *in_messages;
  std::int64_t size;
};
constexpr std::array<ScalarName, 13> kScalars{{{"BOOL", "bool", 1},
                                               {"I8", "int8", 1},
                                               {"I16", "int16", 2},
                                               {"I32", "int32", 4},
                                               {"I64", "int64", 8},
                                               {"U8", "uint8", 1},
                                               {"U16", "uint16", 2},
                                               {"U32", "uint32", 4},
                                               {"U64", "uint64", 8},
                                               {"F16", "float16", 2},
                                               {"BF16", "bfloat16", 2},
                                               {"F32", "float32", 4},
                                               {"F64", "float64", 8}}};
const ScalarName& names(Scalar scalar) { return kScalars[static_cast<size_t>(scalar)]; }

std::vector<std::string> names_in_files() {
  std::vector<std::string> names;
  for (const ScalarName& scalar : kScalars) names.emplace_back(scalar.in_file);
  return names;
}

[[noreturn]] void refuse_size(const std::string& file, size_t size, std::uint64_t expected, const char* bound) {
  throw InputError(to_printable(
      fmt::format("{}: {} bytes, expected {} {}; it is truncated or damaged", file, size, expected, bound)));
}

[[noreturn]] void refuse_npz(const std::string& file) {
  throw InputError(to_printable(
      fmt::format("{}: .npz is no longer read or written; use .safetensors, or .jsonl for samples and answers; in "
                  "Python posbench.write_arrays(new, numpy.load(old)) converts a file",
                  file)));
}

std::string_view read_numbers(const Field& offsets, std::string_view numbers, size_t header,
                              const std::string& file) {
  const auto ends = read_list<std::uint64_t>(offsets, [](const Field& end) { return end.natural(); });
  if (ends.size() != 2 || ends[0] > ends[1]) offsets.fail("expected the first byte and the end of the numbers");
  if (ends[1] > numbers.size()) refuse_size(file, header + numbers.size(), header + ends[1], "or more");
  return numbers.substr(ends[0], ends[1] - ends[0]);
}

ArrayView read_array(const Field& json, std::string_view bytes) {
  constexpr std::int64_t kMax = std::int64_t{1} << 48;
  static const std::vector<std::string> types = names_in_files();
  const Field shape = json["shape"];
  ArrayView array{.scalar = static_cast<Scalar>(json["dtype"].choice(types)),
                  .shape = read_list<std::int64_t>(shape, [](const Field& size) { return size.integer(0, kMax); }),
                  .bytes = bytes};
  if (count_of(array.shape) * size_of(array.scalar) != std::ssize(bytes))
    shape.fail(fmt::format("expected one for the {} bytes of data_offsets", bytes.size()));
  return array;
}

/// Refuses holes between the numbers of the arrays, overlaps, and bytes after them.
void check_places(const ArrayFile& arrays, size_t header, const std::string& file) {
  std::vector<std::pair<std::string_view, std::string_view>> parts;  // bytes and name
  for (const auto& [name, array] : arrays.arrays) parts.emplace_back(array.bytes, name);
  std::ranges::sort(parts, {}, [](const auto& part) { return std::pair(part.first.data(), part.first.size()); });
  size_t end = 0;
  for (const auto& [bytes, name] : parts) {
    const auto begin = static_cast<size_t>(bytes.data() - arrays.numbers.data());
    if (begin != end) {
      throw InputError(
          to_printable(fmt::format("{}: {}.data_offsets begin at {}, expected {}, the end of the array "
                                   "before it; it is damaged",
                                   file, name, begin, end)));
    }
    end = begin + bytes.size();
  }
  if (end != arrays.numbers.size())
    refuse_size(file, header + arrays.numbers.size(), header + end, "by its header");
}

/// Returns the size of the header, given the first bytes of a file of `all` bytes.
std::uint64_t header_size(std::string_view bytes, std::uint64_t all, const std::string& file) {
  if (bytes.starts_with("PK")) refuse_npz(file);
  std::uint64_t size = 0;
  if (bytes.size() <= sizeof size || bytes[sizeof size] != '{')
    throw InputError(to_printable(file + ": no .safetensors file, or a truncated one"));
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > kMaxHeader) {
    throw InputError(to_printable(
        fmt::format("{}: its header has {} bytes, expected up to {}; it is damaged", file, size, kMaxHeader)));
  }
  if (size > all - sizeof size)
    refuse_size(file, all, sizeof size + std::min(size, std::uint64_t{1} << 62), "or more");
  return size;
}

/// Returns the number of bytes after the header that it states.
std::uint64_t stated_size(std::string_view header, const std::string& file) {
  const Json json = parse_json(header, file);
  const Field root(json, file);
  std::uint64_t size = 0;
  for (const auto& [name, ignored] : root.object().items()) {
    if (name == kMetadata) continue;
    const Field array = root[name.c_str()], ends = array["data_offsets"];
    ends.each([&](const Field& end) { size = std::max(size, end.natural()); });
  }
  return size;
}

template <class T>
T get(std::string_view bytes, std::int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof value, sizeof value);
  return value;
}

/// Returns the value of a number of IEEE 754 with 5 bits of exponent and 10 of significand.
double from_float16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, significand = bits & 1023;
  const double magnitude = exponent == 31  ? significand == 0 ? HUGE_VAL : std::nan("")
                            : exponent == 0 ? std::ldexp(significand, -24)
                                           : std::ldexp(1024 + significand, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// Returns the checksum of everything that no other check covers, of numbers with this checksum and size.
std::string checksum(const Metadata& metadata, std::uint32_t numbers, std::int64_t size) {
  std::uint32_t crc = 0;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksum) continue;
    for (const std::string& part : {key, text}) crc = crc32_after(crc, {part.c_str(), part.size() + 1});
  }
  return crc32_text(crc32_joined(crc, numbers, size));
}

}  // namespace

bool is_array_file(const std::filesystem::path& path) {
  const std::string extension = lower_case(path.extension().string());
  if (extension == ".npz") refuse_npz(path.string());
  return extension == ".safetensors";
}

std::int64_t size_of(Scalar scalar) { return names(scalar).size; }

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMax = std::int64_t{1} << 58;
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (count > kMax / size) return -1;
    count *= size;
  }
  return count;
}

std::string array_header(const std::vector<ArrayInfo>& arrays, const Metadata& metadata, std::uint32_t numbers) {
  Json header{{kMetadata, metadata}};
  std::int64_t begin = 0;
  for (const ArrayInfo& array : arrays) {
    const std::int64_t end = begin + count_of(array.shape) * size_of(array.scalar);
    header[array.name] = {
        {"dtype", names(array.scalar).in_file}, {"shape", array.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  header[kMetadata][kChecksum] = checksum(metadata, numbers, begin);
  std::string text = to_compact_json(header);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

struct ArrayWriter::State {
  struct Array {
    std::uint32_t crc = 0;
    std::int64_t size = 0;
    std::uint64_t at = 0;    // where the next piece goes
    std::uint64_t left = 0;  // bytes that are still to come
    std::string gathered;    // of the next piece
  };

  OutputFile file;
  const std::vector<ArrayInfo> infos;
  const Metadata metadata;
  std::vector<Array> arrays;

  State(const std::filesystem::path& path, const std::vector<ArrayInfo>& infos, const Metadata& metadata)
      : file(path, OutputFile::Order::anywhere), infos(infos), metadata(metadata) {}

  void write_gathered(Array& array) {
    file.write_at(static_cast<off_t>(array.at), array.gathered);
    array.at += array.gathered.size();
    array.gathered.clear();
  }
};

ArrayWriter::ArrayWriter(const std::filesystem::path& path, const std::vector<ArrayInfo>& infos,
                         const Metadata& metadata)
    : state_(std::make_unique<State>(path, infos, metadata)) {
  std::uint64_t end = array_header(infos, metadata, 0).size();
  for (const ArrayInfo& info : infos) {
    const std::int64_t size = count_of(info.shape) * size_of(info.scalar);
    const auto bytes = static_cast<std::uint64_t>(size);
    state_->arrays.push_back({.size = size, .at = end, .left = bytes, .gathered = {}});
    end += bytes;
  }
}

ArrayWriter::~ArrayWriter() = default;

void ArrayWriter::append(size_t index, std::string_view bytes) {
  State::Array& array = state_->arrays[index];
  assert(bytes.size() <= array.left);
  array.left -= bytes.size();
  array.crc = crc32_after(array.crc, bytes);
  array.gathered += bytes;
  if (array.gathered.size() >= kPiece) state_->write_gathered(array);
}

void ArrayWriter::finish() {
  std::uint32_t numbers = 0;
  for (State::Array& array : state_->arrays) {
    assert(array.left == 0);
    state_->write_gathered(array);
    numbers = crc32_joined(numbers, array.crc, array.size);
  }
  state_->file.write_at(0, array_header(state_->infos, state_->metadata, numbers));
  state_->file.finish();
}

bool ArrayView::is_integer() const { return scalar >= Scalar::int8 && scalar <= Scalar::uint64; }
bool ArrayView::is_float() const { return scalar >= Scalar::float16; }

std::string ArrayView::type() const { return names(scalar).in_messages; }

std::int64_t ArrayView::integer(std::int64_t index) const {
  switch (scalar) {
    case Scalar::int8:
      return get<std::int8_t>(bytes, index);
    case Scalar::int16:
      return get<std::int16_t>(bytes, index);
    case Scalar::int32:
      return get<std::int32_t>(bytes, index);
    case Scalar::int64:
      return get<std::int64_t>(bytes, index);
    case Scalar::uint8:
      return get<std::uint8_t>(bytes, index);
    case Scalar::uint16:
      return get<std::uint16_t>(bytes, index);
    case Scalar::uint32:
      return get<std::uint32_t>(bytes, index);
    case Scalar::uint64:
    case Scalar::boolean:
    case Scalar::float16:
    case Scalar::bfloat16:
    case Scalar::float32:
    case Scalar::float64:
      break;
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(get<std::uint64_t>(bytes, index), kMax));
}

double ArrayView::number(std::int64_t index) const {
  if (scalar == Scalar::float16) return from_float16(get<std::uint16_t>(bytes, index));
  if (scalar == Scalar::bfloat16)
    return std::bit_cast<float>(std::uint32_t{get<std::uint16_t>(bytes, index)} << 16);
  if (scalar == Scalar::float32) return get<float>(bytes, index);
  return get<double>(bytes, index);
}

ArrayFile parse_arrays(std::string_view bytes, const std::string& file) {
  const std::uint64_t size = header_size(bytes, bytes.size(), file);
  const Json header = parse_json(bytes.substr(sizeof size, size), file);
  ArrayFile result{.numbers = bytes.substr(sizeof size + size)};
  const Field root(header, file);
  for (const auto& [name, ignored] : root.object().items()) {
    const Field value = root[name.c_str()];
    if (name == kMetadata) {
      for (const auto& [key, text] : value.object().items()) result.metadata[key] = value[key.c_str()].text();
    } else {
      const Field offsets = value["data_offsets"];
      result.arrays[name] = read_array(value, read_numbers(offsets, result.numbers, sizeof size + size, file));
    }
  }
  check_places(result, sizeof size + size, file);
  if (const auto given = result.metadata.find(kChecksum); given != result.metadata.end()) {
    const std::string found = checksum(result.metadata, crc32_after(0, result.numbers),
                                       static_cast<std::int64_t>(result.numbers.size()));
    if (given->second != found)
      throw_json_error(file, fmt::format("{}.{}", kMetadata, kChecksum), given->second,
                       fmt::format("but its contents have {}; it is damaged", found));
  }
  return result;
}

std::string read_array_bytes(const std::filesystem::path& path) {
  File file(path, O_RDONLY);
  const std::string name = path.string();
  std::string bytes;
  const auto read_to = [&](std::uint64_t size) {
    const size_t before = bytes.size();
    bytes.resize(size);
    size_t end = before;
    while (const size_t n = end < size ? file.read(bytes.data() + end, size - end) : 0) end += n;
    bytes.resize(end);
  };
  const auto size = static_cast<std::uint64_t>(file.size());
  if (size == 0) return file.read();  // a pipe
  constexpr size_t kStart = 9;        // the size of the header and '{'
  read_to(kStart);
  const std::uint64_t begin = kStart - 1 + header_size(bytes, size, name);
  read_to(begin);
  const std::uint64_t stated = stated_size(std::string_view(bytes).substr(kStart - 1), name);
  if (stated != size - begin)
    refuse_size(name, size, begin + std::min(stated, std::uint64_t{1} << 62), "by its header");
  read_to(size);
  return bytes;
}

}  // namespace posbench
