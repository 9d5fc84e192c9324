// Reads and writes JSON. Objects keep the order of their keys, files are read within limits of depth and size, and
// errors name the file and the location in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

namespace posbench {

class ByteSource;

using Json = nlohmann::ordered_json;

/// Parses a text, which messages call `file`, or a file, which gzip may have compressed. Throws InputError, with a
/// message of one line, if the file cannot be read or is not JSON, if it nests deeper than 64 or has more than
/// five million values, if an object has a duplicate key or over 10000 keys, or if a number does not fit a double.
/// A file must also have the checksum that it states (checksum.h), which is then removed from the value.
Json parse_json(std::string_view text, const std::string& file);
Json read_json(const std::filesystem::path& file);

/// Called with each item of each list that is a member of the outermost object: with the members in front of the
/// list and the list itself, the list's key, the item and its index. An item for which it returns true is deleted,
/// so that a long list is never in memory, and does not count as a value of the file.
using TakeItem = std::function<bool(const Json& before, const std::string& key, const Json& item, size_t index)>;
Json read_json(ByteSource&, const TakeItem&);
Json read_json(std::streambuf& text, const std::string& file, const TakeItem&);

/// Returns indented JSON that suits `diff`. Small values, and lists and objects of scalars, have one line each.
std::string to_indented_json(const Json&);
/// Returns the same text of an object with its checksum (checksum.h), for a file that posbench reads.
std::string to_file_json(const Json&);
/// Passes the indented JSON of the object `frame` in pieces to `pass_on`, with a list of `count` items under
/// `key`, where the frame has an empty list. `item` returns an item, which is an object with a list, by its index.
/// Several threads call it at once. At most 512 items are in memory at any time.
void write_indented_json(const Json& frame, const std::string& key, size_t count,
                         const std::function<Json(size_t index)>& item,
                         const std::function<void(std::string_view)>& pass_on);
/// Returns JSON on one line, without a newline. Bytes that are not UTF-8 become U+FFFD, here and in
/// to_indented_json().
std::string to_compact_json(const Json&);

/// Returns null if there is no number, or if it is not finite.
Json number_or_null(const std::optional<double>&);
/// Returns a number as summaries write it, with six decimals.
double six_decimals(double);
Json six_decimals_or_null(const std::optional<double>&);

/// Returns a value as messages show it: `"text"`, `1.5`, `a list`. Truncates it if it is long.
std::string describe_json(const Json&);

/// Throws an InputError "FILE: LOCATION is VALUE, WHAT", which is one line for any value.
[[noreturn]] void throw_json_error(const std::string& file, const std::string& location, const Json& value,
                                   const std::string& what);

/// A JSON value that knows its location. Each reader throws InputError if the value is not what it expects:
/// `before.json: experiments[3].seed is "x", expected an integer from 0 to 9`. The parent field must outlive the
/// field.
class Field {
 public:
  /// Returns the outermost value of a file. Both arguments must outlive the field.
  Field(const Json& value, const std::string& file) : value_(&value), file_(&file) {}
  Field(const Json& value, std::string&& file) = delete;
  /// Returns an item of a list under a key of the outermost object.
  Field(const Json& value, const std::string& file, const char* list, size_t index)
      : value_(&value), file_(&file), key_(list), index_(index) {}

  Field operator[](const char* key) const&;  // throws if it is missing
  Field operator[](size_t index) const&;
  Field operator[](const char* key) const&& = delete;
  Field operator[](size_t index) const&& = delete;

  bool has(const char* key) const;
  bool null() const;
  bool is_list() const;
  size_t size() const;  // of a list
  template <class F>
  void each(F f) const {  // of a list, item by item
    for (size_t i = 0; i < size(); ++i) f((*this)[i]);
  }
  const Json& object() const;  // this value, which must be an object
  /// Throws if this object has another key than these.
  void refuse_other_keys(const std::vector<std::string>& known) const;
  std::string text() const;
  std::string name() const;  // a text that is not empty and is printable
  bool flag() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::uint64_t natural() const;
  double number(double low, double high) const;
  /// Returns the index of the text among `names`.
  size_t choice(const std::vector<std::string>& names) const;
  /// Returns the enumerator that has the text as its name.
  template <class Enum>
  Enum enumerator() const {
    const EnumNames<Enum>& known = names_of(Enum{});
    return known.values()[choice(known.names())];
  }

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
template <class T, class Read>
std::vector<T> read_list(const Field& list, Read read) {
  std::vector<T> items;
  items.reserve(list.size());
  list.each([&](const Field& item) { items.push_back(read(item)); });
  return items;
}

/// Returns what `write` returns for each item.
template <class T, class Write>
auto write_list(const std::vector<T>& items, Write write) {
  std::vector<decltype(write(items.front()))> list;
  list.reserve(items.size());
  for (const T& item : items) list.push_back(write(item));
  return list;
}

}  // namespace posbench
