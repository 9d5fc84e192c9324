#include "tasks/parts/examples.h"

#include <cassert>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace posbench {

Example ask(Layout layout, std::vector<int> question, int blank, const std::vector<int>& answer, int scored) {
  assert(!answer.empty());
  Example example{.tokens = std::move(question)};
  const size_t first = example.tokens.size();
  example.targets.assign(first, kIgnore);
  example.segments.assign(first, 0);
  for (size_t n = 0; n < answer.size(); ++n) {
    example.tokens.push_back(n == 0 || layout == Layout::slots ? blank : answer[n - 1]);
    example.targets.push_back(answer[n]);
    example.segments.push_back(1);
    if (scored < 0 || static_cast<int>(n) < scored) example.scored.push_back(static_cast<int>(first + n));
  }
  return example;
}

Example predict_next(std::vector<int> sequence, std::vector<int> scored, Loss loss) {
  Example example{.tokens = std::move(sequence), .scored = std::move(scored)};
  std::vector<int> next(example.tokens.begin() + 1, example.tokens.end());
  example.tokens.pop_back();
  example.segments.assign(next.size(), 0);
  if (loss == Loss::noisy) {
    example.targets = std::move(next);
  } else {
    example.targets.assign(next.size(), kIgnore);
    for (const int t : example.scored) example.targets[t] = next[t];
  }
  return example;
}

Example ask_terminated(Layout layout, std::vector<int> question, int blank, std::vector<int> answer, int slots,
                       int padding) {
  const int scored = static_cast<int>(answer.size());
  assert(scored <= slots);
  if (layout == Layout::slots) answer.resize(slots, padding);
  return ask(layout, std::move(question), blank, answer, scored);
}

void describe_loss(OptionTable& o, Loss& loss, const std::string& learnable) {
  o.choice("loss", loss, {"clean", "noisy"}, "train on " + learnable + ", or on every next token");
}

void set_segments(Example& example, std::vector<int> question, int last) {
  question.resize(example.tokens.size(), last);
  example.segments = std::move(question);
}

std::vector<int> values_of_tokens(Layout layout, std::vector<int> question,
                                  const std::vector<int>& blank_and_answer, const Example& example, int unused) {
  const auto first = blank_and_answer.begin() + (layout == Layout::slots ? 1 : 0);
  question.insert(question.end(), first, blank_and_answer.end());
  question.resize(example.tokens.size(), unused);
  return question;
}

void set_evidence(Example& example, std::vector<int> evidence) {
  assert(evidence.size() == example.scored.size());
  for (size_t n = 0; n < evidence.size(); ++n) example.distances.push_back(example.scored[n] - evidence[n]);
  example.evidence = std::move(evidence);
}

std::vector<int> segments_ended_by(int delimiter, std::span<const int> tokens) {
  std::vector<int> segments;
  int segment = 0;
  for (const int token : tokens) {
    segments.push_back(segment);
    segment += token == delimiter;
  }
  return segments;
}

std::vector<int> in_pieces(std::span<const int> words, const Integers& pieces, int first_piece, int whole) {
  const std::vector<int>& numbers = pieces.values();
  std::vector<int> tokens;
  for (const int word : words) {
    tokens.push_back(word);
    const int count = word == whole ? 1 : numbers[static_cast<size_t>(word) % numbers.size()];
    for (int n = 1; n < count; ++n) tokens.push_back(first_piece + n - 1);
  }
  return tokens;
}

int draw_if_several(const Integers& numbers, Rng& rng) {
  return numbers.values().size() > 1 ? numbers.draw(rng) : numbers.max();
}

std::vector<int> distinct_ids(Rng& rng, int first, int size, int count) {
  std::vector<int> ids = sample_distinct(rng, size, count);
  for (int& id : ids) id += first;
  shuffle<int>(ids, rng);
  return ids;
}

}  // namespace posbench
