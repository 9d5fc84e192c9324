// Reference vectors of an encoding for the unit tests of other programs: `posbench export ENCODING` writes them,
// and `posbench check SPEC --against FILE` compares arrays of another program with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/check_forms.h"
#include "harness/commands/export_forms.h"
#include "harness/config/build.h"
#include "harness/config/commit.h"
#include "harness/config/names.h"
#include "harness/config/user_files.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"

namespace posbench {
namespace {

using Arrays = std::vector<GoldenArray>;

bool is_json_file(const std::filesystem::path& path) { return lower_case(path.extension().string()) == ".json"; }

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

/// Reads the arrays of a .json or .safetensors file. A single number has the shape (1). Throws InputError.
Arrays read_vectors(const std::filesystem::path& path) {
  const auto read = [&] { return is_json_file(path) ? read_json_arrays(path) : read_safetensors(path); };
  Arrays arrays = within_memory(path, [&] { return read_user_files(read); });
  for (GoldenArray& array : arrays) {
    if (array.shape.empty()) array.shape = {1};
  }
  return arrays;
}

/// Returns null if there is no array of this name.
const GoldenArray* find_array(const Arrays& arrays, const std::string& name) {
  const auto found = std::ranges::find(arrays, name, &GoldenArray::name);
  return found == arrays.end() ? nullptr : &*found;
}

std::string names_of(const Arrays& arrays) {
  std::vector<std::string> names;
  for (const GoldenArray& array : arrays) names.push_back(array.name);
  return fmt::format("{}", fmt::join(names, ", "));
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

/// Completes the request, and returns the arrays that it selects. Throws InputError.
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

constexpr const char* kFormat = "posbench golden 1";

/// Describes an encoding and, after it, those that it wraps.
void describe_encodings(const Spec& spec, Json& list) {
  const EncodingEntry& entry = encodings().find(spec.name);
  Json options = Json::object();
  for (const OptionInfo& option : entry.options) options[option.name] = option.value;
  for (const auto& [name, value] : spec.options) options[name] = value;
  list.push_back({{"encoding", spec.text()},
                  {"equation", entry.info.equation},
                  {"source", entry.info.source},
                  {"notes", entry.info.notes},
                  {"options", options}});
  for (const Spec& member : entry.members(spec)) describe_encodings(member, list);
}

Json manifest(const GoldenRequest& request, const Arrays& arrays) {
  Json described = Json::array(), axes = Json::object();
  describe_encodings(Spec::parse(request.encoding), described);
  for (const GoldenArray& array : arrays) axes[array.name] = array.axes;
  return {{"format", kFormat},
          {"posbench", {{"version", kBuildVersion}, {"commit", kBuildCommit}}},
          {"encoding", request.encoding},
          {"encodings", described},
          {"heads", request.heads},
          {"head_width", request.head_width},
          {"attention", request.causal ? "causal" : "bidirectional"},
          {"length", request.length},
          {"trained_length", request.trained_length},
          {"longest_length", request.longest},
          {"seed", request.seed},
          {"axes", axes}};
}

/// Returns an array as nested lists. `at` is the index of its next value.
Json nested_lists(const GoldenArray& array, size_t axis, size_t& at) {
  Json list = Json::array();
  for (std::int64_t n = 0; n < array.shape[axis]; ++n) {
    if (axis + 1 < array.shape.size()) {
      list.push_back(nested_lists(array, axis + 1, at));
    } else {
      const double value = array.values[at++];
      list.push_back(array.whole ? Json(static_cast<std::int64_t>(value)) : Json(value));
    }
  }
  return list;
}

std::string to_json_text(Json about, const Arrays& arrays) {
  Json lists = Json::object();
  for (const GoldenArray& array : arrays) {
    size_t at = 0;
    lists[array.name] = nested_lists(array, 0, at);
  }
  about["arrays"] = std::move(lists);
  return to_file_json(about);
}

void write_arrays(const std::filesystem::path& path, const Json& about, const Arrays& arrays) {
  std::vector<ArrayInfo> infos;
  for (const GoldenArray& array : arrays)
    infos.push_back({array.name, array.whole ? Scalar::int64 : Scalar::float64, array.shape});
  ArrayWriter file(path, infos, {{"manifest", to_compact_json(about)}});
  for (size_t n = 0; n < arrays.size(); ++n) {
    const std::vector<double>& values = arrays[n].values;
    arrays[n].whole ? file.append(n, std::vector<std::int64_t>(values.begin(), values.end()))
                    : file.append(n, values);
  }
  file.finish();
  if (!is_special(path)) write_file(manifest_path(path), to_file_json(about));
}

/// Throws InputError if the extension is none of a format.
void check_vectors_extension(const std::filesystem::path& path) {
  if (is_json_file(path) || is_array_file(path)) return;
  throw InputError(fmt::format("'{}' does not end in .json or .safetensors; use one of these", path.string()));
}

/// Returns the indices of a value, as in "head 0, query 3, key 1".
std::string place(const GoldenArray& reference, size_t at) {
  std::vector<std::string> parts(reference.shape.size());
  auto rest = static_cast<std::int64_t>(at);
  for (size_t axis = parts.size(); axis-- > 0; rest /= reference.shape[axis])
    parts[axis] = fmt::format("{} {}", reference.axes[axis], rest % reference.shape[axis]);
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds the row of one array. Returns true if no value differs by more than the tolerance.
bool compare(const CheckRequest& request, const GoldenArray& theirs, const GoldenArray& reference, Table& table) {
  const bool has_later_keys = request.vectors.request.causal && reference.axes.back() == "key";
  const auto keys = static_cast<size_t>(reference.shape.back());
  size_t first = 0, count = 0, compared = 0;
  double largest = 0;
  for (size_t n = 0; n < reference.values.size(); ++n) {
    if (has_later_keys && n % keys > n / keys % keys) continue;  // the key is after the query
    ++compared;
    const double a = theirs.values[n], b = reference.values[n];
    if (a == b) continue;  // also infinite
    const double difference = std::abs(a - b) / std::max(1.0, std::abs(b));
    if (!std::isnan(largest) && !(difference <= largest)) largest = difference;
    if (difference <= request.tolerance) continue;
    if (count++ == 0) first = n;
  }
  const bool is_same = count == 0;
  table.rows.push_back({reference.name,
                        {is_same ? "same" : "DIFFERENT", is_same ? Tone::good : Tone::bad},
                        fmt::format("{:.1e}", largest),
                        fmt::format("{} of {}", count, compared),
                        is_same ? "-"
                                : fmt::format("{}: theirs {:.9g}, reference {:.9g}", place(reference, first),
                                              theirs.values[first], reference.values[first])});
  return is_same;
}

/// Returns the arrays of the file with their references. Throws InputError if one has no counterpart of the same
/// shape.
std::vector<std::pair<const GoldenArray*, const GoldenArray*>> match(const CheckRequest& request,
                                                                     const Arrays& theirs,
                                                                     const Arrays& reference) {
  const std::string file = request.against->string();
  const bool are_selected = request.vectors.arrays.has_value();
  if (theirs.empty())
    throw InputError(fmt::format("{} has no arrays, expected some of {}", file, names_of(reference)));
  for (const GoldenArray& array : theirs) {
    if (are_selected || find_array(reference, array.name)) continue;
    throw InputError(fmt::format("{} has the array '{}', which {} does not have; select some of {} with --arrays",
                                 file, array.name, request.vectors.request.encoding, names_of(reference)));
  }
  std::vector<std::pair<const GoldenArray*, const GoldenArray*>> pairs;
  for (const GoldenArray& array : reference) {
    const GoldenArray* found = find_array(theirs, array.name);
    if (!found && !are_selected) continue;
    if (!found) throw InputError(fmt::format("{} has no array '{}', but {}", file, array.name, names_of(theirs)));
    if (found->shape != array.shape) {
      throw InputError(fmt::format("{}: '{}' has shape ({}), expected ({}) for {}", file, array.name,
                                   fmt::join(found->shape, ", "), fmt::join(array.shape, ", "),
                                   fmt::join(array.axes, ", ")));
    }
    pairs.emplace_back(found, &array);
  }
  return pairs;
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

void export_vectors(ExportRequest request) {
  const std::optional<std::filesystem::path>& output = request.output;
  const bool is_array = output && is_array_file(*output);
  if (output) {
    check_vectors_extension(*output);
    check_output_place(*output);
    if (is_array && !is_special(*output)) default_manifest(*output);  // throws
  }
  request.vectors.request.encoding = request.subject;
  request.vectors.request.seed = request.seed;
  const Arrays arrays = make_vectors(request.vectors);
  const Json about = manifest(request.vectors.request, arrays);
  if (is_array) return write_arrays(*output, about, arrays);
  const std::string text = to_json_text(about, arrays);
  output ? write_file(*output, text) : write_stdout(text);
}

int check_vectors(CheckRequest request) {
  request.vectors.request.encoding = request.subjects.front();
  request.vectors.request.seed = request.seed.value_or(0);
  const Arrays reference = make_vectors(request.vectors), theirs = read_vectors(*request.against);
  Table table{{{"array"},
               {"verdict"},
               {"largest difference", Align::right},
               {"values that differ", Align::right},
               {"first difference"}},
              {}};
  bool same = true;
  for (const auto& [found, array] : match(request, theirs, reference))
    same = compare(request, *found, *array, table) && same;
  const Note note{fmt::format("Values differ by more than {:g}, relative to those above 1.", request.tolerance)};
  write_document(request.output, {.title = "", .blocks = {std::move(table), note}});
  return same ? 0 : 1;
}

}  // namespace posbench
