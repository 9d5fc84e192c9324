#include "results/json/read_bytes.h"

#define ZLIB_CONST  // zlib only reads its input
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/printable.h"

namespace posbench {
namespace {

constexpr size_t kBlock = 1 << 20;              // bytes
constexpr std::uintmax_t kMaxRatio = 100;       // of decompressed to compressed size; that of reports is 3 to 20
constexpr std::uintmax_t kUnlimited = 1 << 24;  // bytes of decompressed text that have any ratio

}  // namespace

struct ByteSource::Inflation : z_stream {
  Inflation() : z_stream{} {
    if (inflateInit2(this, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(this); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
};

ByteSource::ByteSource(const std::filesystem::path& file) : name_(file.string()) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_character_file(file, error) || fs::is_block_file(file, error))
    refuse("is a device, expected a file or a pipe");
  if (fs::is_directory(file, error)) refuse("is a folder, expected a file");
  if (name_.empty()) throw InputError("the path is empty, expected a file or a folder");
  if (!fs::exists(file, error)) refuse("there is no such file or folder");
  const std::uintmax_t size = fs::file_size(file, error);  // fails for a pipe
  if (!error) size_ = size;
  file_.open(file, std::ios::binary);
  if (!file_) refuse("cannot be read");
  read_block();
  begin();
}

ByteSource::ByteSource(std::string_view bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes), size_(bytes.size()) {
  begin();
}

void ByteSource::begin() {
  if (bytes_.starts_with("\x1f\x8b")) {
    stream_ = std::make_shared<Inflation>();
    stream_->next_in = reinterpret_cast<const Bytef*>(bytes_.data());
    stream_->avail_in = static_cast<uInt>(bytes_.size());
    unpack();
  } else {
    show(bytes_);
  }
}

/// Makes a block the present one.
void ByteSource::show(std::string& block) {
  checksum_.add(block);
  setg(block.data(), block.data(), block.data() + block.size());
}

void ByteSource::refuse(const std::string& why) const {
  throw InputError(to_printable(fmt::format("{}: {}", name_, why)));
}

/// Reads the next block of the file. Returns false at its end.
bool ByteSource::read_block() {
  bytes_.resize(kBlock);
  size_t size = 0;
  if (file_.is_open()) {
    file_.read(bytes_.data(), kBlock);
    if (file_.bad()) refuse("cannot be read");
    size = static_cast<size_t>(file_.gcount());
  }
  bytes_.resize(size);
  num_read_ += size;
  return size > 0;
}

/// Makes the next block of decompressed bytes the present one. It is empty at the end.
void ByteSource::unpack() {
  unpacked_.resize(kBlock);
  stream_->next_out = reinterpret_cast<Bytef*>(unpacked_.data());
  stream_->avail_out = kBlock;
  while (stream_->avail_out > 0) {
    if (stream_->avail_in == 0) {
      if (!read_block()) {
        if (!is_complete_) refuse("its compressed data are cut off; copy the file again");
        break;
      }
      stream_->next_in = reinterpret_cast<const Bytef*>(bytes_.data());
      stream_->avail_in = static_cast<uInt>(bytes_.size());
    }
    if (is_complete_) {
      if (*stream_->next_in == 0) {  // padding
        ++stream_->next_in;
        --stream_->avail_in;
        continue;
      }
      inflateReset(stream_.get());
    }
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END) {
      const char* why = stream_->msg ? stream_->msg : "unknown";
      refuse(fmt::format("its compressed data are damaged ({}); copy the file again", why));
    }
    is_complete_ = result == Z_STREAM_END;
  }
  const size_t size = kBlock - stream_->avail_out;
  num_unpacked_ += size;
  check_ratio();
  unpacked_.resize(size);
  show(unpacked_);
}

void ByteSource::check_ratio() const {
  const std::uintmax_t packed = std::max(size_, num_read_), most = std::max(kUnlimited, kMaxRatio * packed);
  if (num_unpacked_ <= most) return;
  refuse(
      fmt::format("unpacks to more than {} bytes, expected at most 16 MiB or {} times its {} bytes; "
                  "if it is a report, unpack it with gunzip",
                  most, kMaxRatio, packed));
}

ByteSource::int_type ByteSource::underflow() {
  if (gptr() == egptr()) {
    if (stream_) {
      unpack();
    } else {
      read_block();
      show(bytes_);
    }
  }
  return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

void ByteSource::check_rest() {
  if (!stream_) return;
  do unpack();
  while (gptr() != egptr());
}

}  // namespace posbench
