#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "results/json/json.h"
#include "results/json/read_bytes.h"

namespace posbench {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKeys = 10000;        // of one object, whose keys are searched linearly
constexpr size_t kMaxValues = 5'000'000;  // in memory at once
constexpr size_t kReserved = 8;           // values of a list or an object, before more memory is taken

/// Builds the value from the parser's events. The builder of nlohmann/json has no limit on depth, lets the last of
/// two equal keys win, and takes quadratic time for many keys and, with a callback, for long lists.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(Json& root, const std::string& file, const TakeItem& take) : root_(root), file_(file), take_(take) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(size_t) override { return open(Json::value_t::object); }
  bool start_array(size_t) override { return open(Json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    const Json& object = *open_.back();
    if (object.contains(key)) fail(fmt::format("an object has the key {} twice", describe_json(key)));
    if (object.size() == kMaxKeys) fail(fmt::format("an object has more than {} keys", kMaxKeys));
    key_ = std::move(key);
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string message = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const size_t end = message.find("] ");
    const std::string text = shorten_long(end == message.npos ? message : message.substr(end + 2));
    fail(text.starts_with("parse error") ? "not JSON: " + text : text);
  }

 private:
  // Such a message begins with the location and ends with the last token read, which may be long.
  static std::string shorten_long(const std::string& message) {
    return message.size() <= 200 ? message : message.substr(0, 200) + "...";
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(to_printable(fmt::format("{}: {}", file_, what)));
  }

  /// Makes a value in its place, because nlohmann/json takes long to move one and to destroy what remains.
  template <class Value>
  Json& append(Value&& value) {
    if (++values_ > kMaxValues) fail(fmt::format("it holds more than {} values", kMaxValues));
    if (open_.empty()) return root_ = Json(std::forward<Value>(value));
    Json& parent = *open_.back();
    if (parent.is_array()) return parent.get_ref<Json::array_t&>().emplace_back(std::forward<Value>(value));
    auto& object = parent.get_ref<Json::object_t&>();
    object.Container::emplace_back(std::move(key_), std::forward<Value>(value));  // key() checked that it is new
    return object.back().second;
  }
  template <class Value>
  bool add(Value&& value) {
    append(std::forward<Value>(value));
    return finish();
  }
  bool open(Json::value_t type) {
    if (open_.size() == kMaxDepth) fail(fmt::format("lists and objects nest more than {} deep", kMaxDepth));
    open_.push_back(&append(type));
    Json& container = *open_.back();
    type == Json::value_t::array ? container.get_ref<Json::array_t&>().reserve(kReserved)
                                 : container.get_ref<Json::object_t&>().reserve(kReserved);
    if (open_.size() == 2) num_items_ = 0;
    return true;
  }
  bool close() {
    open_.pop_back();
    return finish();
  }
  /// Completes a value. An item of a list in the outermost object is passed to the callback.
  bool finish() {
    if (!take_ || open_.size() != 2 || !root_.is_object() || !open_.back()->is_array()) return true;
    auto& list = open_.back()->get_ref<Json::array_t&>();
    const std::string& key = root_.get_ref<Json::object_t&>().back().first;
    if (!take_(root_, key, list.back(), num_items_++)) return true;
    list.pop_back();
    values_ = 0;
    return true;
  }

  Json& root_;
  const std::string& file_;
  std::vector<Json*> open_;  // the lists and objects not yet closed, outermost first; only the last one grows
  std::string key_;          // of the member whose value is next
  const TakeItem& take_;
  size_t num_items_ = 0;  // of the open list in the outermost object
  size_t values_ = 0;     // since the last item that was taken
};

/// Parses what sax_parse() accepts, which a zero byte ends.
template <class Input>
Json parse(Input&& input, const std::string& file, const TakeItem& take) {
  Json value;
  Builder builder(value, file, take);
  Json::sax_parse(std::forward<Input>(input), &builder);
  return value;
}

[[noreturn]] void refuse_zero_byte(const std::string& file) {
  throw InputError(to_printable(fmt::format("{}: not JSON: it contains a zero byte", file)));
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  if (text.find('\0') != text.npos) refuse_zero_byte(file);
  return parse(text, file, {});
}

Json read_json(std::streambuf& text, const std::string& file, const TakeItem& take) {
  std::istream input(&text);
  Json value = parse(input, file, take);
  if (!input.eof()) refuse_zero_byte(file);
  return value;
}

Json read_json(ByteSource& source, const TakeItem& take) {
  try {
    Json value = read_json(source, source.name(), take);
    source.check_checksum();
    if (value.is_object()) value.erase(kChecksum);
    return value;
  } catch (const InputError&) {
    source.check_rest();  // an error may come from damaged bytes
    throw;
  } catch (const std::bad_alloc&) {
    refuse_memory(source.name());
  }
}

Json read_json(const std::filesystem::path& file) {
  ByteSource source(file);
  return read_json(source, {});
}

}  // namespace posbench
