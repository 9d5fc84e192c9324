#include "results/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "results/printable.h"

namespace posbench {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKeys = 10000;        // of one object: its keys are searched one by one
constexpr size_t kMaxValues = 5'000'000;  // held at once
constexpr size_t kMaxShown = 80;          // characters of a value in a message

std::string shorten(std::string text) {
  if (text.size() <= kMaxShown) return text;
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "...";
}

/// Builds the value from the parser's events. nlohmann's own builder has no bound on depth, lets the last of two
/// equal keys win, and takes quadratic time for many keys; with a callback, for long lists too.
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
  // The place stands first in such a message, and the last token read, which may be long, at its end.
  static std::string shorten_long(const std::string& message) {
    return message.size() <= 200 ? message : message.substr(0, 200) + "...";
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(printable(fmt::format("{}: {}", file_, what)));
  }

  Json& place(Json value) {
    if (++values_ > kMaxValues) fail(fmt::format("it holds more than {} values", kMaxValues));
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) {
      auto& list = parent.get_ref<Json::array_t&>();
      list.push_back(std::move(value));
      return list.back();
    }
    auto& object = parent.get_ref<Json::object_t&>();
    object.Container::emplace_back(std::move(key_), std::move(value));  // key() saw that it is new
    return object.back().second;
  }
  bool add(Json value) {
    place(std::move(value));
    return finish();
  }
  bool open(Json container) {
    if (open_.size() == kMaxDepth) fail(fmt::format("lists and objects nest more than {} deep", kMaxDepth));
    const bool streams = stream_ && open_.size() == 1 && container.is_array() && key_ == stream_->key;
    open_.push_back(&place(std::move(container)));
    if (streams) streamed_list_ = open_.back();
    return true;
  }
  bool close() {
    if (open_.back() == streamed_list_) streamed_list_ = nullptr;
    open_.pop_back();
    return finish();
  }
  /// A value is whole: an item of the streamed list goes out.
  bool finish() {
    if (open_.empty() || open_.back() != streamed_list_) return true;
    stream_->take(root_, streamed_list_->back(), streamed_++);
    streamed_list_->get_ref<Json::array_t&>().clear();
    values_ = 0;
    return true;
  }

  Json& root_;
  const std::string& file_;
  std::vector<Json*> open_;  // the lists and objects not yet closed, outermost first; only the last of them grows
  std::string key_;          // of the member whose value comes next
  const Stream* stream_;
  Json* streamed_list_ = nullptr;  // while it is open
  size_t streamed_ = 0;            // items
  size_t values_ = 0;              // placed since the last of them
};

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Lists and objects inside each other, this one included; no more than `most` are looked for.
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

/// The same from a file that simdjson has parsed, several times as fast. What breaks a rule is not named here:
/// the Builder, asked next, does.
class Copier {
 public:
  explicit Copier(const Stream& stream) : stream_(stream) {}

