#include "results/json/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/parallel_for.h"
#include "base/printable.h"

namespace posbench {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKeys = 10000;        // of one object: its keys are searched linearly
constexpr size_t kMaxValues = 5'000'000;  // in memory at once
constexpr size_t kMaxShown = 80;          // characters of a value in a message

std::string shorten(std::string text) {
  if (text.size() <= kMaxShown) return text;
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "...";
}

/// Builds the value from the parser's events. nlohmann's own builder has no limit on depth, lets the last of two
/// equal keys win, and takes quadratic time for many keys, and with a callback for long lists too.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(Json& root, const std::string& file, const Stream* stream) : root_(root), file_(file), stream_(stream) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    const Json& object = *open_.back();
    if (object.contains(key)) fail(fmt::format("an object has the key {} twice", shown(key)));
    if (object.size() == kMaxKeys) fail(fmt::format("an object has more than {} keys", kMaxKeys));
    key_ = std::move(key);
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) override {
    const std::string message = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const size_t end = message.find("] ");
    fail(shorten_long(end == message.npos ? message : message.substr(end + 2)));
  }

 private:
  // Such a message begins with the location and ends with the last token read, which may be long.
  static std::string shorten_long(const std::string& message) {
    return message.size() <= 200 ? message : message.substr(0, 200) + "...";
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(printable(fmt::format("{}: {}", file_, what)));
  }

  Json& append(Json value) {
    if (++values_ > kMaxValues) fail(fmt::format("it holds more than {} values", kMaxValues));
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) {
      auto& list = parent.get_ref<Json::array_t&>();
      list.push_back(std::move(value));
      return list.back();
    }
    auto& object = parent.get_ref<Json::object_t&>();
    object.Container::emplace_back(std::move(key_), std::move(value));  // key() checked that it is new
    return object.back().second;
  }
  bool add(Json value) {
    append(std::move(value));
    return finish();
  }
  bool open(Json container) {
    if (open_.size() == kMaxDepth) fail(fmt::format("lists and objects nest more than {} deep", kMaxDepth));
    const bool streams = stream_ && open_.size() == 1 && container.is_array() && key_ == stream_->key;
    open_.push_back(&append(std::move(container)));
    if (streams) streamed_list_ = open_.back();
    return true;
  }
  bool close() {
    if (open_.back() == streamed_list_) streamed_list_ = nullptr;
    open_.pop_back();
    return finish();
  }
  /// Called when a value is complete: passes on an item of the streamed list.
  bool finish() {
    if (open_.empty() || open_.back() != streamed_list_) return true;
    stream_->take(root_, streamed_list_->back(), streamed_++);
    streamed_list_->get_ref<Json::array_t&>().clear();
    values_ = 0;
    return true;
  }

  Json& root_;
  const std::string& file_;
  std::vector<Json*> open_;  // the lists and objects not yet closed, outermost first; only the last one grows
  std::string key_;          // of the member whose value is next
  const Stream* stream_;
  Json* streamed_list_ = nullptr;  // while it is open
  size_t streamed_ = 0;            // items
  size_t values_ = 0;              // values since the last item
};

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The nesting depth of lists and objects, including this one; stops counting at `most`.
int height(const Json& value, int most) {
  if (!value.is_structured() || most == 0) return 0;
  int inner = 0;
  for (const Json& item : value) inner = std::max(inner, height(item, most - 1));
  return 1 + inner;
}

