// JSON as the reports of this project need it: objects keep the order of their keys, hostile files are refused in
// time, and whatever is wrong is named by its file and its place.
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

/// Parses a whole file, or a text that `file` names in messages. Throws std::runtime_error, in one line, where it
/// cannot be read, is not JSON, nests deeper than 64, holds more than five million values, has an object with over
/// 10000 keys or with one key twice, or a number that a double cannot hold.
Json read_json(const std::filesystem::path& file);
Json parse_json(std::string_view text, const std::string& file);

/// A list under one key of the outermost object, whose items are handed over one by one and then forgotten, so
/// that a long report is never held as JSON. The value that comes back has the list, empty.
struct Stream {
  const char* key;
  /// Called with what stands before the list in the file, and with an item and its index.
  std::function<void(const Json& before, const Json& item, size_t index)> take;
  /// The same from simdjson, called by several threads at once and in any order. Where it throws, as where
  /// anything else is wrong, all items go to `take`, whose message is then the one that is thrown.
  std::function<void(const simdjson::dom::element& item, size_t index)> take_fast;
  /// Keys of the outermost object whose values nobody reads. They may be left out.
  bool (*skips)(std::string_view key);
};
Json read_json(const std::filesystem::path& file, const Stream&);

/// JSON that people read and `diff` compares: indented, with small values and what holds no further lists and
/// objects on one line each.
std::string pretty(const Json&);
/// JSON on one line, without its line end. Bytes that are not UTF-8 become U+FFFD, here and in pretty().
std::string compact(const Json&);

/// A value as messages show it: `"text"`, `1.5`, `a list`; cut where it is long.
std::string shown(const Json&);

/// Throws "FILE: PLACE is VALUE, WHAT", on one line, however long the value.
[[noreturn]] void fail(const std::string& file, const std::string& place, const Json& value,
                       const std::string& what);

/// A JSON value that knows where it stands. Each reader throws std::runtime_error where the value is not what it
/// expects: `before.json: experiments[3].seed is "x", expected an integer from 0 to 9`.
/// A field refers to the one that it was taken from, which must outlive it.
class Field {
 public:
  /// The whole of a file. Both must outlive it.
  Field(const Json& value, const std::string& file) : value_(&value), file_(&file) {}
  Field(const Json& value, std::string&& file) = delete;
  /// An item of a list under a key of the outermost object.
  Field(const Json& value, const std::string& file, const char* list, size_t index)
      : value_(&value), file_(&file), key_(list), index_(index) {}

  Field operator[](const char* key) const&;  // throws where it is missing
  Field operator[](size_t index) const&;
  Field operator[](const char* key) const&& = delete;
  Field operator[](size_t index) const&& = delete;

  bool has(const char* key) const;
  bool null() const;
  size_t size() const;  // of a list
  template <class F>
  void each(F f) const {  // item of a list
    for (size_t i = 0; i < size(); ++i) f((*this)[i]);
  }
  const Json& object() const;  // the value itself, which is an object
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
  std::string place() const;

  const Json* value_;
  const std::string* file_;
  const Field* parent_ = nullptr;
  const char* key_ = nullptr;  // in its parent, where that is an object
  size_t index_ = 0;           // in its parent, where that is a list
};

/// Reads every item of a list: read_list<CurvePoint>(experiment["learning_curve"], read_point).
template <class T, class Field, class Read>
std::vector<T> read_list(const Field& list, Read read) {
  std::vector<T> items;
  items.reserve(list.size());
  list.each([&](const Field& item) { items.push_back(read(item)); });
  return items;
}

/// Its reverse: the items as a JSON list.
template <class T, class Write>
auto write_list(const std::vector<T>& items, Write write) {
  std::vector<decltype(write(items.front()))> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(write(item));
  return list;
}

}  // namespace posbench
