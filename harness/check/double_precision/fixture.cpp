#include "harness/check/double_precision/fixture.h"

#include <cstdint>
#include <vector>

namespace posbench::inline POSBENCH_REAL {
namespace {

Rng dropout_stream(size_t) { return make_rng(0, "dropout"); }

Sequence random_sequence(int length, const ModelConfig& config, const PositionEncoding& encoding, Rng& rng) {
  Sequence s;
  s.training = config.dropout > 0;
  s.tokens = uniform_tokens(rng, length, 0, kCertificateVocabulary - 1);
  s.digit_positions = uniform_tokens(rng, length, 0, 3);
  int segment = 0;
  for (int t = 0; t < length; ++t) {
    if (t > 0 && s.digit_positions[t] == s.digit_positions[t - 1])
      s.digit_positions[t] = (s.digit_positions[t] + 1) % 4;  // Neighbors differ, as in a number.
    s.segments.push_back(segment);
    segment += bernoulli(rng, 0.3);
    s.target_positions.push_back(t);
  }
  if (config.coordinates > 0) s.coordinates = board_coordinates(length);
  s.positions = encoding.positions(s, rng);
  return s;
}

}  // namespace

std::vector<std::vector<int>> board_coordinates(int length) {
  std::vector<std::vector<int>> coordinates(2);
  for (int t = 0; t < length; ++t) {
    coordinates[0].push_back(t % 4);
    coordinates[1].push_back(1 + t / 4);
  }
  return coordinates;
}

Fixture::Fixture(const MakeEncoding& make, const ModelConfig& config, int length, std::uint64_t seed)
    : rng(make_rng(seed, "certificate")),
      encoding(make(config, layout)),
      encoding_entries(layout.entries().size()),
      model(config, layout, *encoding),
      parameters(initialize(layout, seed)),
      workspace(layout),
      sequence(random_sequence(length, config, *encoding, rng)) {
  for (const auto& entry : layout.entries()) {
    MatrixView values = parameters[entry.parameter];
    for (Index n = 0; n < values.size(); ++n) values.data()[n] += Real(0.3) * static_cast<Real>(normal(rng));
  }
  encoding->constrain(parameters);
}

void Fixture::forward() {
  Rng dropout = dropout_stream(0);
  model.prepare(parameters, sequence, workspace.tables, nullptr);
  model.forward(parameters, sequence, workspace.tables, &dropout, workspace.activations);
  model.finish(parameters, workspace.tables, nullptr);
}

void Fixture::backward(const std::vector<int>& targets) {
  const LabeledSequence labeled{sequence, targets};
  loss_and_gradient(model, parameters, {&labeled, 1}, 1, dropout_stream, workspace);
}

}  // namespace posbench::inline POSBENCH_REAL
