#include "tests/encodings/checks/checks.h"

#include "encodings/registry.h"
#include "model/attention_layer.h"

namespace posbench {

std::map<std::string, CheckSection>& check_sections() {
  static std::map<std::string, CheckSection> sections;
  return sections;
}

RowMajor matrix(const Json& json) {
  const bool nested = json.at(0).is_array();
  const size_t rows = nested ? json.size() : 1, cols = nested ? json[0].size() : json.size();
  RowMajor m(rows, cols);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      const Json& entry = nested ? json[i].at(j) : json[j];
      m(i, j) = entry.is_null() ? 0 : entry.get<double>();
    }
  }
  return m;
}

std::vector<double> numbers(const Json& json) { return json.get<std::vector<double>>(); }

void check_close(double actual, const Json& expected) {
  const double target = expected.get<double>();
  INFO(actual << " for " << target);
  CHECK(std::abs(actual - target) <= 1e-10 * std::max(1.0, std::abs(target)));
}

void check_close(const In& actual, const Json& expected) {
  const bool nested = expected.at(0).is_array();
  REQUIRE(static_cast<size_t>(actual.rows()) == (nested ? expected.size() : 1));
  for (Index i = 0; i < actual.rows(); ++i) {
    const Json& row = nested ? expected[static_cast<size_t>(i)] : expected;
    REQUIRE(static_cast<size_t>(actual.cols()) == row.size());
    for (Index j = 0; j < actual.cols(); ++j) {
      INFO("row " << i << ", column " << j);
      if (!row[static_cast<size_t>(j)].is_null()) check_close(actual(i, j), row[static_cast<size_t>(j)]);
    }
  }
}

Bench::Bench(const std::string& spec, int length, int width, int heads, bool causal, int trained_length) {
  shape.vocabulary = 4;
  shape.layers = 1;
  shape.width = width;
  shape.heads = heads;
  shape.causal = causal;
  shape.trained_length = shape.longest = trained_length;
  encoding = make_encoding(Spec::parse(spec), shape, layout);
  parameters = initialize(layout, 0);
  sequence.tokens.assign(length, 0);
  sequence.segments.assign(length, 0);
  x.resize(length, width);
  x.setZero();
  for (Heads* side : {&q, &k, &v}) {
    resize(*side, heads, length, shape.head_width());
    set_zero(*side);
  }
  for (Heads* square : {&scores, &attention}) resize(*square, heads, length, length);
  resize(output, heads, length, shape.head_width());
  update();
}

MatrixView Bench::learned(const std::string& name) {
  for (const auto& entry : layout.entries()) {
    if (entry.name == name) return parameters[entry.parameter];
  }
  throw std::invalid_argument("no parameter is called " + name);
}

void Bench::update() {
  Rng rng = stream(0, "positions");
  sequence.positions = encoding->positions(sequence, rng);
  encoding->tables(parameters, sequence.positions, tables);
  recurrent_state.clear();
  Matrix embedded(x);
  encoding->embed(sequence, parameters, tables, embedded, recurrent_state);
}

const Heads& Bench::score() {
  AttentionStages(*encoding).score(input(), scores);
  return scores;
}

const Heads& Bench::attend() {
  score();
  AttentionStages(*encoding).normalize(input(), scores, attention);
  return attention;
}

const Heads& Bench::mix() {
  attend();
  AttentionStages(*encoding).mix(input(), attention, output);
  return output;
}

void Bench::score_backward(const Heads& d_scores) {
  d_parameters = Gradients(layout);
  d_tables = tables.values;
  d_recurrent_state = recurrent_state;
  set_zero(d_tables);
  set_zero(d_recurrent_state);
  d_x = x;
  d_x.setZero();
  for (Heads* side : {&d_q, &d_k, &d_v}) {
    resize(*side, shape.heads, x.rows(), shape.head_width());
    set_zero(*side);
  }
  AttentionGradient d{d_parameters, d_tables, d_recurrent_state, d_x, d_q, d_k, d_v};
  AttentionStages(*encoding).score_backward(input(), d_scores, d);
  encoding->tables_backward(parameters, sequence.positions, tables, d_tables, d_parameters);
}

}  // namespace posbench
