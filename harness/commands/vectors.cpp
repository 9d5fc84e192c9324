#include "harness/commands/vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/text.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"
#include "harness/exchange/array_file.h"
#include "results/json/json.h"

namespace posbench {
namespace {

/// Appends a number, or the numbers of nested lists of equal length. `axis` is the depth of the value. null is the
/// score of a hidden key.
void append_values(const std::string& file, const Json& value, size_t axis, GoldenArray& array) {
  if (value.is_array()) {
    if (axis == array.shape.size() && array.values.empty())
      array.shape.push_back(static_cast<std::int64_t>(value.size()));
    if (axis >= array.shape.size() || array.shape[axis] != static_cast<std::int64_t>(value.size()))
      throw_json_error(file, array.name, value, "expected lists of equal length");
    for (const Json& item : value) append_values(file, item, axis + 1, array);
    return;
  }
  if (axis != array.shape.size() || !(value.is_number() || value.is_null()))
    throw_json_error(file, array.name, value, "expected a number, or nested lists of numbers");
  array.values.push_back(value.is_null() ? -std::numeric_limits<double>::infinity() : value.get<double>());
}

Arrays read_json_arrays(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Json json = read_json(path);
  const Field root(json, file);
  const Json& object = root.has("arrays") ? root["arrays"].object() : root.object();
  Arrays arrays;
  for (const auto& [name, value] : object.items()) {
    GoldenArray array{name, {}, {}, {}};
    append_values(file, value, 0, array);
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Arrays read_safetensors(const std::filesystem::path& path) {
  const std::string bytes = read_array_bytes(path), file = path.string();
  const ArrayFile read = parse_arrays(bytes, file);
  Arrays arrays;
  for (const auto& [given_name, view] : read.arrays) {
    const std::string name = to_printable(given_name);
    if (!view.is_integer() && !view.is_float())
      throw InputError(fmt::format("{}: '{}' has type {}, expected numbers", file, name, view.type()));
    GoldenArray array{name, {}, view.shape, {}};
    for (std::int64_t n = 0; n < count_of(view.shape); ++n)
      array.values.push_back(view.is_float() ? view.number(n) : static_cast<double>(view.integer(n)));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

/// Sets the positions and the length of the request, and reads the inputs.
void complete(VectorsRequest& vectors) {
  GoldenRequest& request = vectors.request;
  request.encoding = read_encoding(request.encoding).text();
  request.length = vectors.length.value_or(request.length);
  if (vectors.positions) {
    for (const std::string& text : split_list(*vectors.positions, ',')) {
      double& position = request.positions.emplace_back();
      if (!parse_number(text, position) || position < 0 || position > 1e9)
        throw InputError(fmt::format("position '{}', expected a number from 0 to 1e9", text));
    }
    if (request.positions.empty())
      throw InputError("--positions is empty, expected ascending numbers, as in 0,1,5");
    const int count = static_cast<int>(request.positions.size());
    if (vectors.length && *vectors.length != count)
      throw InputError(fmt::format("--length is {}, and --positions lists {}", *vectors.length, count));
    request.length = count;
  }
  const int longest = std::max(request.length, request.trained_length);
  if (request.longest == 0) request.longest = longest;
  if (request.longest < longest)
    throw InputError(
        fmt::format("--longest is {}, expected {} or more, the length of the sequence and of training",
                    request.longest, longest));
  if (vectors.inputs) request.inputs = read_vectors(*vectors.inputs);
}

}  // namespace

const std::vector<std::string>& vector_options() {
  static const std::vector<std::string> names{"--heads",     "--head-width", "--length",
                                              "--positions", "--attention",  "--trained-length",
                                              "--longest",   "--inputs",     "--arrays"};
  return names;
}

void add_vector_options(Command& command, VectorsRequest& vectors) {
  GoldenRequest& request = vectors.request;
  command.number("--heads", request.heads, 1, 256, "number of heads");
  command.number("--head-width", request.head_width, 1, 1024, "width of a head");
  command.number("--length", vectors.length, 1, 8192, "number of tokens").default_text("16");
  command
      .text("--positions", vectors.positions,
            "comma-separated positions of the tokens, ascending, for encodings that take other positions")
      .default_text("those of the encoding, mostly 0, 1, ...");
  command.choice("--attention", request.causal, attention_names().rows(), "keys that a query sees");
  command.number("--trained-length", request.trained_length, 1, 1 << 20,
                 "length of training, which some encodings read, such as interpolated");
  command
      .number("--longest", request.longest, 1, 1 << 20, "longest length of any split, which some encodings read")
      .default_text("the greater of both lengths");
  command.file("--inputs", vectors.inputs, ".json or .safetensors file with q, k, v, x or parameters to use")
      .default_text("drawn from the seed");
  command.text("--arrays", vectors.arrays, "comma-separated arrays of vectors")
      .default_text("all, or those of the compared file");
}

Arrays make_vectors(VectorsRequest& vectors) {
  complete(vectors);
  Arrays arrays = golden_vectors(vectors.request);
  if (!vectors.arrays) return arrays;
  Arrays selected;
  for (const std::string& name : split_list(*vectors.arrays, ',')) {
    const GoldenArray* found = find_array(arrays, name);
    if (!found) throw InputError(fmt::format("unknown array '{}', expected {}", name, names_of(arrays)));
    selected.push_back(*found);
  }
  if (selected.empty()) throw InputError(fmt::format("--arrays is empty, expected some of {}", names_of(arrays)));
  return selected;
}

Arrays read_vectors(const std::filesystem::path& path) {
  const auto read = [&] { return is_json_file(path) ? read_json_arrays(path) : read_safetensors(path); };
  Arrays arrays = within_memory(path, [&] { return read_user_files(read); });
  for (GoldenArray& array : arrays) {
    if (array.shape.empty()) array.shape = {1};
  }
  return arrays;
}

bool is_json_file(const std::filesystem::path& path) { return lower_case(path.extension().string()) == ".json"; }

const GoldenArray* find_array(const Arrays& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &GoldenArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

std::string names_of(const Arrays& arrays) {
  std::vector<std::string> names;
  for (const GoldenArray& array : arrays) names.push_back(array.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace posbench
