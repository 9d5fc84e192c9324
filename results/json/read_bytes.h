// Reads files and pipes, which gzip may have compressed, in blocks.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>

#include "results/json/checksum.h"

namespace posbench {

/// Holds one block in memory, so that a file may be larger than memory. All functions throw InputError.
class ByteSource final : public std::streambuf {
 public:
  explicit ByteSource(const std::filesystem::path& file);
  /// Reads the bytes of a file that messages call `name`.
  ByteSource(std::string_view bytes, std::string name);

  const std::string& name() const { return name_; }
  /// Returns the unread part of the present block.
  std::string_view block() const { return {gptr(), egptr()}; }
  /// Refuses compressed bytes that are cut off or damaged after the present block.
  void check_rest();
  /// Refuses JSON, all of which was read, whose checksum is that of other bytes.
  void check_checksum() const { checksum_.check(name_); }

 private:
  struct Inflation;
  int_type underflow() override;
  void begin();
  bool read_block();
  void unpack();
  void show(std::string& block);
  void check_ratio() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::string name_;
  std::ifstream file_;                              // not open if all bytes are given
  std::string bytes_, unpacked_;                    // the present blocks
  std::uintmax_t size_ = 0;                         // bytes of the file, if it is not a pipe
  std::uintmax_t num_read_ = 0, num_unpacked_ = 0;  // bytes until now
  std::shared_ptr<Inflation> stream_;               // null if the bytes are not compressed
  ChecksumReader checksum_;                         // of the blocks until now
  bool is_complete_ = false;                        // gzip may have joined several streams; one has ended
};

}  // namespace posbench
