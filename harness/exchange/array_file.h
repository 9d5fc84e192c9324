// Reads and writes files of named arrays for other programs: uncompressed .npz and .safetensors. They are written
// in pieces, so that arrays may be larger than memory. Numbers are little-endian, arrays row-major.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/exchange/npz.h"

namespace posbench {

enum class ArrayFormat { npz, safetensors };
/// Returns the format that the extension names, or nothing if it names none.
std::optional<ArrayFormat> array_format(const std::filesystem::path&);

enum class Scalar { boolean, int32, int64, float32, float64 };
std::int64_t size_of(Scalar);  // bytes

struct ArrayInfo {
  std::string name;
  Scalar scalar = Scalar::int32;
  std::vector<std::int64_t> shape;

  std::int64_t count() const;  // of scalars
};

/// Writes one file as OutputFile does. Without finish() the path keeps its content.
class ArrayWriter {
 public:
  /// The shapes must be known. `metadata` is for .safetensors files. Throws FileError, as do all functions below.
  ArrayWriter(const std::filesystem::path&, ArrayFormat, const std::vector<ArrayInfo>&,
              const std::map<std::string, std::string>& metadata = {});
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

/// An array of a file that was read, with numbers of any width that the format has.
class ArrayView {
 public:
  ArrayView(char kind, int width, std::vector<std::int64_t> shape, std::string_view bytes)
      : shape(std::move(shape)), kind_(kind), width_(width), data_(bytes.data()) {}

  bool is_integer() const { return kind_ == 'i' || kind_ == 'u'; }
  bool is_float() const { return kind_ == 'f'; }
  std::int64_t integer(std::int64_t index) const;
  double number(std::int64_t index) const;  // of floats
  std::string type() const;                 // "float32"

  std::vector<std::int64_t> shape;

 private:
  char kind_;  // b, i, u or f
  int width_;  // bytes
  const char* data_;
};

/// Holds a file in memory and gives access to its arrays.
class ArrayReader {
 public:
  /// Detects the format by the first bytes. Throws InputError, which names the file, if the file is truncated,
  /// damaged or compressed, or has another format or type.
  explicit ArrayReader(const std::filesystem::path&);
  ArrayReader(const ArrayReader&) = delete;
  ArrayReader& operator=(const ArrayReader&) = delete;

  const std::map<std::string, ArrayView>& arrays() const { return arrays_; }

 private:
  void add(StoredArray);
  [[noreturn]] void fail(const std::string& what) const;

  std::string file_, bytes_;
  std::map<std::string, ArrayView> arrays_;
};

}  // namespace posbench
