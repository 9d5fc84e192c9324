#include "results/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "results/json/checksum.h"

namespace posbench {
namespace {

constexpr size_t kMaxShown = 80;  // characters of a value in a message

std::string shorten(std::string text) {
  if (text.size() <= kMaxShown) return text;
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  return text.substr(0, end) + "...";
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns the nesting depth of lists and objects, including this one; stops counting at `most`.
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

}  // namespace

std::string to_compact_json(const Json& value) { return dump(value); }

std::string to_indented_json(const Json& value) {
  std::string text;
  write(value, 0, text);
  return text + '\n';
}

std::string to_file_json(const Json& value) { return with_checksum(to_indented_json(value)); }

void write_indented_json(const Json& frame, const std::string& key, size_t count,
                         const std::function<Json(size_t index)>& item,
                         const std::function<void(std::string_view)>& pass_on) {
  std::string text = "{";
  for (const auto& [name, value] : frame.items()) {
    text += fmt::format("{}\n {}: ", text == "{" ? "" : ",", dump(name));
    if (name != key || count == 0) {
      write(value, 1, text);
      continue;
    }
    text += '[';
    pass_on(text);
    text = "\n ]";
    write_in_order(
        count,
        [&](size_t i) {
          std::string one = i == 0 ? "\n  " : ",\n  ";
          write(item(i), 2, one);
          return one;
        },
        pass_on);
  }
  pass_on(text + "\n}\n");
}

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

double six_decimals(double value) { return std::round(value * 1e6) / 1e6; }

Json six_decimals_or_null(const std::optional<double>& value) {
  return value ? Json(six_decimals(*value)) : Json(nullptr);
}

std::string describe_json(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  // A long text is truncated before it is escaped: it may be a hundred megabytes.
  if (value.is_string()) return shorten(to_compact_json(shorten(value.get_ref<const std::string&>())));
  return to_compact_json(value);
}

void throw_json_error(const std::string& file, const std::string& location, const Json& value,
                      const std::string& what) {
  throw InputError(to_printable(fmt::format("{}: {} is {}, {}", file, location, describe_json(value), what)));
}

}  // namespace posbench
