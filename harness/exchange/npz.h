// Reads and writes the records of .npz files: zip archives (PKWARE's APPNOTE 6.3) whose members are .npy files
// (NumPy's format 1.0), without compression. The writers are for several members that are written in parallel,
// which zip libraries cannot do.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

/// A member of an archive. Its offset and size are in bytes.
struct NpzMember {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc = 0;
};

/// Returns the header of an .npy file of numbers of a NumPy type, as in "<f4".
std::string npy_header(const std::string& type, const std::vector<std::int64_t>& shape);
/// Returns the header before a member.
std::string local_header(const NpzMember&);
/// Returns the member's entry in the directory of the archive.
std::string central_header(const NpzMember&);
/// Returns the records after a directory of `size` bytes at the offset `directory`.
std::string archive_end(std::uint64_t members, std::uint64_t directory, std::uint64_t size);

/// The name, type, shape and bytes of an array in a file.
struct StoredArray {
  std::string name;
  char kind = 'i';  // b, i, u or f
  int width = 0;    // bytes of a number
  std::vector<std::int64_t> shape;
  std::string_view data;
};

/// Returns the arrays of an archive, whose bytes must outlive the result. Throws InputError, which names `file`,
/// if the archive is truncated, damaged or compressed, or has a member of another format or type.
std::vector<StoredArray> read_npz(std::string_view bytes, const std::string& file);

}  // namespace posbench
