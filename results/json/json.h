// JSON for reports: objects keep the order of their keys, files are read within limits of depth and size, and
// errors name the file and the JSON location.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace simdjson::dom {
class element;
}

namespace posbench {

using Json = nlohmann::ordered_json;

/// Parses a whole file, which may be compressed by gzip, or a text that messages call `file`. Throws std::runtime_error, in one line, if it cannot
/// be read, is not JSON, nests deeper than 64, has more than five million values, or has an object with over 10000
/// keys or with a duplicate key, or a number that does not fit a double.
Json read_json(const std::filesystem::path& file);
Json parse_json(std::string_view text, const std::string& file);

/// A list under one key of the outermost object, whose items are passed to a callback one by one and then dropped,
/// so that a long report is never in memory as JSON. The returned value has the list, but empty.
struct Stream {
  const char* key;
  /// Called with the members before the list in the file, and with an item and its index.
  std::function<void(const Json& before, const Json& item, size_t index)> take;
  /// The same from simdjson, called by several threads at once and in any order. If it throws, or if anything else
  /// is wrong, all items are passed to `take` instead, and its error is the one that is thrown.
  std::function<void(const simdjson::dom::element& item, size_t index)> take_fast;
  /// Whether the value of this key of the outermost object is unused. It may be left out of the result.
  bool (*skips)(std::string_view key);
};
Json read_json(const std::filesystem::path& file, const Stream&);
Json parse_json(std::string_view bytes, const std::string& file, const Stream&);  // these may be compressed too

/// Readable JSON that suits `diff`: indented, with small values and with lists and objects of scalars on one line
/// each.
std::string pretty(const Json&);
/// JSON on one line, without a newline. Bytes that are not UTF-8 become U+FFFD, here and in pretty().
std::string compact(const Json&);

/// A value as messages show it: `"text"`, `1.5`, `a list`; truncated if it is long.
std::string shown(const Json&);

/// Throws "FILE: LOCATION is VALUE, WHAT", on one line, however long the value.
[[noreturn]] void fail(const std::string& file, const std::string& location, const Json& value,
                       const std::string& what);

/// A JSON value that knows its location. Each reader throws std::runtime_error if the value is not what it
/// expects: `before.json: experiments[3].seed is "x", expected an integer from 0 to 9`.
/// A field refers to its parent field, which must outlive it.
class Field {
 public:
  /// The outermost value of a file. Both arguments must outlive the field.
  Field(const Json& value, const std::string& file) : value_(&value), file_(&file) {}
  Field(const Json& value, std::string&& file) = delete;
  /// An item of a list under a key of the outermost object.
  Field(const Json& value, const std::string& file, const char* list, size_t index)
      : value_(&value), file_(&file), key_(list), index_(index) {}

  Field operator[](const char* key) const&;  // throws if it is missing
  Field operator[](size_t index) const&;
  Field operator[](const char* key) const&& = delete;
  Field operator[](size_t index) const&& = delete;

  bool has(const char* key) const;
  bool null() const;
  size_t size() const;  // of a list
  template <class F>
  void each(F f) const {  // of a list, item by item
    for (size_t i = 0; i < size(); ++i) f((*this)[i]);
  }
  const Json& object() const;  // the value itself, which must be an object
  std::string text() const;
  std::string name() const;  // a text that is not empty and is printable
  bool flag() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::uint64_t natural() const;
  double number(double low, double high) const;
  /// The index of the text among `names`.
  size_t choice(const std::vector<std::string>& names) const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  Field(const Json& value, const Field* parent, const char* key, size_t index)
      : value_(&value), file_(parent->file_), parent_(parent), key_(key), index_(index) {}
  std::string location() const;

  const Json* value_;
  const std::string* file_;
  const Field* parent_ = nullptr;
  const char* key_ = nullptr;  // in its parent, if that is an object
  size_t index_ = 0;           // in its parent, if that is a list
};

/// Reads every item of a list: read_list<CurvePoint>(experiment["learning_curve"], read_point).
template <class T, class Field, class Read>
std::vector<T> read_list(const Field& list, Read read) {
  std::vector<T> items;
  items.reserve(list.size());
  list.each([&](const Field& item) { items.push_back(read(item)); });
  return items;
}

/// The inverse: the items as a JSON list.
template <class T, class Write>
auto write_list(const std::vector<T>& items, Write write) {
  std::vector<decltype(write(items.front()))> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(write(item));
  return list;
}

}  // namespace posbench
