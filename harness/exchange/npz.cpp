#include "harness/exchange/npz.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "harness/exchange/checksum.h"

namespace posbench {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50,
                        kEnd = 0x06054b50;
constexpr std::uint32_t kIn64 = 0xffffffff;               // the value is in the 64-bit record
constexpr std::uint16_t kIn64Short = 0xffff, kZip64 = 1;  // 1: the tag of the 64-bit extra field
constexpr std::uint16_t kVersion = 45, kDate = 0x21;  // zip 4.5 has 64 bits; 1980-01-01, for the same bytes always
constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kCentralSize = 46, kLocalSize = 30;

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

/// Appends the common part of local and central header, from the version to the lengths.
void put_common(std::string& bytes, const NpzMember& member, std::uint32_t size, std::uint16_t extra) {
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

/// Returns the text after `key` in the dictionary of an .npy file.
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

/// Reads one archive.
class NpzReader {
 public:
  NpzReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::vector<StoredArray> read() const {
    std::vector<StoredArray> arrays;
    auto [members, at] = find_directory();
    for (; members > 0; --members) {
      const Entry entry = read_entry(at);
      arrays.push_back(read_npy(entry.name, member_bytes(entry)));
      at += entry.record_size;
    }
    return arrays;
  }

 private:
  struct Directory {
    std::uint64_t members = 0, offset = 0;
  };
  /// An entry of the directory.
  struct Entry {
    std::string name;
    std::uint64_t size = 0, packed = 0, offset = 0;
    std::uint32_t crc = 0;
    std::uint64_t record_size = 0;
  };

  [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}: {}", file_, what)); }
  [[noreturn]] void fail_cut_off() const {
    fail("cut off or damaged: the directory of the archive is not at its end");
  }

  Directory find_directory() const {
    const size_t end = bytes_.rfind(std::string_view("PK\5\6", 4));
    if (end == bytes_.npos || bytes_.size() - end < kEndSize) fail_cut_off();
    const Directory found{get<std::uint16_t>(bytes_, end + 10), get<std::uint32_t>(bytes_, end + 16)};
    if (found.members != kIn64Short && found.offset != kIn64) return found;
    if (end < kLocatorSize + kEnd64Size || get<std::uint32_t>(bytes_, end - kLocatorSize) != kLocator64)
      fail_cut_off();
    const std::uint64_t at = get<std::uint64_t>(bytes_, end - kLocatorSize + 8);
    if (at > bytes_.size() - kEnd64Size || get<std::uint32_t>(bytes_, at) != kEnd64) fail_cut_off();
    return {get<std::uint64_t>(bytes_, at + 32), get<std::uint64_t>(bytes_, at + 48)};
  }

  Entry read_entry(std::uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < kCentralSize || get<std::uint32_t>(bytes_, at) != kCentral)
      fail_cut_off();
    const auto method = get<std::uint16_t>(bytes_, at + 10);
    Entry entry{.size = get<std::uint32_t>(bytes_, at + 24),
                .packed = get<std::uint32_t>(bytes_, at + 20),
                .offset = get<std::uint32_t>(bytes_, at + 42),
                .crc = get<std::uint32_t>(bytes_, at + 16)};
    const size_t name_size = get<std::uint16_t>(bytes_, at + 28), extra_size = get<std::uint16_t>(bytes_, at + 30);
    const size_t comment = get<std::uint16_t>(bytes_, at + 32);
    if (bytes_.size() - at - kCentralSize < name_size + extra_size + comment) fail_cut_off();
    const std::string_view name = bytes_.substr(at + kCentralSize, name_size);
    if (!name.ends_with(".npy")) fail(fmt::format("'{}' in it is no .npy file", to_printable(name)));
    entry.name = to_printable(name.substr(0, name.size() - 4));
    if (method != 0) fail(fmt::format("'{}' is compressed; write it with numpy.savez", entry.name));
    read_extra(bytes_.substr(at + kCentralSize + name_size, extra_size), entry);
    entry.record_size = kCentralSize + name_size + extra_size + comment;
    return entry;
  }

  /// Reads the values of an entry that do not fit 32 bits.
  void read_extra(std::string_view extra, Entry& entry) const {
    while (extra.size() >= 4) {
      const size_t length = get<std::uint16_t>(extra, 2);
      if (extra.size() - 4 < length) fail_cut_off();
      if (get<std::uint16_t>(extra, 0) == kZip64) {
        size_t field = 4;
        for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
          if (*value != kIn64) continue;
          if (field + 8 > 4 + length) fail_cut_off();
          *value = get<std::uint64_t>(extra, field);
          field += 8;
        }
      }
      extra.remove_prefix(4 + length);
    }
  }

  std::string_view member_bytes(const Entry& entry) const {
    const std::uint64_t offset = entry.offset;
    if (offset > bytes_.size() || bytes_.size() - offset < kLocalSize ||
        get<std::uint32_t>(bytes_, offset) != kLocal)
      fail_cut_off();
    const std::uint64_t data =
        offset + kLocalSize + get<std::uint16_t>(bytes_, offset + 26) + get<std::uint16_t>(bytes_, offset + 28);
    if (data > bytes_.size() || bytes_.size() - data < entry.size) fail_cut_off();
    const std::string_view bytes = bytes_.substr(data, entry.size);
    if (crc32_after(0, bytes) != entry.crc)
      fail(fmt::format("'{}' is damaged: its checksum is another", entry.name));
    return bytes;
  }

  StoredArray read_npy(const std::string& name, std::string_view bytes) const {
    const auto damaged = [&] { fail(fmt::format("'{}' is no .npy file", name)); };
    if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY")) damaged();
    const bool first = bytes[6] == 1;
    const size_t header = first ? get<std::uint16_t>(bytes, 8) : get<std::uint32_t>(bytes, 8),
                 at = first ? 10 : 12;
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
                       to_printable(type.substr(0, type.find(',')))));
    }
    return {name, word[1], word[2] - '0', read_shape(shape), bytes.substr(at + header)};
  }

  std::string_view bytes_;
  const std::string& file_;
};

}  // namespace

std::string npy_header(const std::string& type, const std::vector<std::int64_t>& sizes) {
  std::string shape;
  for (const std::int64_t size : sizes) shape += fmt::format("{}, ", size);
  if (sizes.size() > 1) shape.resize(shape.size() - 2);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr size_t kAlignment = 64, kBefore = 10;
  const size_t size = (kBefore + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kBefore;
  dict.resize(size - 1, ' ');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  put(bytes, static_cast<std::uint16_t>(size));
  return bytes + dict + "\n";
}

std::string local_header(const NpzMember& member) {
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

std::string central_header(const NpzMember& member) {
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

std::vector<StoredArray> read_npz(std::string_view bytes, const std::string& file) {
  return NpzReader(bytes, file).read();
}

}  // namespace posbench
