#include "harness/runs/array_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <boost/crc.hpp>
#include <cassert>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/printable.h"
#include "harness/runs/files.h"
#include "results/json/json.h"

// An .npz file is a zip archive (PKWARE's APPNOTE 6.3) whose members are .npy files (NumPy's format 1.0). Without
// compression both are a few fixed records. Zip libraries write one member after the other; one pass over a stream
// of samples has to write several in parallel.

namespace posbench {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of both formats");

constexpr size_t kPiece = 1 << 20;  // bytes of an array that are buffered before they are written
constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50,
                        kEnd = 0x06054b50;
constexpr std::uint32_t kIn64 = 0xffffffff;               // the value is in the 64-bit record
constexpr std::uint16_t kIn64Short = 0xffff, kZip64 = 1;  // 1: the tag of the 64-bit extra field
constexpr std::uint16_t kVersion = 45, kDate = 0x21;  // zip 4.5 has 64 bits; 1980-01-01, for the same bytes always
constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kCentralSize = 46, kLocalSize = 30;

struct ScalarNames {
  const char *numpy, *safetensors;
  std::int64_t size;
};
const ScalarNames& names(Scalar scalar) {
  static const ScalarNames names[] = {{"|b1", "BOOL", 1}, {"<i4", "I32", 4}, {"<i8", "I64", 8}, {"<f4", "F32", 4}};
  return names[static_cast<size_t>(scalar)];
}

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T get(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string npy_header(const ArrayInfo& array) {
  std::string shape;
  for (const std::int64_t size : array.shape) shape += fmt::format("{}, ", size);
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", names(array.scalar).numpy, shape);
  constexpr size_t kAlignment = 64, kBefore = 10;
  const size_t size = (kBefore + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kBefore;
  dict.resize(size - 1, ' ');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  put(bytes, static_cast<std::uint16_t>(size));
  return bytes + dict + "\n";
}

std::string safetensors_header(const std::vector<ArrayInfo>& arrays,
                               const std::map<std::string, std::string>& metadata) {
  Json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::int64_t begin = 0;
  for (const ArrayInfo& array : arrays) {
    const std::int64_t end = begin + array.count() * size_of(array.scalar);
    header[array.name] = {
        {"dtype", names(array.scalar).safetensors}, {"shape", array.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = compact(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string bytes;
  put(bytes, static_cast<std::uint64_t>(text.size()));
  return bytes + text;
}

/// A member of an archive, stored as it is.
struct Member {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc = 0;
};

/// The common part of local and central header, from the version to the lengths.
void put_common(std::string& bytes, const Member& member, std::uint32_t size, std::uint16_t extra) {
  put(bytes, kVersion);
  put(bytes, std::uint16_t{0});  // flags
  put(bytes, std::uint16_t{0});  // stored
  put(bytes, std::uint16_t{0});  // midnight
  put(bytes, kDate);
  put(bytes, member.crc);
  put(bytes, size);
  put(bytes, size);
  put(bytes, static_cast<std::uint16_t>(member.name.size()));
  put(bytes, extra);
}

std::string local_header(const Member& member) {
  std::string bytes;
  put(bytes, kLocal);
  put_common(bytes, member, kIn64, 20);
  bytes += member.name;
  put(bytes, kZip64);
  put(bytes, std::uint16_t{16});
  put(bytes, member.size);
  put(bytes, member.size);
  return bytes;
}

std::string central_header(const Member& member) {
  std::string bytes;
  put(bytes, kCentral);
  put(bytes, kVersion);
  put_common(bytes, member, kIn64, 28);
  bytes.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
  put(bytes, kIn64);
  bytes += member.name;
  put(bytes, kZip64);
  put(bytes, std::uint16_t{24});
  put(bytes, member.size);
  put(bytes, member.size);
  put(bytes, member.offset);
  return bytes;
}

std::string archive_end(std::uint64_t members, std::uint64_t directory, std::uint64_t size) {
  std::string bytes;
  put(bytes, kEnd64);
  put(bytes, std::uint64_t{kEnd64Size - 12});
  put(bytes, kVersion);
  put(bytes, kVersion);
  bytes.append(8, '\0');  // disks
  put(bytes, members);
  put(bytes, members);
  put(bytes, size);
  put(bytes, directory);
  put(bytes, kLocator64);
  put(bytes, std::uint32_t{0});
  put(bytes, directory + size);
  put(bytes, std::uint32_t{1});
  put(bytes, kEnd);
  bytes.append(4, '\0');
  put(bytes, kIn64Short);
  put(bytes, kIn64Short);
  put(bytes, kIn64);
  put(bytes, kIn64);
  put(bytes, std::uint16_t{0});
  return bytes;
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
    boost::crc_32_type checksum;
    Member member;
  };

  std::filesystem::path path, temporary;
  ArrayFormat format;
  std::vector<Array> arrays;
  std::unique_ptr<File> file;
  std::uint64_t end = 0;  // of the numbers
  bool finished = false;

  void write_gathered(Array& array) {
    if (format == ArrayFormat::npz) array.checksum.process_bytes(array.gathered.data(), array.gathered.size());
    file->write_at(static_cast<off_t>(array.at), array.gathered);
    array.at += array.gathered.size();
    array.gathered.clear();
  }
};

ArrayWriter::ArrayWriter(std::filesystem::path path, ArrayFormat format, std::vector<ArrayInfo> infos,
                         std::map<std::string, std::string> metadata)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = std::move(path);
  s.temporary = s.path.string() + ".tmp";
  s.format = format;
  s.file = std::make_unique<File>(s.temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (format == ArrayFormat::safetensors) {
    const std::string header = safetensors_header(infos, metadata);
    s.file->write_at(0, header);
    s.end = header.size();
  }
  for (const ArrayInfo& info : infos) {
    State::Array array;
    array.left = static_cast<std::uint64_t>(info.count() * size_of(info.scalar));
    if (format == ArrayFormat::npz) {
      array.header = npy_header(info);
      array.member = {info.name + ".npy", s.end, array.header.size() + array.left, 0};
      s.end += local_header(array.member).size();
      array.gathered = array.header;
    }
    array.at = s.end;
    s.end += array.header.size() + array.left;
    s.arrays.push_back(std::move(array));
  }
}

ArrayWriter::~ArrayWriter() {
  if (state_->finished) return;
  std::error_code ignored;
  std::filesystem::remove(state_->temporary, ignored);
}

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
    array.member.crc = array.checksum.checksum();
    s.file->write_at(static_cast<off_t>(array.member.offset), local_header(array.member));
    directory += central_header(array.member);
  }
  if (s.format == ArrayFormat::npz)
    s.file->write_at(static_cast<off_t>(s.end), directory + archive_end(s.arrays.size(), s.end, directory.size()));
  s.file->flush();
  s.file.reset();
  rename_file(s.temporary, s.path);
  s.finished = true;
}

std::int64_t ArrayView::integer(std::int64_t index) const {
  const char* at = data_ + index * width_;
  const std::string_view bytes(at, static_cast<size_t>(width_));
  switch (kind_ == 'u' ? -width_ : width_) {
    case 1:
      return get<std::int8_t>(bytes, 0);
    case 2:
      return get<std::int16_t>(bytes, 0);
    case 4:
      return get<std::int32_t>(bytes, 0);
    case 8:
      return get<std::int64_t>(bytes, 0);
    case -1:
      return get<std::uint8_t>(bytes, 0);
    case -2:
      return get<std::uint16_t>(bytes, 0);
    case -4:
      return get<std::uint32_t>(bytes, 0);
  }
  const std::uint64_t value = get<std::uint64_t>(bytes, 0);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

double ArrayView::number(std::int64_t index) const {
  const std::string_view bytes(data_ + index * width_, static_cast<size_t>(width_));
  return width_ == 4 ? get<float>(bytes, 0) : get<double>(bytes, 0);
}

std::string ArrayView::type() const {
  if (kind_ == 'b') return "bool";
  return fmt::format("{}{}", kind_ == 'f' ? "float" : kind_ == 'u' ? "uint" : "int", 8 * width_);
}

ArrayReader::ArrayReader(const std::filesystem::path& path) : file_(path.string()), bytes_(read_file(path)) {
  std::string_view(bytes_).starts_with("PK") ? read_npz() : read_safetensors();
}

void ArrayReader::fail(const std::string& what) const {
  throw std::runtime_error(fmt::format("{}: {}", file_, what));
}

void ArrayReader::add(const std::string& name, char kind, int width, std::vector<std::int64_t> shape,
                      std::string_view data) {
  std::int64_t count = 1;
  const std::int64_t most = static_cast<std::int64_t>(data.size());
  for (const std::int64_t size : shape) {
    if (size < 0 || (size > 0 && count > most / size)) fail(fmt::format("'{}' is cut off or damaged", name));
    count *= size;
  }
  if (count * width != most) {
    fail(fmt::format("'{}' has {} bytes, expected {} for its shape; it is cut off or damaged", name, data.size(),
                     count * width));
  }
  if (!arrays_.emplace(name, ArrayView(kind, width, std::move(shape), data.data())).second)
    fail(fmt::format("'{}' stands in it twice", name));
}

namespace {

/// The text after `key` in the dictionary of an .npy file.
std::string_view after(std::string_view dict, std::string_view key) {
  const size_t at = dict.find(key);
  if (at == dict.npos) return {};
  const size_t colon = dict.find(':', at);
  if (colon == dict.npos) return {};
  const size_t value = dict.find_first_not_of(' ', colon + 1);
  return value == dict.npos ? std::string_view{} : dict.substr(value);
}

std::vector<std::int64_t> read_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  for (size_t at = 1; at < text.size() && text[at] != ')'; ++at) {
    if (text[at] < '0' || text[at] > '9') continue;
    std::int64_t size = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && size < (std::int64_t{1} << 48); ++at)
      size = 10 * size + (text[at] - '0');
    shape.push_back(size);
    --at;
  }
  return shape;
}

}  // namespace

void ArrayReader::read_npz() {
  const std::string_view bytes = bytes_;
  const auto cut_off = [&]() { fail("cut off or damaged: the directory of the archive is not at its end"); };
  size_t end = bytes.rfind(std::string_view("PK\5\6", 4));
  if (end == bytes.npos || bytes.size() - end < kEndSize) cut_off();
  std::uint64_t members = get<std::uint16_t>(bytes, end + 10), directory = get<std::uint32_t>(bytes, end + 16);
  if (members == kIn64Short || directory == kIn64) {
    if (end < kLocatorSize + kEnd64Size || get<std::uint32_t>(bytes, end - kLocatorSize) != kLocator64) cut_off();
    const std::uint64_t at = get<std::uint64_t>(bytes, end - kLocatorSize + 8);
    if (at > bytes.size() - kEnd64Size || get<std::uint32_t>(bytes, at) != kEnd64) cut_off();
    members = get<std::uint64_t>(bytes, at + 32), directory = get<std::uint64_t>(bytes, at + 48);
  }
  for (std::uint64_t n = 0, at = directory; n < members; ++n) {
    if (at > bytes.size() || bytes.size() - at < kCentralSize || get<std::uint32_t>(bytes, at) != kCentral)
      cut_off();
    const auto method = get<std::uint16_t>(bytes, at + 10);
    const auto crc = get<std::uint32_t>(bytes, at + 16);
    std::uint64_t size = get<std::uint32_t>(bytes, at + 24), offset = get<std::uint32_t>(bytes, at + 42);
    const std::uint64_t packed = get<std::uint32_t>(bytes, at + 20);
    const size_t name_size = get<std::uint16_t>(bytes, at + 28), extra_size = get<std::uint16_t>(bytes, at + 30);
    const size_t comment = get<std::uint16_t>(bytes, at + 32);
    if (bytes.size() - at - kCentralSize < name_size + extra_size + comment) cut_off();
    const std::string_view file = bytes.substr(at + kCentralSize, name_size);
    if (!file.ends_with(".npy")) fail(fmt::format("'{}' in it is no .npy file", printable(file)));
    const std::string name = printable(file.substr(0, file.size() - 4));
    if (method != 0) fail(fmt::format("'{}' is compressed; write it with numpy.savez", name));
    std::string_view extra = bytes.substr(at + kCentralSize + name_size, extra_size);
    while (extra.size() >= 4) {
      const size_t length = get<std::uint16_t>(extra, 2);
      if (extra.size() - 4 < length) cut_off();
      if (get<std::uint16_t>(extra, 0) == kZip64) {
        size_t field = 4;
        for (std::uint64_t* value : {&size, static_cast<std::uint64_t*>(nullptr), &offset}) {
          const bool here = value == nullptr ? packed == kIn64 : *value == kIn64;
          if (!here) continue;
          if (field + 8 > 4 + length) cut_off();
          if (value != nullptr) *value = get<std::uint64_t>(extra, field);
          field += 8;
        }
      }
      extra.remove_prefix(4 + length);
    }
    if (offset > bytes.size() || bytes.size() - offset < kLocalSize || get<std::uint32_t>(bytes, offset) != kLocal)
      cut_off();
    const std::uint64_t data =
        offset + kLocalSize + get<std::uint16_t>(bytes, offset + 26) + get<std::uint16_t>(bytes, offset + 28);
    if (data > bytes.size() || bytes.size() - data < size) cut_off();
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes.data() + data, size);
    if (checksum.checksum() != crc) fail(fmt::format("'{}' is damaged: its checksum is another", name));
    read_npy(name, bytes.substr(data, size));
    at += kCentralSize + name_size + extra_size + comment;
  }
}

void ArrayReader::read_npy(const std::string& name, std::string_view bytes) {
  const auto damaged = [&]() { fail(fmt::format("'{}' is no .npy file", name)); };
  if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY")) damaged();
  const bool first = bytes[6] == 1;
  const size_t header = first ? get<std::uint16_t>(bytes, 8) : get<std::uint32_t>(bytes, 8), at = first ? 10 : 12;
  if (bytes.size() - at < header) damaged();
  const std::string_view dict = bytes.substr(at, header);
  const std::string_view type = after(dict, "'descr'"), order = after(dict, "'fortran_order'"),
                         shape = after(dict, "'shape'");
  if (!shape.starts_with('(')) damaged();
  if (!order.starts_with("False"))
    fail(fmt::format("'{}' is in Fortran order; write it as numpy.ascontiguousarray", name));
  const std::string_view word = type.size() < 5 ? std::string_view{} : type.substr(1, 3);
  if (word.size() != 3 || std::string_view("<|").find(word[0]) == word.npos ||
      std::string_view("biuf").find(word[1]) == word.npos || type[4] != type[0] ||
      std::string_view("1248").find(word[2]) == word.npos || (word[1] == 'f' && word[2] < '4')) {
    fail(fmt::format("'{}' has the type {}, expected little-endian integers, float32 or float64", name,
                     printable(type.substr(0, type.find(',')))));
  }
  add(name, word[1], word[2] - '0', read_shape(shape), bytes.substr(at + header));
}

void ArrayReader::read_safetensors() {
  const std::string_view bytes = bytes_;
  const auto cut_off = [&]() { fail("cut off or damaged, or neither an .npz nor a .safetensors file"); };
  if (bytes.size() < 8) cut_off();
  const std::uint64_t size = get<std::uint64_t>(bytes, 0);
  if (size > bytes.size() - 8) cut_off();
  const Json header = parse_json(bytes.substr(8, size), file_);
  const std::string_view numbers = bytes.substr(8 + size);
  static const std::map<std::string, std::pair<char, int>> types{
      {"BOOL", {'b', 1}}, {"I8", {'i', 1}},  {"I16", {'i', 2}}, {"I32", {'i', 4}},
      {"I64", {'i', 8}},  {"U8", {'u', 1}},  {"U16", {'u', 2}}, {"U32", {'u', 4}},
      {"U64", {'u', 8}},  {"F32", {'f', 4}}, {"F64", {'f', 8}}};
  const Field root(header, file_);
  constexpr std::int64_t kMax = std::int64_t{1} << 48;
  for (const auto& [name, ignored] : root.object().items()) {
    if (name == "__metadata__") continue;
    const Field entry = root[name.c_str()];
    const Field type_field = entry["dtype"], offsets = entry["data_offsets"];
    const auto type = types.find(type_field.text());
    if (type == types.end()) type_field.fail("expected integers, F32 or F64");
    const auto natural = [](const Field& json) { return json.integer(0, kMax); };
    const auto place = read_list<std::int64_t>(offsets, natural);
    if (place.size() != 2 || place[0] > place[1] || place[1] > static_cast<std::int64_t>(numbers.size()))
      fail(fmt::format("'{}' is cut off or damaged: its numbers end beyond the file", printable(name)));
    add(printable(name), type->second.first, type->second.second, read_list<std::int64_t>(entry["shape"], natural),
        numbers.substr(static_cast<size_t>(place[0]), static_cast<size_t>(place[1] - place[0])));
  }
}

}  // namespace posbench
