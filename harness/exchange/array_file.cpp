#include "harness/exchange/array_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "harness/exchange/checksum.h"
#include "harness/exchange/npz.h"
#include "harness/exchange/safetensors_header.h"

namespace posbench {
namespace {

constexpr size_t kPiece = 1 << 20;  // bytes of an array that are buffered before they are written

struct ScalarNames {
  const char *numpy, *safetensors;
  std::int64_t size;
};
const ScalarNames& names(Scalar scalar) {
  static const ScalarNames names[] = {
      {"|b1", "BOOL", 1}, {"<i4", "I32", 4}, {"<i8", "I64", 8}, {"<f4", "F32", 4}, {"<f8", "F64", 8}};
  return names[static_cast<size_t>(scalar)];
}

std::string make_safetensors_header(const std::vector<ArrayInfo>& arrays,
                                    const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  std::int64_t begin = 0;
  for (const ArrayInfo& array : arrays) {
    const std::int64_t end = begin + array.count() * size_of(array.scalar);
    entries.push_back({array.name, names(array.scalar).safetensors, array.shape, begin, end});
    begin = end;
  }
  return safetensors_header(Json(metadata), entries);
}

std::vector<StoredArray> read_safetensors(std::string_view bytes, const std::string& file) {
  static const std::map<std::string, std::pair<char, int>> types{
      {"BOOL", {'b', 1}}, {"I8", {'i', 1}},  {"I16", {'i', 2}}, {"I32", {'i', 4}},
      {"I64", {'i', 8}},  {"U8", {'u', 1}},  {"U16", {'u', 2}}, {"U32", {'u', 4}},
      {"U64", {'u', 8}},  {"F32", {'f', 4}}, {"F64", {'f', 8}}};
  const SafetensorsFile split = split_safetensors(bytes, file);
  std::vector<StoredArray> arrays;
  for (const SafetensorsEntry& entry : split.entries) {
    const auto type = types.find(entry.type);
    if (type == types.end())
      throw_json_error(file, entry.name + ".dtype", entry.type, "expected integers, F32 or F64");
    const auto [kind, width] = type->second;
    arrays.push_back(
        {to_printable(entry.name), kind, width, entry.shape,
         split.numbers.substr(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.end - entry.begin))});
  }
  return arrays;
}

template <class T>
T get(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

std::int64_t size_of(Scalar scalar) { return names(scalar).size; }

std::int64_t ArrayInfo::count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

struct ArrayWriter::State {
  struct Array {
    std::string header;      // before the numbers: of the .npy file
    std::uint64_t at = 0;    // where the next piece goes
    std::uint64_t left = 0;  // bytes that are still to come
    std::string gathered;    // of the next piece
    NpzMember member;
  };

  OutputFile file;
  ArrayFormat format;
  std::vector<Array> arrays;
  std::uint64_t end = 0;  // of the numbers

  State(const std::filesystem::path& path, ArrayFormat form)
      : file(path, OutputFile::Order::anywhere), format(form) {}

  void write_gathered(Array& array) {
    if (format == ArrayFormat::npz) array.member.crc = crc32_after(array.member.crc, array.gathered);
    file.write_at(static_cast<off_t>(array.at), array.gathered);
    array.at += array.gathered.size();
    array.gathered.clear();
  }
};

std::optional<ArrayFormat> array_format(const std::filesystem::path& path) {
  if (path.extension() == ".npz") return ArrayFormat::npz;
  if (path.extension() == ".safetensors") return ArrayFormat::safetensors;
  return std::nullopt;
}

ArrayWriter::ArrayWriter(const std::filesystem::path& path, ArrayFormat format,
                         const std::vector<ArrayInfo>& infos, const std::map<std::string, std::string>& metadata)
    : state_(std::make_unique<State>(path, format)) {
  State& s = *state_;
  if (format == ArrayFormat::safetensors) {
    const std::string header = make_safetensors_header(infos, metadata);
    s.file.write_at(0, header);
    s.end = header.size();
  }
  for (const ArrayInfo& info : infos) {
    State::Array array;
    array.left = static_cast<std::uint64_t>(info.count() * size_of(info.scalar));
    if (format == ArrayFormat::npz) {
      array.header = npy_header(names(info.scalar).numpy, info.shape);
      array.member = {info.name + ".npy", s.end, array.header.size() + array.left, 0};
      s.end += local_header(array.member).size();
      array.gathered = array.header;
    }
    array.at = s.end;
    s.end += array.header.size() + array.left;
    s.arrays.push_back(std::move(array));
  }
}

ArrayWriter::~ArrayWriter() = default;

void ArrayWriter::append(size_t index, std::string_view bytes) {
  State::Array& array = state_->arrays[index];
  assert(bytes.size() <= array.left);
  array.left -= bytes.size();
  array.gathered += bytes;
  if (array.gathered.size() >= kPiece) state_->write_gathered(array);
}

void ArrayWriter::finish() {
  State& s = *state_;
  std::string directory;
  for (State::Array& array : s.arrays) {
    assert(array.left == 0);
    s.write_gathered(array);
    if (s.format == ArrayFormat::safetensors) continue;
    s.file.write_at(static_cast<off_t>(array.member.offset), local_header(array.member));
    directory += central_header(array.member);
  }
  if (s.format == ArrayFormat::npz)
    s.file.write_at(static_cast<off_t>(s.end), directory + archive_end(s.arrays.size(), s.end, directory.size()));
  s.file.finish();
}

std::int64_t ArrayView::integer(std::int64_t index) const {
  const char* at = data_ + index * width_;
  switch (kind_ == 'u' ? -width_ : width_) {
    case 1:
      return get<std::int8_t>(at);
    case 2:
      return get<std::int16_t>(at);
    case 4:
      return get<std::int32_t>(at);
    case 8:
      return get<std::int64_t>(at);
    case -1:
      return get<std::uint8_t>(at);
    case -2:
      return get<std::uint16_t>(at);
    case -4:
      return get<std::uint32_t>(at);
    default:
      break;
  }
  const auto value = get<std::uint64_t>(at);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

double ArrayView::number(std::int64_t index) const {
  const char* at = data_ + index * width_;
  return width_ == 4 ? get<float>(at) : get<double>(at);
}

std::string ArrayView::type() const {
  if (kind_ == 'b') return "bool";
  return fmt::format("{}{}", kind_ == 'f' ? "float" : kind_ == 'u' ? "uint" : "int", 8 * width_);
}

ArrayReader::ArrayReader(const std::filesystem::path& path) : file_(path.string()), bytes_(read_file(path)) {
  const bool is_npz = bytes_.starts_with("PK");
  if (!is_npz && (bytes_.size() < 9 || bytes_[8] != '{'))
    fail("cut off or damaged, or neither an .npz nor a .safetensors file");
  for (StoredArray& array : is_npz ? read_npz(bytes_, file_) : read_safetensors(bytes_, file_))
    add(std::move(array));
}

void ArrayReader::fail(const std::string& what) const { throw InputError(fmt::format("{}: {}", file_, what)); }

void ArrayReader::add(StoredArray array) {
  std::int64_t count = 1;
  const std::int64_t most = std::ssize(array.data);
  for (const std::int64_t size : array.shape) {
    if (size < 0 || (size > 0 && count > most / size)) fail(fmt::format("'{}' is cut off or damaged", array.name));
    count *= size;
  }
  if (count * array.width != most) {
    fail(fmt::format("'{}' has {} bytes, expected {} for its shape; it is cut off or damaged", array.name, most,
                     count * array.width));
  }
  const ArrayView view(array.kind, array.width, std::move(array.shape), array.data);
  if (!arrays_.emplace(array.name, view).second) fail(fmt::format("'{}' occurs in it twice", array.name));
}

}  // namespace posbench
