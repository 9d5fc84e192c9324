// Checks encodings against encoding_checks.json: reference values that were computed from the equations in float64
// and compared with programs of the authors. One registration for each section of the file lists every field as an
// input or with the code that checks it. checks_test.cpp fails if a field is missing.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "model/attention.h"
#include "model/position_encoding.h"
#include "tests/catch.h"

namespace posbench {

using Json = nlohmann::ordered_json;

struct CheckSection {
  std::vector<std::string> inputs;  // fields that the checks read, and fields that only describe
  std::map<std::string, std::function<void(const Json& section)>> fields;
};

std::map<std::string, CheckSection>& check_sections();

struct RegisterChecks {
  RegisterChecks(const std::string& section, CheckSection checks) {
    check_sections()[section] = std::move(checks);
  }
};

/// Returns a list of numbers as one row, or a list of lists as a matrix. null becomes 0.
EigenMatrix matrix(const Json&);
std::vector<double> numbers(const Json&);

/// Checks that every number agrees to 1e-10, relative to values above 1. null entries of `expected` are not
/// compared.
void check_close(const In& actual, const Json& expected);
void check_close(double actual, const Json& expected);

/// One attention layer of one sequence with an encoding. A test fills the inputs, then calls the stages.
struct Bench {
  /// `width` is that of all heads. All tokens are 0. The encoding determines the positions.
  Bench(const std::string& spec, int length, int width, int heads, bool causal, int trained_length = 64);

  AttentionInput input() const { return {sequence, parameters, tables, recurrent_state, 0, x, q, k, v, scratch}; }
  /// Returns a parameter by name. Call update() after a change.
  MatrixView learned(const std::string& name);
  void update();  // computes positions, tables and the recurrent state
  const Heads& score();
  const Heads& attend();  // score, then normalize
  const Heads& mix();     // all three
  /// Computes all gradients from the gradient of the scores.
  void score_backward(const Heads& d_scores);

  ModelConfig config;
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

/// Returns queries and keys whose scaled products are these logits in every head. A head has as many components as
/// keys.
Bench with_logits(const std::string& spec, const Json& logits, int heads);
/// Returns one head with the queries and keys of the section.
Bench with_vectors(const std::string& spec, const Json& section, int trained_length = 64);
/// Returns the row of the embedding's table that each token reads. Sets row n to n.
EigenMatrix embedded_rows(Bench&, const std::string& table);

}  // namespace posbench
