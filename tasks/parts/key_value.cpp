#include "tasks/parts/key_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace posbench {

std::string KeyValueIds::text(int token) const {
  if (token < filler) return "_";
  return fmt::format("{}{}", token < first_value() ? 'k' : token < vocabulary ? 'v' : 'n', token);
}

Example recall(int pairs, const KeyValueIds& ids, const Noise& noise, Loss loss, Rng& rng) {
  const int exempt = uniform(rng, 0, pairs - 2);
  std::vector<int> sequence, scored, distances, seen;
  std::vector<int> value(ids.keys(), kIgnore),
      last(ids.keys(), kIgnore);  // last: the latest position of the value
  for (int pair = 0; pair < pairs; ++pair) {
    const bool is_last = pair == pairs - 1;
    if (!is_last && pair != exempt && bernoulli(rng, noise.probability)) {
      for (const int token : uniform_tokens(rng, 2, ids.vocabulary, ids.vocabulary + noise.vocabulary - 1))
        sequence.push_back(token);
      continue;
    }
    const int key =
        is_last ? seen[uniform(rng, 0, static_cast<int>(seen.size()) - 1)] : uniform(rng, 0, ids.keys() - 1);
    const int position = static_cast<int>(sequence.size());
    if (value[key] == kIgnore) {
      value[key] = uniform(rng, ids.first_value(), ids.vocabulary - 1);
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

void describe_power(OptionTable& o, double& power) {
  o.number("power", power, 0, 10, "gap number j is drawn with probability proportional to j^(power - 1)");
}

std::vector<int> power_law_gaps(Rng& rng, int gaps, int count, double power) {
  // The first `count` of independent exponential arrival times have the distribution of such draws.
  std::vector<std::pair<double, int>> arrivals;
  for (int g = 0; g < gaps; ++g) {
    const double weight = std::pow(g + 1, power - 1);
    arrivals.emplace_back(-std::log(1 - uniform_real(rng)) / weight, g);
  }
  std::partial_sort(arrivals.begin(), arrivals.begin() + count, arrivals.end());
  std::vector<int> chosen;
  for (int m = 0; m < count; ++m) chosen.push_back(arrivals[m].second);
  return chosen;
}

void require_even_lengths(const std::string& task, const Integers& lengths) {
  for (const int length : lengths.values()) {
    if (length % 2 == 0) continue;
    throw InputError(
        fmt::format("task '{}': length {} is odd; keys and values need an even length", task, length));
  }
}

void score_targets(Example& example, std::span<const int> answer_positions, int segment_size) {
  std::vector<int> evidence;
  for (int t = 0; t < static_cast<int>(example.tokens.size()); ++t) {
    example.segments.push_back(t / segment_size);
    if (example.targets[t] == kIgnore) continue;
    example.scored.push_back(t);
    evidence.push_back(answer_positions[t]);
  }
  set_evidence(example, std::move(evidence));
}

}  // namespace posbench
