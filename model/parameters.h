// Stores the learned parameters in one flat vector. A layout names its parts.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// The place of one learned matrix in the flat vector.
struct Parameter {
  Index offset = 0, rows = 0, cols = 0;
  Index size() const { return rows * cols; }
};

/// Returns the parameter of a layer, or the one that all layers share.
inline const Parameter& of_layer(const std::vector<Parameter>& parameters, int layer) {
  return parameters[parameters.size() == 1 ? 0 : static_cast<size_t>(layer)];
}

/// Names, shapes and initial values of parameters. Model and encoding add to it in their constructors.
class ParameterLayout {
 public:
  using Initializer = std::function<double(Rng&, Index row, Index col)>;
  struct Entry {
    std::string name;
    Parameter parameter;
    Initializer initial;  // empty if the parameter is expected, but not added yet
    bool decays = false;  // whether weight decay shrinks it by default
  };

  /// Adds a parameter. Weight decay shrinks it by default if it has more than one row and column.
  Parameter add(const std::string& name, Index rows, Index cols, Initializer initial);
  Parameter normal(std::string name, Index rows, Index cols, double stddev);
  Parameter uniform(std::string name, Index rows, Index cols, double low, double high);
  Parameter constant(std::string name, Index rows, Index cols, double value);
  /// Returns a parameter that another part of the model adds, before or after, under this name and with this
  /// shape.
  Parameter expect(const std::string& name, Index rows, Index cols);

  /// Excludes a parameter from weight decay and returns it: a table of vectors, or biases of heads side by side.
  Parameter no_decay(const Parameter&);

  /// Sets the beginning of every name that is added. Names that are expected have no prefix.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  const std::string& prefix() const { return prefix_; }
  /// Returns the number of calls of expect().
  int expectations() const { return expectations_; }

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(std::string_view name) const;    // null if there is none
  const Parameter& at(std::string_view name) const;  // throws std::logic_error if there is none
  Index flat_size() const { return flat_size_; }     // scalars, with the padding between parameters
  Index count() const;                               // scalars that are learned

 private:
  Parameter reserve(std::string name, Index rows, Index cols, Initializer initial);

  std::vector<Entry> entries_;
  Index flat_size_ = 0;
  std::string prefix_;
  int expectations_ = 0;
};

/// One flat vector with a layout: the parameters, their gradient, or a tensor of an optimizer's state.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(const ParameterLayout& layout) : flat(Vector::Zero(layout.flat_size())) {}

  MatrixView operator[](const Parameter& p) { return {flat.data() + p.offset, p.rows, p.cols}; }
  ConstMatrixView operator[](const Parameter& p) const { return {flat.data() + p.offset, p.rows, p.cols}; }

  Vector flat;
};
using Gradients = Parameters;

/// Draws every entry of m from N(0, stddev^2).
void fill_normal(Rng&, double stddev, Out m);

/// Returns the initial values. Each parameter draws from the stream of (seed, its name), so that with one seed,
/// parameters of the same name and shape start from the same values in all models. Throws std::logic_error if a
/// parameter is expected that no part of the model adds.
Parameters initialize(const ParameterLayout&, std::uint64_t seed);

}  // namespace posbench::inline POSBENCH_REAL
