#include "tests/encodings/checks/checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "model/attention_layer.h"

namespace posbench {

std::map<std::string, CheckSection>& check_sections() {
  static std::map<std::string, CheckSection> sections;
  return sections;
}

EigenMatrix matrix(const Json& json) {
  const bool nested = json.at(0).is_array();
  const size_t rows = nested ? json.size() : 1, cols = nested ? json[0].size() : json.size();
  EigenMatrix m(rows, cols);
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
  config.vocabulary = 4;
  config.layers = 1;
  config.width = width;
  config.heads = heads;
  config.causal = causal;
  config.trained_length = config.longest = trained_length;
  encoding = make_encoding(Spec::parse(spec), config, layout);
  parameters = initialize(layout, 0);
  sequence.tokens.assign(length, 0);
  sequence.segments.assign(length, 0);
  x.resize(length, width);
  x.setZero();
  for (Heads* side : {&q, &k, &v}) {
    resize(*side, heads, length, config.head_width());
    set_zero(*side);
  }
  for (Heads* square : {&scores, &attention}) resize(*square, heads, length, length);
  resize(output, heads, length, config.head_width());
  update();
}

MatrixView Bench::learned(const std::string& name) { return parameters[layout.at(name)]; }

void Bench::update() {
  Rng rng = make_rng(0, "positions");
  sequence.positions = encoding->positions(sequence, rng);
  encoding->tables(parameters, sequence.positions, tables);
  recurrent_state.clear();
  Matrix embedded(x);
  encoding->embed(sequence, parameters, tables, embedded, recurrent_state);
}

const Heads& Bench::score() {
  StageCall(*encoding, input())->score(input(), scores);
  return scores;
}

const Heads& Bench::attend() {
  score();
  StageCall(*encoding, input())->normalize(input(), scores, attention);
  return attention;
}

const Heads& Bench::mix() {
  attend();
  StageCall(*encoding, input())->mix(input(), attention, output);
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
    resize(*side, config.heads, x.rows(), config.head_width());
    set_zero(*side);
  }
  AttentionGradient d{d_parameters, d_tables, d_recurrent_state, d_x, d_q, d_k, d_v};
  StageCall(*encoding, input())->score_backward(input(), d_scores, d);
  encoding->tables_backward(parameters, sequence.positions, tables, d_tables, d_parameters);
}

Bench with_logits(const std::string& spec, const Json& logits, int heads) {
  const int T = static_cast<int>(logits.size());
  Bench bench(spec, T, heads * T, heads, true);
  for (int h = 0; h < heads; ++h) {
    bench.q[h] = std::sqrt(static_cast<Real>(T)) * matrix(logits);
    bench.k[h].setIdentity();
  }
  return bench;
}

Bench with_vectors(const std::string& spec, const Json& section, int trained_length) {
  const EigenMatrix q = matrix(section.at("q"));
  Bench bench(spec, static_cast<int>(q.rows()), static_cast<int>(q.cols()), 1, true, trained_length);
  bench.q[0] = q;
  bench.k[0] = matrix(section.at("k"));
  return bench;
}

EigenMatrix embedded_rows(Bench& bench, const std::string& table) {
  MatrixView rows = bench.learned(table);
  for (Index n = 0; n < rows.rows(); ++n) rows.row(n).setConstant(static_cast<Real>(n));
  Matrix x(bench.x);
  bench.encoding->embed(bench.sequence, bench.parameters, bench.tables, x, bench.recurrent_state);
  return x.col(0).transpose();
}

}  // namespace posbench
