#include "harness/training/samples.h"

#include <algorithm>

namespace posbench {

SampleStream::Sample SampleStream::operator()(std::uint64_t index) const {
  Rng rng = stream(seed, purpose, index);
  const int drawn = length ? *length : task.lengths().draw(rng);
  return {task.sample(drawn, rng), drawn};
}

std::vector<Drawn> draw(const SampleStream& samples, const PositionEncoding& encoding, bool training,
                        std::uint64_t first, int count) {
  std::vector<Drawn> batch(count);
  for (int n = 0; n < count; ++n) {
    Drawn& drawn = batch[n];
    drawn.sample = samples(first + n);
    const Example& e = drawn.sample.example;
    Sequence& s = drawn.sequence;
    s.tokens = e.tokens;
    s.segments = e.segments;
    s.digit_positions = e.digit_positions;
    s.training = training;
    if (training) {
      for (size_t t = 0; t < e.targets.size(); ++t) {
        if (e.targets[t] != kIgnore) s.target_positions.push_back(static_cast<int>(t));
      }
    } else {
      s.target_positions = e.scored;
    }
    for (const int t : s.target_positions) drawn.targets.push_back(e.targets[t]);
    Rng rng = stream(samples.seed, samples.purpose + ":positions", first + n);
    s.positions = encoding.positions(s, rng);
  }
  std::stable_sort(batch.begin(), batch.end(), [](const Drawn& a, const Drawn& b) {
    return a.sequence.tokens.size() > b.sequence.tokens.size();
  });
  return batch;
}

}  // namespace posbench
