#include "harness/exchange/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/exchange/checksum.h"
#include "harness/exchange/safetensors_header.h"
#include "results/json/json.h"

namespace posbench {
namespace {

static_assert(sizeof(Real) == 4, "the numbers of F32");

constexpr const char* kChecksum = "crc32";

/// Returns the checksum of everything that no other check covers.
std::string checksum(const std::map<std::string, std::string>& metadata, std::string_view numbers) {
  std::uint32_t crc = 0;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksum) continue;
    for (const std::string& part : {key, text}) crc = crc32_after(crc, {part.c_str(), part.size() + 1});
  }
  return crc32_text(numbers, crc);
}

/// Reads a matrix, whose numbers must begin at `begin`.
SafeTensors::Tensor read_matrix(const SafetensorsEntry& entry, std::int64_t begin, std::string_view numbers,
                                const std::string& file) {
  const auto refuse = [&](const char* key, const Json& value, const std::string& what) {
    throw_json_error(file, entry.name + key, value, what);
  };
  constexpr std::int64_t kMaxSize = 1 << 30;
  if (entry.type != "F32") refuse(".dtype", entry.type, "expected one of F32");
  if (entry.shape.size() != 2 || std::max(entry.shape[0], entry.shape[1]) > kMaxSize)
    refuse(".shape", entry.shape, "expected the rows and columns of a matrix");
  const std::int64_t end = begin + entry.shape[0] * entry.shape[1] * static_cast<std::int64_t>(sizeof(Real));
  if (entry.begin != begin || entry.end != end)
    refuse(".data_offsets", Json{entry.begin, entry.end}, fmt::format("expected {} to {}", begin, end));
  EigenMatrix values(entry.shape[0], entry.shape[1]);
  std::copy_n(numbers.data() + begin, end - begin, reinterpret_cast<char*>(values.data()));
  return {entry.name, std::move(values)};
}

}  // namespace

std::string to_bytes(const SafeTensors& file) {
  std::vector<SafetensorsEntry> entries;
  std::string numbers;
  for (const auto& [name, values] : file.tensors) {
    const std::int64_t begin = std::ssize(numbers);
    numbers.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Real));
    entries.push_back({name, "F32", {values.rows(), values.cols()}, begin, std::ssize(numbers)});
  }
  Json metadata(file.metadata);
  metadata[kChecksum] = checksum(file.metadata, numbers);
  return safetensors_header(metadata, entries) + numbers;
}

SafeTensors parse_safetensors(std::string_view bytes, const std::string& file) {
  SafetensorsFile split = split_safetensors(bytes, file);
  SafeTensors result{.metadata = std::move(split.metadata), .tensors = {}};
  std::int64_t end = 0;
  for (const SafetensorsEntry& entry : split.entries) {
    result.tensors.push_back(read_matrix(entry, end, split.numbers, file));
    end = entry.end;
  }
  if (end != std::ssize(split.numbers))
    refuse_size(file, bytes.size(), split.header_size + static_cast<std::uint64_t>(end), "by its header");
  const auto sum = result.metadata.find(kChecksum);
  if (sum != result.metadata.end() && sum->second != checksum(result.metadata, split.numbers)) {
    throw_json_error(
        file, fmt::format("__metadata__.{}", kChecksum), sum->second,
        fmt::format("but its contents have {}; it is damaged", checksum(result.metadata, split.numbers)));
  }
  return result;
}

void add_parameters(const ParameterLayout& layout, const Parameters& parameters, const std::string& prefix,
                    SafeTensors& file) {
  for (const ParameterLayout::Entry& entry : layout.entries())
    file.tensors.push_back({prefix + entry.name, parameters[entry.parameter]});
}

Parameters read_parameters(const ParameterLayout& layout, const SafeTensors& tensors, const std::string& prefix,
                           const std::string& file) {
  std::vector<const EigenMatrix*> values;  // all are checked before memory is allocated
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    const std::string name = prefix + entry.name;
    const auto found = std::find_if(tensors.tensors.begin(), tensors.tensors.end(),
                                    [&](const SafeTensors::Tensor& t) { return t.name == name; });
    if (found == tensors.tensors.end()) throw InputError(fmt::format("{}: {} is missing", file, name));
    const Parameter& expected = entry.parameter;
    if (found->values.rows() != expected.rows || found->values.cols() != expected.cols) {
      throw InputError(fmt::format("{}: {} is {} x {}, expected {} x {}; it was made for another model", file,
                                   name, found->values.rows(), found->values.cols(), expected.rows,
                                   expected.cols));
    }
    values.push_back(&found->values);
  }
  Parameters parameters(layout);
  for (size_t n = 0; n < values.size(); ++n) parameters[layout.entries()[n].parameter] = *values[n];
  return parameters;
}

}  // namespace posbench
