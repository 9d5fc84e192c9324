#include "model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Throws InputError if a parameter has another shape, or if two parts of a model own it.
void require_own(const std::string& name, const Parameter& parameter, Index rows, Index cols, bool is_own) {
  if (is_own && parameter.rows == rows && parameter.cols == cols) return;
  throw InputError(fmt::format(
      "two parts of the model have parameters named '{}'; a wrapper cannot wrap an encoding of its own kind",
      name));
}

}  // namespace

Parameter ParameterLayout::add(const std::string& name, Index rows, Index cols, Initializer initial) {
  return reserve(prefix_ + name, rows, cols, std::move(initial));
}

Parameter ParameterLayout::reserve(std::string name, Index rows, Index cols, Initializer initial) {
  for (Entry& entry : entries_) {
    if (entry.name != name) continue;
    require_own(name, entry.parameter, rows, cols, !entry.initial);
    entry.initial = std::move(initial);
    return entry.parameter;
  }
  constexpr Index kAlignment = 16;  // scalars; every parameter starts on a cache line
  const Parameter parameter{flat_size_, rows, cols};
  entries_.push_back({std::move(name), parameter, std::move(initial), rows > 1 && cols > 1});
  flat_size_ += (parameter.size() + kAlignment - 1) / kAlignment * kAlignment;
  return parameter;
}

Parameter ParameterLayout::normal(std::string name, Index rows, Index cols, double stddev) {
  return add(std::move(name), rows, cols,
             [stddev](Rng& rng, Index, Index) { return stddev * posbench::normal(rng); });
}

Parameter ParameterLayout::uniform(std::string name, Index rows, Index cols, double low, double high) {
  return add(std::move(name), rows, cols,
             [low, high](Rng& rng, Index, Index) { return low + (high - low) * uniform_real(rng); });
}

Parameter ParameterLayout::constant(std::string name, Index rows, Index cols, double value) {
  return add(std::move(name), rows, cols, [value](Rng&, Index, Index) { return value; });
}

Parameter ParameterLayout::expect(const std::string& name, Index rows, Index cols) {
  ++expectations_;
  const Entry* entry = find(name);
  if (!entry) return reserve(name, rows, cols, nullptr);
  require_own(name, entry->parameter, rows, cols, true);
  return entry->parameter;
}

const ParameterLayout::Entry* ParameterLayout::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

const Parameter& ParameterLayout::at(std::string_view name) const {
  const Entry* entry = find(name);
  if (!entry) throw std::logic_error(fmt::format("no parameter is called '{}'", name));
  return entry->parameter;
}

Parameter ParameterLayout::no_decay(const Parameter& parameter) {
  for (Entry& entry : entries_) {
    if (entry.parameter.offset == parameter.offset) entry.decays = false;
  }
  return parameter;
}

Index ParameterLayout::count() const {
  Index count = 0;
  for (const Entry& entry : entries_) count += entry.parameter.size();
  return count;
}

void fill_normal(Rng& rng, double stddev, Out m) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = static_cast<Real>(stddev * normal(rng));
  }
}

Parameters initialize(const ParameterLayout& layout, std::uint64_t seed) {
  Parameters parameters(layout);
  for (const ParameterLayout::Entry& entry : layout.entries()) {
    if (!entry.initial) {
      throw std::logic_error(fmt::format(
          "parameter '{}' ({} x {}) is expected, but no part of the model adds one of that name and shape",
          entry.name, entry.parameter.rows, entry.parameter.cols));
    }
    Rng rng = make_rng(seed, entry.name);
    MatrixView values = parameters[entry.parameter];
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) values(i, j) = static_cast<Real>(entry.initial(rng, i, j));
    }
  }
  return parameters;
}

}  // namespace posbench::inline POSBENCH_REAL