void write(const Json& value, size_t indent, std::string& out) {
  constexpr size_t kLine = 200;
  const int height = posbench::height(value, 3);
  if (height < 3) {
    const std::string line = dump(value);
    if (height < 2 || line.size() <= kLine) {
      out += line;
      return;
    }
  }
  out += value.is_object() ? '{' : '[';
  for (auto item = value.begin(); item != value.end(); ++item) {
    out += item == value.begin() ? "\n" : ",\n";
    out.append(indent + 1, ' ');
    if (value.is_object()) out += dump(item.key()) + ": ";
    write(*item, indent + 1, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += value.is_object() ? '}' : ']';
}

Json parse(std::string_view text, const std::string& file, const Stream* stream) {
  Json value;
  Builder builder(value, file, stream);
  Json::sax_parse(text, &builder);
  return value;
}

/// Whether the Builder would accept what simdjson has parsed, at a depth of `depth` lists and objects; `values`
/// counts them. It may return false in doubtful cases. The stream, if given, says which members are skipped.
bool sound(simdjson::dom::element value, size_t depth, size_t& values, const Stream* stream = nullptr) {
  constexpr size_t kFewKeys = 64;  // few enough to compare all pairs
  if (++values > kMaxValues) return false;
  const bool list = value.is_array(), object = value.is_object();
  if ((list || object) && depth == kMaxDepth) return false;
  if (list) {
    for (const simdjson::dom::element item : simdjson::dom::array(value)) {
      if (!sound(item, depth + 1, values)) return false;
    }
  }
  if (object) {
    std::array<std::string_view, kFewKeys> keys;
    size_t count = 0;
    for (const auto& [key, member] : simdjson::dom::object(value)) {
      const auto end = keys.begin() + count;
      if (count == kFewKeys || std::find(keys.begin(), end, key) != end) return false;
      keys[count++] = key;
      if (stream != nullptr && stream->skips(key)) continue;
      if (!sound(member, depth + 1, values)) return false;
    }
  }
  return true;
}

void append(Json& object, std::string_view key, Json value) {
  object.get_ref<Json::object_t&>().Json::object_t::Container::emplace_back(std::string(key), std::move(value));
}

Json copied(simdjson::dom::element value) {
  using Type = simdjson::dom::element_type;
  switch (value.type()) {
    case Type::NULL_VALUE:
      return nullptr;
    case Type::BOOL:
      return bool(value);
    case Type::INT64:  // also if it is positive
      return std::int64_t(value) < 0 ? Json(std::int64_t(value)) : Json(std::uint64_t(value));
    case Type::UINT64:
      return std::uint64_t(value);
    case Type::DOUBLE:
      return double(value);
    case Type::STRING:
      return std::string(std::string_view(value));
    case Type::ARRAY: {
      Json list = Json::array();
      for (const simdjson::dom::element item : simdjson::dom::array(value)) list.push_back(copied(item));
      return list;
    }
    case Type::OBJECT: {
      Json object = Json::object();
      for (const auto& [key, member] : simdjson::dom::object(value)) append(object, key, copied(member));
      return object;
    }
  }
  return nullptr;
}

/// The bytes of a file, followed by the padding that simdjson may read.
struct Text {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  std::string_view view() const { return {bytes.get(), size}; }
  /// Makes room for so many bytes; those that it has are kept.
  void reserve(size_t capacity) {
    auto longer = std::make_unique_for_overwrite<char[]>(capacity + simdjson::SIMDJSON_PADDING);
    std::copy_n(bytes.get(), size, longer.get());
    bytes = std::move(longer);
  }
};

constexpr std::uintmax_t kMaxPipe = std::uintmax_t{1} << 30;  // bytes from a pipe, or unpacked

/// The bytes as they are. Does not use std::string, which would fill its memory with zeros first.
Text read_bytes(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMaxFile = 0xFFFF'FFFF;  // bytes; simdjson takes 2^32 - 1
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(printable(fmt::format("{}: {}", file.string(), why)));
  };
  std::error_code unknown;
  if (std::filesystem::is_character_file(file, unknown) || std::filesystem::is_block_file(file, unknown))
    refuse("is a device, expected a file or a pipe");
  if (std::filesystem::is_directory(file, unknown)) refuse("is a folder, expected a file");
  if (!std::filesystem::exists(file, unknown)) refuse("there is no such file or folder");
  std::ifstream in(file, std::ios::binary);
  const std::uintmax_t expected = std::filesystem::file_size(file, unknown);
  const std::uintmax_t most = unknown ? kMaxPipe : kMaxFile;
  if (!unknown && expected > most) refuse(fmt::format("has {} bytes, expected up to {}", expected, most));
  size_t capacity = unknown ? 1 << 20 : expected + 1;  // a pipe has no size
  Text text;
  text.reserve(capacity);
  while (in) {
    in.read(text.bytes.get() + text.size, static_cast<std::streamsize>(capacity - text.size));
    text.size += static_cast<size_t>(in.gcount());
    if (text.size < capacity) continue;
    if (text.size > most) refuse(fmt::format("has more than {} bytes", most));
    capacity *= 2;
    text.reserve(capacity);
  }
  if (!in.eof()) refuse("cannot be read");
  return text;
}

bool is_compressed(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// What gzip compressed, from one file or from several that were joined. `file` is for messages.
Text unpack(std::string_view bytes, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(printable(fmt::format("{}: {}", file, why)));
  };
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  Text text;
  size_t capacity = 1 << 20;
  text.reserve(capacity);
  for (;;) {
    const size_t given = std::min(bytes.size(), size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // which zlib only reads
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(text.bytes.get() + text.size);
    stream.avail_out = static_cast<uInt>(capacity - text.size);
    const int result = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    text.size = capacity - stream.avail_out;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (text.size > kMaxPipe) refuse(fmt::format("has more than {} bytes, unpacked", kMaxPipe));
    if (result == Z_STREAM_END) {
      if (bytes.empty()) return text;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const char* why = stream.msg ? stream.msg : "unknown";
      refuse(fmt::format("its compressed data are damaged ({}); copy the file again", why));
    } else if (text.size < capacity) {
      if (bytes.empty()) refuse("its compressed data are cut off; copy the file again");
    } else {
      capacity = std::min<size_t>(2 * capacity, kMaxPipe + 1);
      text.reserve(capacity);
    }
  }
}

Text read_text(const std::filesystem::path& file) {
  Text text = read_bytes(file);
  return is_compressed(text.view()) ? unpack(text.view(), file.string()) : std::move(text);
}

/// Finds the items of the streamed list. It scans only brackets and strings; the items are parsed afterwards.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  /// Returns false if `key` is not a key of the outermost object with a list of objects.
  bool split(const char* key) {
    const std::string quoted = fmt::format("\"{}\"", key);
    for (size_t depth = 0; at_ < text_.size();) {
      const size_t begin = at_;
      depth += pass();
      if (depth == 1 && text_.substr(begin, at_ - begin) == quoted && next(':') && next('[')) return split_list();
    }
    return false;
  }

  /// The text of the file with the list emptied.
  std::string rest() const { return std::string(text_.substr(0, list_begin_)).append(text_.substr(list_end_)); }
  const std::vector<std::string_view>& items() const { return items_; }

 private:
  bool split_list() {
    list_begin_ = list_end_ = at_;
    if (next(']')) return true;
    do {
      if (!next('{')) return false;
      const size_t begin = at_ - 1;
      for (size_t depth = 1; depth > 0;) {
        if (at_ == text_.size()) return false;
        depth += pass();
      }
      items_.push_back(text_.substr(begin, at_ - begin));
    } while (next(','));
    list_end_ = at_;
    return next(']');
  }

  /// Skips a character or a string; returns the change in depth.
  size_t pass() {
    switch (text_[at_++]) {
      case '{':
      case '[':
        return 1;
      case '}':
      case ']':
        return -size_t{1};
      case '"':
        while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        at_ = std::min(at_ + 1, text_.size());
        return 0;
      default:
        return 0;
    }
  }

  /// Skips white space, and then the character if it comes next.
  bool next(char expected) {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0, list_begin_ = 0, list_end_ = 0;
  std::vector<std::string_view> items_;
};

/// Calls f(value) for a text with padding behind it. Throws exceptions derived from std::exception on errors.
template <class F>
void parse_fast(std::string_view text, size_t depth, const Stream* stream, F f) {
  thread_local simdjson::dom::parser parser;
  const simdjson::dom::element value = parser.parse(text.data(), text.size(), false);
  size_t values = 0;
  if (!sound(value, depth, values, stream)) throw std::runtime_error("not for the fast way");
  f(value);
}

/// The same result as from the Builder, several times as fast. Nothing on errors; the Builder then reports them.
std::optional<Json> read_fast(const Text& text, const Stream& stream) {
  Splitter splitter(text.view());
  if (!splitter.split(stream.key)) return std::nullopt;
  std::string frame = splitter.rest();
  frame.reserve(frame.size() + simdjson::SIMDJSON_PADDING);
  const std::vector<std::string_view>& items = splitter.items();
  constexpr size_t kWorthAThread = 32;
  const int jobs = static_cast<int>(std::clamp<size_t>(items.size() / kWorthAThread, 1, all_cores()));
  Json rest = Json::object();
  try {
    parse_fast(frame, 0, &stream, [&](const simdjson::dom::element& value) {
      for (const auto& [key, member] : simdjson::dom::object(value)) {
        if (!stream.skips(key)) append(rest, key, copied(member));
      }
    });
    parallel_for(items.size(), jobs, [&](size_t i) {
      parse_fast(items[i], 2, nullptr, [&](const simdjson::dom::element& item) { stream.take_fast(item, i); });
    });
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return rest;
}

Json parse(const Text& text, const std::string& file, const Stream& stream) {
  if (std::optional<Json> rest = read_fast(text, stream)) return *std::move(rest);
  return parse(text.view(), file, &stream);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) { return parse(text, file, nullptr); }
Json read_json(const std::filesystem::path& file) { return parse(read_text(file).view(), file.string(), nullptr); }
Json read_json(const std::filesystem::path& file, const Stream& stream) {
  return parse(read_text(file), file.string(), stream);
}
Json parse_json(std::string_view bytes, const std::string& file, const Stream& stream) {
  if (is_compressed(bytes)) return parse(unpack(bytes, file), file, stream);
  Text text;
  text.reserve(bytes.size());
  std::copy_n(bytes.data(), text.size = bytes.size(), text.bytes.get());
  return parse(text, file, stream);
}

std::string compact(const Json& value) { return dump(value); }

std::string pretty(const Json& value) {
  std::string text;
  write(value, 0, text);
  return text + '\n';
}

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  // A long text is truncated before it is escaped: it may be a hundred megabytes.
  if (value.is_string()) return shorten(compact(shorten(value.get_ref<const std::string&>())));
  return compact(value);
}

void fail(const std::string& file, const std::string& location, const Json& value, const std::string& what) {
  throw std::runtime_error(printable(fmt::format("{}: {} is {}, {}", file, location, shown(value), what)));
}

std::string Field::location() const {
  if (!parent_) return key_ ? fmt::format("{}[{}]", key_, index_) : "";
  const std::string before = parent_->location();
  if (!key_) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? key_ : fmt::format("{}.{}", before, key_);
}

void Field::fail(const std::string& what) const {
  const std::string location = this->location();
  posbench::fail(*file_, location.empty() ? "the whole" : location, *value_, what);
}

Field Field::operator[](const char* key) const& {
  const Json& object = this->object();
  const auto found = object.find(key);
  if (found != object.end()) return {*found, this, key, 0};
  throw std::runtime_error(
      printable(fmt::format("{}: {} is missing", *file_, Field{object, this, key, 0}.location())));
}

Field Field::operator[](size_t index) const& { return {value_->at(index), this, nullptr, index}; }

bool Field::has(const char* key) const { return object().contains(key); }

bool Field::null() const { return value_->is_null(); }

size_t Field::size() const {
  if (!value_->is_array()) fail("expected a list");
  return value_->size();
}

const Json& Field::object() const {
  if (!value_->is_object()) fail("expected an object");
  return *value_;
}

std::string Field::text() const {
  if (!value_->is_string()) fail("expected a text");
  return value_->get<std::string>();
}

std::string Field::name() const {
  std::string text = this->text();
  if (!is_name(text)) fail("expected a name");
  return text;
}

bool Field::flag() const {
  if (!value_->is_boolean()) fail("expected true or false");
  return value_->get<bool>();
}

std::int64_t Field::integer(std::int64_t low, std::int64_t high) const {
  const bool fits = value_->is_number_unsigned() ? std::in_range<std::int64_t>(value_->get<std::uint64_t>())
                                                 : value_->is_number_integer();
  const std::int64_t value = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || value < low || value > high) fail(fmt::format("expected an integer from {} to {}", low, high));
  return value;
}

std::uint64_t Field::natural() const {
  if (!value_->is_number_integer() || (!value_->is_number_unsigned() && value_->get<std::int64_t>() < 0)) {
    fail(fmt::format("expected an integer from 0 to {}", std::numeric_limits<std::uint64_t>::max()));
  }
  return value_->get<std::uint64_t>();
}

double Field::number(double low, double high) const {
  const double value = value_->is_number() ? value_->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= low && value <= high)) fail(fmt::format("expected a number from {} to {}", low, high));
  return value;
}

size_t Field::choice(const std::vector<std::string>& names) const {
  const auto found = value_->is_string()
                         ? std::find(names.begin(), names.end(), value_->get_ref<const std::string&>())
                         : names.end();
  if (found == names.end()) fail(fmt::format("expected one of {}", fmt::join(names, ", ")));
  return static_cast<size_t>(found - names.begin());
}

}  // namespace posbench
