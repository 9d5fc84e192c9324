// Reference values for every encoding, in encoding_checks.json in this folder: computed from the equations in
// float64 and compared with the authors' programs if there are any. Each section of that file has a table of
// tests, which lists every field: as an input, or with the code that checks it. checks_test.cpp fails if a field is
// missing from all tables.
#pragma once
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/attention.h"
#include "model/position_encoding.h"
#include "tests/catch.h"

namespace posbench {

using Json = nlohmann::ordered_json;

struct CheckSection {
  std::vector<std::string> inputs;  // fields that are read by the checks, or that only describe
  std::map<std::string, std::function<void(const Json& section)>> fields;
};

std::map<std::string, CheckSection>& check_sections();

struct RegisterChecks {
  RegisterChecks(const std::string& section, CheckSection checks) {
    check_sections()[section] = std::move(checks);
  }
};

/// A JSON list of numbers as one row, a list of lists as a matrix; null becomes 0.
RowMajor matrix(const Json&);
std::vector<double> numbers(const Json&);

/// Every number agrees to 1e-10, relative above 1; null entries of `expected` are not compared.
void check_close(const In& actual, const Json& expected);
void check_close(double actual, const Json& expected);

/// One attention layer of one sequence, for an encoding built from a spec: inputs to fill, then stages to call.
struct Bench {
  /// `width` over `heads`; tokens are all 0, positions are the encoding's own.
  Bench(const std::string& spec, int length, int width, int heads, bool causal, int trained_length = 64);

  AttentionInput input() const { return {sequence, parameters, tables, recurrent_state, 0, x, q, k, v, scratch}; }
  MatrixView learned(const std::string& name);  // a parameter by name, to set; call update() afterwards
  void update();                                // computes positions, tables and the recurrent state
  const Heads& score();
  const Heads& attend();  // score, then normalize
  const Heads& mix();     // all three
  /// The gradients for this upstream gradient of the scores.
  void score_backward(const Heads& d_scores);

  ModelShape shape;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Parameters parameters;
  Sequence sequence;
  Tables tables;
  Matrices recurrent_state;
  Matrix x;       // (T, C), zero
  Heads q, k, v;  // H x (T, D), zero
  Heads scores, attention, output;
  Gradients d_parameters;
  Matrices d_tables, d_recurrent_state;
  Matrix d_x;
  Heads d_q, d_k, d_v;
  mutable Scratch scratch;
};

}  // namespace posbench
