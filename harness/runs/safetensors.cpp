#include "harness/runs/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/json/json.h"

namespace posbench {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(Real) == 4, "the numbers of the format");

constexpr const char *kMetadata = "__metadata__", *kChecksum = "crc32";
constexpr size_t kAlignment = 8;  // of the numbers, which follow the header

/// The checksum of everything that no other check covers.
std::string checksum(const std::map<std::string, std::string>& metadata, std::string_view numbers) {
  boost::crc_32_type crc;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksum) continue;
    crc.process_bytes(key.c_str(), key.size() + 1);
    crc.process_bytes(text.c_str(), text.size() + 1);
  }
  crc.process_bytes(numbers.data(), numbers.size());
  return fmt::format("{:08x}", crc.checksum());
}

}  // namespace

std::string to_bytes(const SafeTensors& file) {
  Json header;
  header[kMetadata] = file.metadata;
  std::string numbers;
  for (const auto& [name, values] : file.tensors) {
    const size_t begin = numbers.size(), bytes = values.size() * sizeof(Real);
    numbers.append(reinterpret_cast<const char*>(values.data()), bytes);
    header[name] = {
        {"dtype", "F32"}, {"shape", {values.rows(), values.cols()}}, {"data_offsets", {begin, begin + bytes}}};
  }
  header[kMetadata][kChecksum] = checksum(file.metadata, numbers);
  std::string text = compact(header);
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text + numbers;
}

SafeTensors parse_safetensors(std::string_view bytes, const std::string& file) {
  std::uint64_t size = 0;
  const auto truncated = [&](const std::string& what, std::uint64_t expected) {
    throw std::runtime_error(
        fmt::format("{}: {} bytes, expected {} {}; it is truncated or damaged", file, bytes.size(), expected, what));
  };
  if (bytes.size() < sizeof size) truncated("or more", sizeof size);
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > bytes.size() - sizeof size) truncated("or more", sizeof size + std::min(size, std::uint64_t{1} << 62));
  const Json header = parse_json(bytes.substr(sizeof size, size), file);
  const std::string_view numbers = bytes.substr(sizeof size + size);

  SafeTensors result;
  const Field root(header, file);
  std::int64_t end = 0;
  for (const auto& [name, ignored] : root.object().items()) {
    const Field entry = root[name.c_str()];
    if (name == kMetadata) {
      for (const auto& [key, text] : entry.object().items()) result.metadata[key] = entry[key.c_str()].text();
      continue;
    }
    entry["dtype"].choice({"F32"});
    const Field shape = entry["shape"], offsets = entry["data_offsets"];
    const auto read_size = [](const Field& json) { return json.integer(0, 1 << 30); };
    const auto sizes = read_list<std::int64_t>(shape, read_size);
    if (sizes.size() != 2) shape.fail("expected the rows and columns of a matrix");
    const auto read_offset = [](const Field& json) { return json.integer(0, std::int64_t{1} << 62); };
    const auto given = read_list<std::int64_t>(offsets, read_offset);
    const std::int64_t begin = end, bytes_here = sizes[0] * sizes[1] * static_cast<std::int64_t>(sizeof(Real));
    if (given != std::vector{begin, begin + bytes_here})
      offsets.fail(fmt::format("expected {} to {}", begin, begin + bytes_here));
    end += bytes_here;
    if (end > std::ssize(numbers)) truncated("or more", sizeof size + size + static_cast<std::uint64_t>(end));
    RowMajor values(sizes[0], sizes[1]);
    std::copy_n(numbers.data() + begin, bytes_here, reinterpret_cast<char*>(values.data()));
    result.tensors.push_back({name, std::move(values)});
  }
  if (static_cast<size_t>(end) != numbers.size()) {
    truncated("by its header", sizeof size + size + static_cast<std::uint64_t>(end));
  }
  const auto sum = result.metadata.find(kChecksum);
  if (sum != result.metadata.end() && sum->second != checksum(result.metadata, numbers)) {
    fail(file, fmt::format("{}.{}", kMetadata, kChecksum), sum->second,
         fmt::format("but its contents have {}; it is damaged", checksum(result.metadata, numbers)));
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
  std::vector<const RowMajor*> values;  // all are checked before memory is allocated
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    const std::string name = prefix + entry.name;
    const auto found = std::find_if(tensors.tensors.begin(), tensors.tensors.end(),
                                    [&](const SafeTensors::Tensor& t) { return t.name == name; });
    if (found == tensors.tensors.end()) throw std::runtime_error(fmt::format("{}: {} is missing", file, name));
    const Parameter& expected = entry.parameter;
    if (found->values.rows() != expected.rows || found->values.cols() != expected.cols) {
      throw std::runtime_error(fmt::format("{}: {} is {} x {}, expected {} x {}; it was made for another model",
                                           file, name, found->values.rows(), found->values.cols(), expected.rows,
                                           expected.cols));
    }
    values.push_back(&found->values);
  }
  Parameters parameters(layout);
  for (size_t n = 0; n < values.size(); ++n) parameters[layout.entries()[n].parameter] = *values[n];
  return parameters;
}

}  // namespace posbench
