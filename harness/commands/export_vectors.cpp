// `posbench export ENCODING`: reference vectors of an encoding for the unit tests of other programs.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "encodings/registry.h"
#include "harness/commands/export_forms.h"
#include "harness/commands/vectors.h"
#include "harness/config/build.h"
#include "harness/config/commit.h"
#include "harness/console/output.h"
#include "harness/exchange/array_file.h"
#include "harness/exchange/sample_set.h"
#include "results/json/json.h"

namespace posbench {
namespace {

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

}  // namespace

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

}  // namespace posbench
