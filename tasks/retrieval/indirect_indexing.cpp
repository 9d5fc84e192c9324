// Finds the character some positions to the left or the right of a given one.
//
//   A B S C O P Z G , Z , - 3 ,   ->   C
//
// The source is any letter, the shift any that stays inside the string; the answer to + 0 is the source itself.
// The distance is the absolute value of the shift.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::indirect_indexing {
namespace {

const TaskInfo kInfo{
    .name = "indirect_indexing",
    .family = "retrieval",
    .aspects = {Aspect::recall, Aspect::order},
    .definition =
        "The model reads a string of distinct letters, one of them and a shift, and answers the letter that is "
        "that many positions to the left or the right of it.",
    .requirement =
        "Attention has to find a letter by content and then the position at a given distance from it: content "
        "and position one after the other. A score that mixes the two has to learn every letter at every shift.",
    .source = "Gopalakrishnan et al. 2025, arXiv:2509.10534, section 4 and appendix B.1",
    .published_name = "Indirect Indexing",
    .published =
        "The paper has strings of 20 to 40 letters out of A-Z and a-z and shifts of -15..15, each digit and "
        "each sign one token. It trains on a fixed set of a million and tests on 10,000; here each sample is new. "
        "RoPE reaches 11 %, PoPE 95 %. The space after a comma is left out. "
        "The paper does not say what is drawn if a shift would leave the string; here shifts are uniform over "
        "those that stay inside. The splits are ours.",
    .length_unit = "letters",
    .distance_unit = "letters between source and target",
    .splits = {{"in_distribution", {}, "the trained lengths and shifts"},
               {"ood_length", {{"length", "1x..1.3x"}}, "longer strings, with the trained shifts"},
               {"ood_shift", {{"shift", "1x..1.25x"}}, "longer shifts, in strings of the trained lengths"}},
    .shortcuts = {.token = 0.07, .neighbor = 0.03, .count = 0.04},
    .learnability = Learnability::open,
    .learnability_note =
        "The model of the quick profile was trained for 15,000 steps at a learning rate of 1e-3 with seed 0 "
        "and length=8..12,shift=0..2. rope, txl and shaw_k have 0.32 to 0.33 of the answers right, as after "
        "1700 steps.",
};

constexpr int kLetters = 52;
struct Options {
  Integers length{20, 40};
  Integers shift{0, 15};
  void describe(OptionTable& o) {
    o.integers("length", length, 1, kLetters, "letters of the string");
    o.integers("shift", shift, 0, 99, "sizes of the shifts, to either side");
  }
};

class IndirectIndexing final
    : public AlphabetTask<Options, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789,+-"> {
 public:
  IndirectIndexing(const Options& options, Layout layout) : AlphabetTask(options, layout) {
    if (options.shift.min() >= options.length.min()) {
      throw InputError(fmt::format(
          "task 'indirect_indexing': shift {} leaves every string of {} letters; lower it or raise length",
          options.shift.text(), options.length.min()));
    }
  }

  double chance_level() const override { return 1.0 / kLetters; }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question = distinct_ids(rng, 0, kLetters, length);
    const auto [source, target] = draw_positions(length, rng);
    const int answer = question[target], shift = target - source;
    std::vector<int> segments(question.size(), 0);

    question.insert(question.end(), {kComma, question[source], kComma, shift < 0 ? kMinus : kPlus});
    for (const char digit : std::to_string(std::abs(shift))) question.push_back(kDigit + digit - '0');
    Example example = ask(layout_, std::move(question), kComma, {answer});
    set_segments(example, std::move(segments), 1);
    example.distances = {std::abs(shift)};
    return example;
  }

 private:
  static constexpr int kDigit = 52, kComma = 62, kPlus = 63, kMinus = 64;

  /// Returns the position of a uniform source, and of a uniform target among those that the shifts reach.
  std::pair<int, int> draw_positions(int length, Rng& rng) const {
    std::vector<int> targets;
    int source = 0;
    while (targets.empty()) {
      source = uniform(rng, 0, length - 1);
      for (const int size : options_.shift.values()) {
        if (size <= source) targets.push_back(source - size);
        if (size > 0 && source + size < length) targets.push_back(source + size);
      }
    }
    return {source, targets[uniform(rng, 0, static_cast<int>(targets.size()) - 1)]};
  }
};

const RegisterTask<IndirectIndexing> registered{kInfo};

}  // namespace
}  // namespace posbench::indirect_indexing
