#include "harness/exchange/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/exchange/array_file.h"
#include "results/json/checksum.h"
#include "results/json/json.h"

namespace posbench {
namespace {

static_assert(sizeof(Real) == 4, "the numbers of F32");

SafeTensors::Tensor read_matrix(const std::string& name, const ArrayView& array, const std::string& file) {
  constexpr std::int64_t kMaxSize = 1 << 30;
  if (array.scalar != Scalar::float32) throw_json_error(file, name + ".dtype", array.type(), "expected float32");
  if (array.shape.size() != 2 || std::max(array.shape[0], array.shape[1]) > kMaxSize)
    throw_json_error(file, name + ".shape", array.shape, "expected the rows and columns of a matrix");
  EigenMatrix values(array.shape[0], array.shape[1]);
  std::copy_n(array.bytes.data(), array.bytes.size(), reinterpret_cast<char*>(values.data()));
  return {name, std::move(values)};
}

}  // namespace

std::string to_bytes(const SafeTensors& file) {
  std::vector<ArrayInfo> infos;
  std::string numbers;
  for (const auto& [name, values] : file.tensors) {
    infos.push_back({name, Scalar::float32, {values.rows(), values.cols()}});
    numbers.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Real));
  }
  return array_header(infos, file.metadata, crc32_after(0, numbers)) + numbers;
}

SafeTensors parse_safetensors(std::string_view bytes, const std::string& file) {
  ArrayFile read = parse_arrays(bytes, file);
  SafeTensors result{.metadata = std::move(read.metadata), .tensors = {}};
  for (const auto& [name, array] : read.arrays) result.tensors.push_back(read_matrix(name, array, file));
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
    const auto found = std::ranges::find(tensors.tensors, name, &SafeTensors::Tensor::name);
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
