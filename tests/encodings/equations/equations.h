// Independent implementations of the encodings: the equation of each paper for one head h, query i and key j.
// FAMILY.cpp has those of the encodings in encodings/FAMILY, each written without reading the code that it tests.
#pragma once
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "encodings/registry.h"

namespace posbench::equations {

/// The values of the parameters of a case.
enum class Learned { random, zero };

/// A random attention layer with an encoding, and the values that an equation may use. It is layer 1 of 2.
struct Case {
  Case(const std::string& spec, bool causal, Learned = Learned::random);

  double dot(int h, int i, int j) const { return q[h].row(i).dot(k[h].row(j)) / std::sqrt(D); }
  /// Returns an entry of the parameter of this name.
  double learned(const std::string& name, Index row, Index col) const { return matrix(name)(row, col); }
  ConstMatrixView matrix(const std::string& name) const;
  /// Returns x_t . column `col` of a parameter (C, cols).
  double x_dot(const std::string& name, int t, Index col) const { return x.row(t).dot(matrix(name).col(col)); }
  /// Returns q_i . row `row` of a parameter (rows, D).
  double query_dot(const std::string& name, int h, int i, Index row) const {
    return q[h].row(i).dot(matrix(name).row(row));
  }

  static constexpr int T = 11, H = 4, D = 4, C = H * D, layer = 1;
  bool causal;
  ModelConfig config;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Parameters parameters;
  Sequence sequence;
  Tables tables;
  Matrices recurrent_state;
  Matrix x, embedded;  // (T, C): before and after embed()
  Heads q, k, v, content, scores, attention, output;
  Scratch scratch;
};

/// The stages that an equation may replace. Each has one value:
enum class Stage {
  embed,      // (c, 0, t, channel): the summand of x
  score,      // (c, h, i, j): the score
  normalize,  // (c, h, i, j): the attention weight, from c.scores
  mix         // (c, h, i, channel): the output, from c.attention
};
/// The models for which an equation is written, if its encoding supports both.
enum class Models { causal, causal_and_bidirectional };
using Value = std::function<double(const Case&, int h, int i, int j)>;

struct Equation {
  std::map<Stage, Value> stages;  // All other stages are those of plain attention.
  Models models = Models::causal_and_bidirectional;
};

/// Returns the equations by the specs of their encodings.
std::map<std::string, Equation>& equations();

/// Registers the equation of an encoding: one object for each stage that it replaces. A second one for the same
/// stage ends the program.
struct RegisterEquation {
  explicit RegisterEquation(const std::string& spec) { equations()[spec]; }
  RegisterEquation(const std::string& spec, Stage stage, Value value)
      : RegisterEquation(spec, stage, Models::causal_and_bidirectional, std::move(value)) {}
  RegisterEquation(const std::string& spec, Stage, Models, Value);
};

double sigmoid(double);
double softplus(double);
/// Returns T5's bucket of 32 up to 128 by its thresholds: bucket E + t begins at distance E (128 / E)^(t / (N -
/// E)).
int t5_bucket(int distance, bool causal);
/// Returns the score whose pair n turns by angle(n) from key to query: components 2 n and 2 n + 1, or n and n + D
/// / 2.
double turned(const Case&, bool half_split, int h, int i, int j, const std::function<double(int n)>& angle);
/// Returns the output in which pair n of value j is turned back by angle(n, j), the angle of turned().
double turned_values(const Case&, bool half_split, int h, int i, int channel,
                     const std::function<double(int n, int j)>& angle);

}  // namespace posbench::equations
