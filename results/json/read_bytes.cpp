#include "results/json/read_bytes.h"

#define ZLIB_CONST  // zlib only reads its input
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/printable.h"

namespace posbench {
namespace {

constexpr std::uintmax_t kMaxFile = 0xFFFF'FFFF;              // bytes of a regular file
constexpr std::uintmax_t kMaxPipe = std::uintmax_t{1} << 30;  // bytes of a pipe, and of decompressed text
constexpr size_t kBlock = 1 << 20;                            // bytes
constexpr size_t kRoom = 256;                                 // bytes after a text, which a parser may need
constexpr size_t kMaxRatio = 100;               // of decompressed to compressed size; that of reports is 3 to 20
constexpr size_t kUnlimited = size_t{1} << 24;  // bytes of decompressed text that have any ratio

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw InputError(to_printable(fmt::format("{}: {}", file, why)));
}

std::string read_bytes(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string name = file.string();
  if (fs::is_character_file(file, error) || fs::is_block_file(file, error))
    refuse(name, "is a device, expected a file or a pipe");
  if (fs::is_directory(file, error)) refuse(name, "is a folder, expected a file");
  if (name.empty()) throw InputError("the path is empty, expected a file or a folder");
  if (!fs::exists(file, error)) refuse(name, "there is no such file or folder");
  std::ifstream in(file, std::ios::binary);
  const std::uintmax_t expected = fs::file_size(file, error);  // fails for a pipe
  const std::uintmax_t most = error ? kMaxPipe : kMaxFile;
  if (!error && expected > most) refuse(name, fmt::format("has {} bytes, expected up to {}", expected, most));
  std::string text;
  size_t size = 0;
  while (in) {
    text.resize(size == 0 && !error ? expected + kRoom : std::max(size + kBlock, 2 * size));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    size += static_cast<size_t>(in.gcount());
    if (size > most) refuse(name, fmt::format("has more than {} bytes", most));
  }
  if (!in.eof()) refuse(name, "cannot be read");
  text.resize(size);
  return text;
}

}  // namespace

bool is_compressed(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string decompress(std::string_view bytes, const std::string& file) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  const size_t most = std::min<size_t>(kMaxPipe, std::max(kUnlimited, kMaxRatio * bytes.size()));
  const size_t packed = bytes.size();
  std::string text(kBlock, '\0');
  size_t size = 0;
  for (;;) {
    const size_t given = std::min(bytes.size(), size_t{1} << 30);
    stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = static_cast<uInt>(text.size() - size);
    const int result = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    size = text.size() - stream.avail_out;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (size > most) {
      refuse(file, fmt::format("unpacks to more than {} bytes, expected at most 16 MiB or {} times its {} bytes; "
                               "if it is a report, unpack it with gunzip",
                               most, kMaxRatio, packed));
    }
    if (result == Z_STREAM_END) {
      if (bytes.empty()) break;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const char* why = stream.msg ? stream.msg : "unknown";
      refuse(file, fmt::format("its compressed data are damaged ({}); copy the file again", why));
    } else if (size < text.size()) {
      if (bytes.empty()) refuse(file, "its compressed data are cut off; copy the file again");
    } else {
      text.resize(std::min<size_t>(2 * size, most + 1));
    }
  }
  text.resize(size);
  return text;
}

std::string read_decompressed(const std::filesystem::path& file) {
  std::string text = read_bytes(file);
  if (is_compressed(text)) text = decompress(text, file.string());
  return text;
}

}  // namespace posbench
