#include "tasks/parts/mad_recall.h"

namespace posbench {

Example recall(int pairs, const RecallIds& ids, double noise, Loss loss, Rng& rng) {
  const int first_noise = ids.keys + ids.values, kept = uniform(rng, 0, pairs - 2);
  std::vector<int> sequence, scored, distances, seen;
  std::vector<int> value(ids.keys, kIgnore),
      last(ids.keys, kIgnore);  // of each key: its value, and the latest position of the value
  for (int pair = 0; pair < pairs; ++pair) {
    const bool probe = pair == pairs - 1;
    if (!probe && pair != kept && chance(rng, noise)) {
      for (const int token : uniform_tokens(rng, 2, first_noise, first_noise + ids.noise - 1))
        sequence.push_back(token);
      continue;
    }
    const int key =
        probe ? seen[uniform(rng, 0, static_cast<int>(seen.size()) - 1)] : uniform(rng, 0, ids.keys - 1);
    const int position = static_cast<int>(sequence.size());
    if (value[key] == kIgnore) {
      value[key] = uniform(rng, ids.keys, first_noise - 1);
      seen.push_back(key);
    } else {
      scored.push_back(position);
      distances.push_back(position - last[key]);
    }
    sequence.insert(sequence.end(), {key, value[key]});
    last[key] = position + 1;
  }
  Example example = predict_next(std::move(sequence), std::move(scored), loss);
  example.distances = std::move(distances);
  for (size_t t = 0; t < example.segments.size(); ++t) example.segments[t] = static_cast<int>(t / 2);
  return example;
}

}  // namespace posbench