  /// False where a rule is broken.
  bool copy(simdjson::dom::element root, Json& value) {
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) return false;
    value = Json::object();
    for (const auto& [key, member] : object) {
      if (stream_.skips(key, true)) continue;
      Json* copied = insert(value, key);
      simdjson::dom::array list;
      if (copied == nullptr) return false;
      if (key != stream_.key || member.get(list) != simdjson::SUCCESS) {
        if (!copy(member, *copied, 1)) return false;
        continue;
      }
      *copied = Json::array();
      size_t index = 0;
      for (const simdjson::dom::element item : list) {
        Json experiment;
        values_ = 0, in_list_ = true;
        if (!copy(item, experiment, 2)) return false;
        in_list_ = false;
        stream_.take(value, experiment, index++);
      }
    }
    return true;
  }

 private:
  /// A new member; null where there is one of that key, or too many.
  static Json* insert(Json& object, std::string_view key) {
    auto& members = object.get_ref<Json::object_t&>();
    const auto same = [&](const auto& member) { return member.first == key; };
    if (members.size() == kMaxKeys || std::any_of(members.begin(), members.end(), same)) return nullptr;
    members.Json::object_t::Container::emplace_back(std::string(key), nullptr);
    return &members.back().second;
  }

  bool copy(simdjson::dom::element from, Json& to, size_t depth) {
    using Type = simdjson::dom::element_type;
    if (++values_ > kMaxValues) return false;
    switch (from.type()) {
      case Type::NULL_VALUE:
        return true;
      case Type::BOOL:
        to = bool(from);
        return true;
      case Type::INT64:
        to = std::int64_t(from);
        if (to >= 0) to = std::uint64_t(std::int64_t(from));
        return true;
      case Type::UINT64:
        to = std::uint64_t(from);
        return true;
      case Type::DOUBLE:
        to = double(from);
        return true;
      case Type::STRING:
        to = std::string(std::string_view(from));
        return true;
      case Type::ARRAY: {
        to = Json::array();
        if (depth == kMaxDepth) return false;
        auto& list = to.get_ref<Json::array_t&>();
        for (const simdjson::dom::element item : simdjson::dom::array(from)) {
          if (!copy(item, list.emplace_back(), depth + 1)) return false;
        }
        return true;
      }
      case Type::OBJECT: {
        to = Json::object();
        if (depth == kMaxDepth) return false;
        for (const auto& [key, member] : simdjson::dom::object(from)) {
          if (in_list_ && stream_.skips(key, false)) continue;
          Json* copied = insert(to, key);
          if (copied == nullptr || !copy(member, *copied, depth + 1)) return false;
        }
        return true;
      }
    }
    return false;
  }

  const Stream& stream_;
  size_t values_ = 0;
  bool in_list_ = false;
};

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  constexpr size_t kChunk = 1 << 20;  // a pipe has no size to ask for
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (!unknown) text.reserve(size + kChunk + simdjson::SIMDJSON_PADDING);
  while (in && !std::filesystem::is_directory(file)) {
    const size_t before = text.size();
    text.resize(before + kChunk);
    in.read(text.data() + before, kChunk);
    text.resize(before + static_cast<size_t>(in.gcount()));
  }
  if (!in.eof()) throw std::runtime_error(fmt::format("{}: cannot be read as a file", file.string()));
  return text;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) { return parse(text, file, nullptr); }
Json read_json(const std::filesystem::path& file) { return parse(read_text(file), file.string(), nullptr); }
Json read_json(const std::filesystem::path& file, const Stream& stream) {
  std::string text = read_text(file);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  Json value;
  if (parser.parse(text.data(), text.size(), false).get(root) == simdjson::SUCCESS) {
    if (Copier(stream).copy(root, value)) return value;
  }
  return parse(text, file.string(), &stream);
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
  // A long text is cut before it is escaped: it may be a hundred megabytes.
  if (value.is_string()) return shorten(compact(shorten(value.get_ref<const std::string&>())));
  return compact(value);
}

void fail(const std::string& file, const std::string& place, const Json& value, const std::string& what) {
  throw std::runtime_error(printable(fmt::format("{}: {} is {}, {}", file, place, shown(value), what)));
}

std::string Field::place() const {
  if (!parent_) return key_ ? fmt::format("{}[{}]", key_, index_) : "";
  const std::string before = parent_->place();
  if (!key_) return fmt::format("{}[{}]", before, index_);
  return before.empty() ? key_ : fmt::format("{}.{}", before, key_);
}

void Field::fail(const std::string& what) const {
  const std::string place = this->place();
  posbench::fail(*file_, place.empty() ? "the whole" : place, *value_, what);
}

Field Field::operator[](const char* key) const& {
  const Json& object = this->object();
  const auto found = object.find(key);
  if (found != object.end()) return {*found, this, key, 0};
  throw std::runtime_error(
      printable(fmt::format("{}: {} is missing", *file_, Field{object, this, key, 0}.place())));
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
  const std::string text = this->text();
  if (text.empty() || printable(text) != text) fail("expected a name");
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
