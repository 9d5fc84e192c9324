#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "base/system.h"
#include "results/json/json.h"
#include "results/json/read_bytes.h"

namespace posbench {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKeys = 10000;        // of one object, whose keys are searched linearly
constexpr size_t kMaxValues = 5'000'000;  // in memory at once

/// Builds the value from the parser's events. The builder of nlohmann/json has no limit on depth, lets the last of
/// two equal keys win, and takes quadratic time for many keys and, with a callback, for long lists.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(Json& root, const std::string& file, const ListStream* stream)
      : root_(root), file_(file), stream_(stream) {}

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
    const bool is_streamed = stream_ && open_.size() == 1 && container.is_array() && key_ == stream_->key;
    open_.push_back(&append(std::move(container)));
    if (is_streamed) streamed_list_ = open_.back();
    return true;
  }
  bool close() {
    if (open_.back() == streamed_list_) streamed_list_ = nullptr;
    open_.pop_back();
    return finish();
  }
  /// Completes a value. An item of the streamed list is passed to the callback.
  bool finish() {
    if (open_.empty() || open_.back() != streamed_list_) return true;
    stream_->take(root_, streamed_list_->back(), num_streamed_++);
    streamed_list_->get_ref<Json::array_t&>().clear();
    values_ = 0;
    return true;
  }

  Json& root_;
  const std::string& file_;
  std::vector<Json*> open_;  // the lists and objects not yet closed, outermost first; only the last one grows
  std::string key_;          // of the member whose value is next
  const ListStream* stream_;
  Json* streamed_list_ = nullptr;  // while it is open
  size_t num_streamed_ = 0;
  size_t values_ = 0;  // since the last item
};

Json parse(std::string_view text, const std::string& file, const ListStream* stream) {
  Json value;
  Builder builder(value, file, stream);
  Json::sax_parse(text, &builder);
  return value;
}

/// Returns whether the Builder would accept a value that simdjson has parsed, inside of `depth` lists and objects.
/// Adds to `values`. May return false in doubtful cases.
bool is_sound(simdjson::dom::element value, size_t depth, size_t& values) {
  constexpr size_t kFewKeys = 64;  // few enough to compare all pairs
  if (++values > kMaxValues) return false;
  const bool is_list = value.is_array(), is_object = value.is_object();
  if ((is_list || is_object) && depth == kMaxDepth) return false;
  if (is_list) {
    for (const simdjson::dom::element item : simdjson::dom::array(value)) {
      if (!is_sound(item, depth + 1, values)) return false;
    }
  }
  if (is_object) {
    std::array<std::string_view, kFewKeys> keys;
    size_t count = 0;
    for (const auto& [key, member] : simdjson::dom::object(value)) {
      const auto end = keys.begin() + count;
      if (count == kFewKeys || std::find(keys.begin(), end, key) != end) return false;
      keys[count++] = key;
      if (!is_sound(member, depth + 1, values)) return false;
    }
  }
  return true;
}

/// Finds the items of the streamed list. It looks only at brackets and strings.
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

  /// Returns the text of the file with the list emptied.
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

  /// Skips a character or a string. Returns the change in depth.
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

  /// Skips white space and then the character. Returns false if another character comes next.
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

/// Lends parsers to threads, so that their buffers are used again. A thread_local parser would end the process if
/// memory is too small to register its destructor.
class ParserPool {
 public:
  /// Calls f with the element that simdjson parses, which is valid until f returns. Padding must follow the text.
  /// Throws exceptions derived from std::exception on errors.
  template <class F>
  void parse(std::string_view text, F f) {
    std::unique_ptr<simdjson::dom::parser> parser = take();
    f(simdjson::dom::element(parser->parse(text.data(), text.size(), /*realloc_if_needed=*/false)));
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(parser));
  }

 private:
  std::unique_ptr<simdjson::dom::parser> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<simdjson::dom::parser>();
    std::unique_ptr<simdjson::dom::parser> parser = std::move(idle_.back());
    idle_.pop_back();
    return parser;
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<simdjson::dom::parser>> idle_;
};

