// Files of named arrays that other programs read and write: NumPy's .npz, uncompressed, and .safetensors. They are
// written in pieces, so that arrays may be larger than memory. Numbers are little-endian, arrays row-major.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace posbench {

enum class ArrayFormat { npz, safetensors };

enum class Scalar { boolean, int32, int64, float32 };
std::int64_t size_of(Scalar);  // bytes

struct ArrayInfo {
  std::string name;
  Scalar scalar = Scalar::int32;
  std::vector<std::int64_t> shape;

  std::int64_t count() const;  // of scalars
};

/// Writes one file through a temporary one in the same folder, which is deleted unless finish() was called.
class ArrayWriter {
 public:
  /// The shapes must be known; `metadata` is for .safetensors files. Throws FileError, as all below.
  ArrayWriter(std::filesystem::path, ArrayFormat, std::vector<ArrayInfo>,
              std::map<std::string, std::string> metadata = {});
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;
  ~ArrayWriter();

  /// Appends values to an array; calls for different arrays may alternate.
  template <class T>
  void append(size_t array, const std::vector<T>& values) {
    append(array, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  void append(size_t array, std::string_view bytes);
  /// All arrays must be complete.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An array of a file that was read: numbers of any width that the format has.
class ArrayView {
 public:
  ArrayView(char kind, int width, std::vector<std::int64_t> shape, const char* data)
      : shape(std::move(shape)), kind_(kind), width_(width), data_(data) {}

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

/// The arrays of a file, which is kept in memory as long as this object lives.
class ArrayReader {
 public:
  /// Detects the format by the first bytes. Throws std::runtime_error with one line that names the file, if it is
  /// truncated, damaged, compressed, or has another format or type.
  explicit ArrayReader(const std::filesystem::path&);
  ArrayReader(const ArrayReader&) = delete;
  ArrayReader& operator=(const ArrayReader&) = delete;

  const std::map<std::string, ArrayView>& arrays() const { return arrays_; }

 private:
  void read_npz();
  void read_npy(const std::string& name, std::string_view bytes);
  void read_safetensors();
  void add(const std::string& name, char kind, int width, std::vector<std::int64_t> shape, std::string_view data);
  [[noreturn]] void fail(const std::string& what) const;

  std::string file_, bytes_;
  std::map<std::string, ArrayView> arrays_;
};

}  // namespace posbench
