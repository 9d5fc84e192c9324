#include "tests/encodings/equations/equations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/registry.h"
#include "model/attention_layer.h"

namespace posbench::equations {

Case::Case(const std::string& spec, bool causal, Learned learned) : causal(causal) {
  config.vocabulary = 7;
  config.layers = 2;
  config.heads = H;
  config.width = C;
  config.causal = causal;
  config.trained_length = config.longest = 12;
  config.coordinates = 2;
  encoding = make_encoding(Spec::parse(spec), config, layout);
  parameters = initialize(layout, 5);
  Rng rng = make_rng(5, "equations");
  const auto random = [&](Index rows, Index cols) {
    Matrix m(rows, cols);
    for (Index n = 0; n < m.size(); ++n) m.data()[n] = normal(rng);
    return m;
  };
  for (const auto& entry : layout.entries()) {
    parameters[entry.parameter] += 0.3 * random(entry.parameter.rows, entry.parameter.cols);
    if (learned == Learned::zero) parameters[entry.parameter].setZero();
  }
  encoding->constrain(parameters);
  sequence.tokens = uniform_tokens(rng, T, 0, 6);
  sequence.segments = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3};
  sequence.digit_positions = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3};
  sequence.coordinates = {{2, 3, 4, 1, 2, 3, 4, 0, 2, 3, 4}, {2, 2, 2, 3, 3, 3, 3, 1, 2, 2, 2}};
  sequence.positions = encoding->positions(sequence, rng);
  encoding->tables(parameters, sequence.positions, tables);
  x = random(T, C);
  embedded = x;
  encoding->embed(sequence, parameters, tables, embedded, recurrent_state);
  for (Heads* side : {&q, &k, &v}) {
    for (int h = 0; h < H; ++h) side->push_back(random(T, D));
  }
  for (Heads* square : {&content, &scores, &attention}) resize(*square, H, T, T);
  resize(output, H, T, D);
  const AttentionInput in{sequence, parameters, tables, recurrent_state, layer, x, q, k, v, scratch};
  encoding->content(in, content);
  scratch.release();
  attend(*encoding, in, scores, attention, output);
}

ConstMatrixView Case::matrix(const std::string& name) const { return parameters[layout.at(name)]; }

std::map<std::string, Equation>& equations() {
  static std::map<std::string, Equation> all;
  return all;
}

RegisterEquation::RegisterEquation(const std::string& spec, Stage stage, Models models, Value value) {
  register_or_exit([&] {
    Equation& equation = equations()[spec];
    if (models == Models::causal) equation.models = models;
    if (!equation.stages.emplace(stage, std::move(value)).second)
      throw std::logic_error(fmt::format("two equations of '{}' are registered for one stage", spec));
  });
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log(1 + std::exp(x)); }

int t5_bucket(int distance, bool causal) {
  const int N = causal ? 32 : 16, E = N / 2, n = std::abs(distance);
  int bucket = std::min(n, E);
  const auto start = [&](int b) { return E * std::pow(128.0 / E, (b - E) / static_cast<double>(N - E)); };
  while (n >= E && bucket + 1 < N && n >= start(bucket + 1)) ++bucket;
  return bucket + (distance < 0 ? N : 0);
}

double turned(const Case& c, bool half_split, int h, int i, int j, const std::function<double(int n)>& angle) {
  std::complex<double> sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const int a = half_split ? n : 2 * n, b = half_split ? n + c.D / 2 : 2 * n + 1;
    const std::complex<double> q(c.q[h](i, a), c.q[h](i, b)), k(c.k[h](j, a), c.k[h](j, b));
    sum += q * std::conj(k) * std::polar(1.0, angle(n));
  }
  return sum.real() / std::sqrt(c.D);
}

double turned_values(const Case& c, bool half_split, int h, int i, int channel,
                     const std::function<double(int n, int j)>& angle) {
  const int n = half_split ? channel % (c.D / 2) : channel / 2, first = half_split ? n : 2 * n;
  const int second = first + (half_split ? c.D / 2 : 1);
  double sum = 0;
  for (int j = 0; j < num_visible_keys(i, c.T, c.causal); ++j) {
    const std::complex<double> value(c.v[h](j, first), c.v[h](j, second)),
        turned = value * std::polar(1.0, -angle(n, j));
    sum += c.attention[h](i, j) * (channel == first ? turned.real() : turned.imag());
  }
  return sum;
}

}  // namespace posbench::equations
