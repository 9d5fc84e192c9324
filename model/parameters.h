// What is learned: one flat vector, and a layout that names its parts.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/tensor.h"

namespace posbench {

/// A handle: where one learned matrix lies in the flat vector.
struct Parameter {
  Index offset = 0, rows = 0, cols = 0;
  Index size() const { return rows * cols; }
};

/// Names, shapes and initial values. Model and encoding add to it in their constructors.
class ParameterLayout {
 public:
  using Initializer = std::function<double(Rng&, Index row, Index col)>;
  struct Entry {
    std::string name;
    Parameter parameter;
    Initializer initial;  // empty where it is expected, but not added
    bool decays = false;  // whether weight decay shrinks it by default
  };

  /// By default weight decay shrinks matrices, with more than one row and column; biases and gains have one row.
  Parameter add(std::string name, Index rows, Index cols, Initializer initial);
  Parameter normal(std::string name, Index rows, Index cols, double stddev);
  Parameter uniform(std::string name, Index rows, Index cols, double low, double high);
  Parameter constant(std::string name, Index rows, Index cols, double value);
  /// A parameter that another part of the model adds, before or after, under this name and of this shape.
  Parameter expect(const std::string& name, Index rows, Index cols);

  /// The same parameter, without weight decay: a table of vectors (an embedding), or biases of heads side by side.
  Parameter no_decay(const Parameter&);

  /// What every name that is added begins with. Names that are expected have no prefix.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  const std::string& prefix() const { return prefix_; }
  /// How often a parameter of another part of the model was asked for.
  int expectations() const { return expectations_; }

  const std::vector<Entry>& entries() const { return entries_; }
  Index flat_size() const { return flat_size_; }  // scalars, with the padding between parameters
  Index count() const;                            // scalars that are learned

 private:
  Parameter reserve(std::string name, Index rows, Index cols, Initializer initial);

  std::vector<Entry> entries_;
  Index flat_size_ = 0;
  std::string prefix_;
  int expectations_ = 0;
};

/// One flat vector under a layout: the parameters themselves, their gradient, or what an optimizer keeps.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(const ParameterLayout& layout) : flat(Vector::Zero(layout.flat_size())) {}

  MatrixView operator[](const Parameter& p) { return {flat.data() + p.offset, p.rows, p.cols}; }
  ConstMatrixView operator[](const Parameter& p) const { return {flat.data() + p.offset, p.rows, p.cols}; }

  Vector flat;
};
using Gradients = Parameters;

/// m(i, j) drawn from N(0, stddev^2).
void fill_normal(Rng&, double stddev, Out m);

/// Initial values. Each parameter draws from the stream of (seed, its name), so that under one seed all models
/// start from the same values where they share a name and a shape. Throws std::logic_error where one is expected
/// that no part of the model adds.
Parameters initialize(const ParameterLayout&, std::uint64_t seed);

}  // namespace posbench
