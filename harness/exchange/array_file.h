// Reads and writes .safetensors files: eight bytes that count a JSON text, then this text with the type, the shape
// and the place of each array, then the numbers, little-endian and row-major. PyTorch and NumPy users open them.
// Their metadata has `crc32`, the checksum of the other metadata and of the numbers.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

/// Returns true if the extension is that of an array file, in any case. Throws InputError for .npz, which was one.
bool is_array_file(const std::filesystem::path&);

enum class Scalar {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};
std::int64_t size_of(Scalar);  // bytes

struct ArrayInfo {
  std::string name;
  Scalar scalar = Scalar::int32;
  std::vector<std::int64_t> shape;
};

/// Returns the number of scalars of a shape; -1 if it is more than 2^58.
std::int64_t count_of(const std::vector<std::int64_t>& shape);

using Metadata = std::map<std::string, std::string>;

/// Returns the bytes before the numbers of arrays, which follow in this order and have the checksum `numbers`.
std::string array_header(const std::vector<ArrayInfo>&, const Metadata&, std::uint32_t numbers);

/// Writes one file as OutputFile does, in pieces, so that arrays may be larger than memory. Without finish() the
/// path keeps its content.
class ArrayWriter {
 public:
  /// The shapes must be known. Throws FileError, as do all functions below.
  ArrayWriter(const std::filesystem::path&, const std::vector<ArrayInfo>&, const Metadata&);
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;
  ~ArrayWriter();

  /// Appends values to an array; calls for different arrays may alternate.
  template <class T>
  void append(size_t array, const std::vector<T>& values) {
    append(array, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  void append(size_t array, std::string_view bytes);
  /// Completes the file. All arrays must be complete.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An array of a file that was read.
struct ArrayView {
  Scalar scalar = Scalar::int32;
  std::vector<std::int64_t> shape;
  std::string_view bytes;

  bool is_integer() const;
  bool is_float() const;
  std::int64_t integer(std::int64_t index) const;
  double number(std::int64_t index) const;  // of floats
  std::string type() const;                 // "float32"
};

struct ArrayFile {
  Metadata metadata;
  std::map<std::string, ArrayView> arrays;
  std::string_view numbers;  // of all arrays
};

/// Parses the bytes of a file, which must outlive the result. Throws InputError, which names `file` and the
/// position in it, if it is truncated or damaged: the numbers of the arrays must fill it without holes, in any
/// order, and the metadata must have no other checksum than theirs.
ArrayFile parse_arrays(std::string_view bytes, const std::string& file);

/// Returns the bytes of a file of arrays. Throws InputError before it reads the numbers if the size of the file is
/// not that which its header states.
std::string read_array_bytes(const std::filesystem::path&);

}  // namespace posbench