void check(simdjson::dom::element value, size_t depth) {
  size_t values = 0;
  if (!is_sound(value, depth, values)) throw InputError("only the Builder can decide");
}

/// Returns the members of the object `frame`, without those that are not used. Throws if it is not sound.
Json read_members(const std::string& frame, const ListStream& stream, ParserPool& parsers) {
  Json rest = Json::object();
  parsers.parse(frame, [&](const simdjson::dom::element& element) {
    for (const auto& [key, member] : simdjson::dom::object(element)) {
      if (rest.contains(key)) throw InputError("only the Builder can decide");
      Json& value = rest[std::string(key)];
      if (stream.is_unused(key)) continue;
      check(member, 1);
      value = parse(simdjson::minify(member), "", nullptr);
    }
  });
  return rest;
}

enum class AfterParsing { keep_text, release_text };

/// Returns the same as the Builder, in a fifth of the time. Returns nothing on errors; the Builder then reports
/// them. With release_text the memory of parsed items is given back, and `text` must not be read again.
std::optional<Json> read_fast(std::string& text, const ListStream& stream, AfterParsing after) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  Splitter splitter(text);
  if (!splitter.split(stream.key)) return std::nullopt;
  const std::vector<std::string_view>& items = splitter.items();
  std::string frame = splitter.rest();
  frame.reserve(frame.size() + simdjson::SIMDJSON_PADDING);
  constexpr size_t kWorthAThread = 32, kAtOnce = 8192;
  ParserPool parsers;
  try {
    Json rest = read_members(frame, stream, parsers);
    for (size_t first = 0; first < items.size(); first += kAtOnce) {
      const size_t count = std::min(kAtOnce, items.size() - first);
      const size_t jobs = std::clamp<size_t>(count / kWorthAThread, 1, count_hardware_threads());
      parallel_for(count, static_cast<int>(jobs), [&](size_t i) {
        parsers.parse(items[first + i], [&](const simdjson::dom::element& item) {
          check(item, 2);
          stream.take_fast(item, first + i);
        });
      });
      const std::string_view last = items[first + count - 1];
      const auto begin = static_cast<size_t>(items[first].data() - text.data());
      const auto end = static_cast<size_t>(last.data() + last.size() - text.data());
      if (after == AfterParsing::release_text) release_pages(text.data() + begin, end - begin);
    }
    return rest;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

bool parse_fast(std::string_view text, const std::function<void(const simdjson::dom::element&)>& f) {
  try {
    simdjson::dom::parser parser;
    const simdjson::dom::element value = parser.parse(text.data(), text.size());
    check(value, 0);
    f(value);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Json parse_json(std::string_view text, const std::string& file) { return parse(text, file, nullptr); }

Json parse_json(std::string_view bytes, const std::string& file, const ListStream& stream) {
  std::string text = is_compressed(bytes) ? decompress(bytes, file) : std::string(bytes);
  stream.check_text(text, file);
  if (std::optional<Json> rest = read_fast(text, stream, AfterParsing::keep_text)) return *std::move(rest);
  return parse(text, file, &stream);
}

Json read_json(const std::filesystem::path& file) {
  return parse(read_decompressed(file), file.string(), nullptr);
}

Json read_json(const std::filesystem::path& file, const ListStream& stream) {
  std::string text = read_decompressed(file);
  stream.check_text(text, file.string());
  std::error_code error;
  const bool can_repeat = std::filesystem::is_regular_file(file, error);
  if (std::optional<Json> rest =
          read_fast(text, stream, can_repeat ? AfterParsing::release_text : AfterParsing::keep_text))
    return *std::move(rest);
  if (can_repeat) text = read_decompressed(file);
  return parse(text, file.string(), &stream);
}

}  // namespace posbench
