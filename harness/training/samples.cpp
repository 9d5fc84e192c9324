#include "harness/training/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/round_positions.h"

namespace posbench {
namespace {

/// Throws InputError if the task made an invalid example.
void require_valid(const SampleStream& samples, const Example& e, std::uint64_t index) {
  const std::string wrong = validate(e, samples.task.vocabulary(), samples.task.answers());
  if (!wrong.empty())
    throw InputError(fmt::format("example {} of '{}' is faulty: {}", index, samples.text, wrong));
}

/// Returns the model input of an example, without targets and positions.
Sequence make_sequence(const SampleStream& samples, const Example& e, bool training, std::uint64_t index) {
  Sequence s;
  s.tokens = e.tokens;
  s.segments = e.segments;
  s.digit_positions = e.digit_positions;
  s.coordinates = e.coordinates;
  s.training = training;
  s.loops = samples.loops;
  if (samples.largest_shift > 0) {
    Rng shift_rng = make_rng(samples.seed, samples.text + ":shift", index);
    s.first_position = uniform(shift_rng, 1, samples.largest_shift);
  }
  return s;
}

/// The examples of the sequence that has a sample, and the place of the sample among them.
struct Pack {
  std::vector<Example> examples;
  size_t place;
  std::uint64_t first;  // the index of the first example
};

Pack draw_pack(const SampleStream& samples, std::uint64_t index) {
  const auto count = static_cast<std::uint64_t>(samples.packing.samples);
  Pack pack{.examples = {}, .place = static_cast<size_t>(index % count), .first = index - index % count};
  for (std::uint64_t n = 0; n < count; ++n) {
    pack.examples.push_back(samples(pack.first + n).example);
    require_valid(samples, pack.examples.back(), pack.first + n);
  }
  return pack;
}

/// Returns the positions of the sequence of an example, which is a part of a packed one or is joined.
Positions pack_positions(const SampleStream& samples, const PositionEncoding& encoding, const Pack& pack,
                         const Sequence& s) {
  const auto positions = [&](const Sequence& of, std::uint64_t index) {
    Rng rng = make_rng(samples.seed, samples.text + ":positions", index);
    return encoding.positions(of, rng);
  };
  if (!samples.packing.restart) {
    const Example all = join(pack.examples, pack.place);
    const Positions whole = positions(make_sequence(samples, all, s.training, pack.first), pack.first);
    if (samples.packing.joins()) return whole;
    size_t first = 0;
    for (size_t n = 0; n < pack.place; ++n) first += pack.examples[n].tokens.size();
    return part_of(whole, first, s.tokens.size());
  }
  std::vector<Positions> all;
  for (size_t n = 0; n < pack.examples.size(); ++n) {
    const std::uint64_t index = pack.first + n;
    all.push_back(positions(make_sequence(samples, pack.examples[n], s.training, index), index));
  }
  return join(all);
}

/// Draws the sample with the index of `drawn` and makes the model input from it.
void prepare(const SampleStream& samples, const PositionEncoding& encoding, bool training, PreparedSample& drawn) {
  drawn.sample = samples(drawn.index);
  Example& e = drawn.sample.example;
  require_valid(samples, e, drawn.index);
  const Packing& packing = samples.packing;
  const bool is_packed = packing.joins() || packing.continues();
  Pack pack;
  if (is_packed) pack = draw_pack(samples, drawn.index);
  if (packing.joins()) e = join(pack.examples, pack.place);
  Sequence& s = drawn.sequence;
  s = make_sequence(samples, e, training, drawn.index);
  if (training) {
    for (size_t t = 0; t < e.targets.size(); ++t) {
      if (e.targets[t] != kIgnore) s.target_positions.push_back(static_cast<int>(t));
    }
  } else {
    s.target_positions = e.scored;
  }
  for (const int t : s.target_positions) drawn.targets.push_back(e.targets[t]);
  if (is_packed) {
    s.positions = pack_positions(samples, encoding, pack, s);
  } else {
    Rng rng = make_rng(samples.seed, samples.text + ":positions", drawn.index);
    s.positions = encoding.positions(s, rng);
  }
  round_positions(samples.rounding, s.positions);
}

/// Keeps `count` of the scored positions, chosen at random; all if there are no more.
void score_some(Example& e, size_t count, Rng& rng) {
  if (count >= e.scored.size()) return;
  const std::vector<int> kept = sample_distinct(rng, static_cast<int>(e.scored.size()), static_cast<int>(count));
  for (std::vector<int>* values : {&e.scored, &e.distances, &e.evidence}) {
    if (values->empty()) continue;
    std::vector<int> some;
    for (const int n : kept) some.push_back((*values)[n]);
    *values = std::move(some);
  }
}

}  // namespace

std::string StreamId::text() const {
  switch (purpose) {
    case Purpose::train:
      return "train";
    case Purpose::further_training:
      return "train:further";
    case Purpose::validation:
      return split == kInDistribution ? "validation" : "validation:" + split;
    case Purpose::test:
      break;
  }
  return grid.empty() ? "test:" + split : "grid:" + grid;
}

SampleStream::SampleStream(const Task& t, const StreamId& id)
    : task(t), text(id.text()), seed(id.seed), purpose(id.purpose) {}

SampleStream::SampleStream(const Task& t, std::string given_text, std::uint64_t given_seed)
    : task(t), text(std::move(given_text)), seed(given_seed) {}

std::string validate(const Example& e, int vocabulary, int answers) {
  const size_t T = e.tokens.size();
  if (e.targets.size() != T || e.segments.size() != T)
    return fmt::format("{} tokens, but {} targets and {} segments", T, e.targets.size(), e.segments.size());
  if (!e.digit_positions.empty() && e.digit_positions.size() != T)
    return fmt::format("{} tokens, but {} digit positions", T, e.digit_positions.size());
  for (const std::vector<int>& values : e.coordinates) {
    if (values.size() != T) return fmt::format("{} tokens, but {} values of a coordinate", T, values.size());
    if (const auto negative = std::ranges::find_if(values, [](int value) { return value < 0; });
        negative != values.end())
      return fmt::format("the coordinate {} at position {} is negative", *negative, negative - values.begin());
  }
  for (size_t t = 0; t < T; ++t) {
    if (e.tokens[t] < 0 || e.tokens[t] >= vocabulary)
      return fmt::format("token {} at position {} is outside the vocabulary of {}", e.tokens[t], t, vocabulary);
    if (e.targets[t] != kIgnore && (e.targets[t] < 0 || e.targets[t] >= answers))
      return fmt::format("target {} at position {} is outside the alphabet of {} answers", e.targets[t], t,
                         answers);
  }
  if (!e.distances.empty() && e.distances.size() != e.scored.size())
    return fmt::format("{} distances for {} scored positions", e.distances.size(), e.scored.size());
  if (!e.evidence.empty() && e.evidence.size() != e.scored.size())
    return fmt::format("{} tokens of evidence for {} scored positions", e.evidence.size(), e.scored.size());
  for (size_t n = 0; n < e.evidence.size(); ++n) {
    if (e.evidence[n] < 0 || e.evidence[n] > e.scored[n])
      return fmt::format("evidence {} of scored position {} is not at or before it", e.evidence[n], e.scored[n]);
  }
  for (const int id : e.candidates) {
    if (id < 0 || id >= answers)
      return fmt::format("candidate {} is outside the alphabet of {} answers", id, answers);
  }
  for (const int t : e.scored) {
    if (t < 0 || t >= static_cast<int>(T) || e.targets[t] == kIgnore)
      return fmt::format("scored position {} has no target", t);
    if (!e.candidates.empty() &&
        std::find(e.candidates.begin(), e.candidates.end(), e.targets[t]) == e.candidates.end())
      return fmt::format("target {} at position {} is not among the candidates", e.targets[t], t);
  }
  return "";
}

SampleStream::Sample SampleStream::operator()(std::uint64_t index) const {
  if (distinct > 0) index %= distinct;
  Rng rng = make_rng(seed, text, index);
  const int drawn = length ? *length : task.lengths().draw(rng);
  Sample sample{draw(drawn, rng), drawn};
  if (sample.example.length > 0) sample.length = sample.example.length;
  if (answers_as) {
    Rng choice = make_rng(seed, text + ":answers", index);
    score_some(sample.example, (*answers_as)(index).example.scored.size(), choice);
  }
  return sample;
}

/// Draws an example again until training or tests may use its question.
Example SampleStream::draw(int drawn, Rng& rng) const {
  constexpr int kMostAttempts = 100'000;
  const std::uint64_t limit = reserve != nullptr ? reserve->limit(task, drawn) : 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    Example e = task.sample_of(purpose, drawn, rng);
    if (limit == 0 || (question_hash(e, task.tokens_before()) <= limit) == (purpose == Purpose::test)) return e;
  }
  throw InputError(
      fmt::format("'{}': none of {} samples of length {} has a question of its part; set "
                  "training.reserve=false",
                  text, kMostAttempts, drawn));
}

int length_of_batch(const SampleStream& samples, std::uint64_t step, int batch) {
  if (samples.distinct > 0) step %= samples.distinct / static_cast<std::uint64_t>(batch);
  Rng rng = make_rng(samples.seed, "lengths", step);
  return samples.task.lengths().draw(rng);
}

std::vector<PreparedSample> draw_batch(const SampleStream& samples, const PositionEncoding& encoding,
                                       bool training, std::uint64_t first, int count, ThreadPool& pool) {
  const int step = training && samples.packing.joins() ? samples.packing.samples : 1;
  std::vector<PreparedSample> batch(count / step);
  pool.for_each(batch.size(), [&](size_t n, size_t) {
    batch[n].index = first + n * static_cast<size_t>(step);
    prepare(samples, encoding, training, batch[n]);
  });
  std::stable_sort(batch.begin(), batch.end(), [](const PreparedSample& a, const PreparedSample& b) {
    return a.sequence.tokens.size() > b.sequence.tokens.size();
  });
  return batch;
}

}  // namespace posbench
