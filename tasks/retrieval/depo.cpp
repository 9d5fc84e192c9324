// Finds the k-th successor of a name on a shuffled cycle.
//
//   2- 5 0- 3 | 4 2- 5 | 0- 3 4 | > > 2- 5 =   ->   4        0- 3 follows 2- 5, and 4 follows 0- 3
//
// A name has one or more tokens; the hyphen marks those that are not its last. Each name is once before its
// successor and once after its predecessor. The pairs are in random order. The question is a name after k signs.
// The distance is the number of tokens back to the answer in the pair that ends with it.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::depo {
namespace {

const TaskInfo kInfo{
    .name = "depo",
    .family = "retrieval",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads the pairs of neighbors on a cycle of names in random order, and answers the name that is "
        "some steps after a given one.",
    .requirement =
        "Attention has to recognize a name of several tokens, read the name after it, and do so once for each step.",
    .source = "Allen-Zhu 2025, arXiv:2512.17351; code facebookresearch/PhysicsLM4, data-synthetic-pretrain/Depo",
    .published_name = "Depo",
    .published =
        "The code has cycles of 3 to 375 names, short ones more often, up to 8 steps, and names of 1 or 2 of 50 tokens "
        "(Depo1); or cycles up to 125 names, 16 steps and names of 5 to 7 of 3 tokens (Depo2). It asks up to ten "
        "questions about a cycle, one token states the number of steps, the last token of a name is from a second set "
        "as here, and no bar is between pairs. Here there is one question. It has one sign for each step, so that a "
        "model can be asked for more steps than in training. The splits are ours.",
    .length_unit = "names",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained cycles and steps"},
               {"ood_length", {{"length", "2x"}}, "longer cycles"},
               {"ood_steps", {{"steps", "3"}}, "more steps"},
               {"ood_pieces", {{"pieces", "3"}}, "longer names"}},
    .far = TaskInfo::Far{},
    .largest_answer_fraction = 0.1,
    .shortcuts = {.token = 0.22, .neighbor = 0.23, .count = 0.25, .position = 0.12},
    .learnability = Learnability::open,
    .learnability_note =
        "With steps=1,pieces=1, rope and seed 0, a model of the quick profile has 0.22 of the sequences right after "
        "12,000 steps at a learning rate of 3e-3, and one of four layers has 0.23 after 8,000, as often as a guess among "
        "the names.",
};

struct Options {
  Integers length{4, 8};
  Integers steps{1, 2};
  Integers pieces{1, 2};
  int symbols = 8;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 10000, "names");
    o.integers("steps", steps, 1, 1000, "steps from the given name to the answer");
    o.integers("pieces", pieces, 1, 100, "tokens of a name");
    o.integer("symbols", symbols, 1, 10000, "different tokens at the end of a name, and before its end");
  }
};

class Depo final : public BasicTask<Options> {
 public:
  Depo(const Options& options, Layout layout) : BasicTask(options, layout) {
    double names = 0;
    for (const int pieces : options.pieces.values()) names += std::pow(options.symbols, pieces);
    if (names < options.length.max()) {
      throw InputError(
          fmt::format("task 'depo': length {} needs as many names, and symbols {} make {}; raise symbols",
                      options.length.max(), options.symbols, names));
    }
  }

  int vocabulary() const override { return kPiece + 2 * options_.symbols; }
  double chance_level() const override { return 0.5 / options_.symbols; }
  std::string token_text(int token) const override {
    if (token < kPiece) return std::string(1, "|>="[token]);
    return fmt::format("{}{}", (token - kPiece) / 2, is_last(token) ? "" : "-");
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<std::vector<int>> names = draw_names(length, rng);
    std::vector<int> order(length);
    std::iota(order.begin(), order.end(), 0);
    shuffle<int>(order, rng);
    const int steps = options_.steps.draw(rng), asked = uniform(rng, 0, length - 1);
    const int before = (asked + steps - 1) % length;  // the name before the answer
    const std::vector<int>& answer = names[(before + 1) % length];

    std::vector<int> question, segments, evidence;
    const auto append = [&](const std::vector<int>& name) {
      question.insert(question.end(), name.begin(), name.end());
    };
    for (int n = 0; n < length; ++n) {
      append(names[order[n]]);
      if (order[n] == before) {
        evidence.resize(answer.size());
        std::iota(evidence.begin(), evidence.end(), static_cast<int>(question.size()));
      }
      append(names[(order[n] + 1) % length]);
      question.push_back(kBar);
      segments.resize(question.size(), n);
    }
    question.insert(question.end(), steps, kStep);
    append(names[asked]);
    Example example = ask_terminated(layout_, std::move(question), kEquals, answer, options_.pieces.max());
    set_segments(example, std::move(segments), length);
    set_evidence(example, std::move(evidence));
    return example;
  }

 private:
  static constexpr int kBar = 0, kStep = 1, kEquals = 2, kPiece = 3;
  static bool is_last(int token) { return (token - kPiece) % 2 == 1; }

  /// Draws different names. The number of tokens is uniform, and so is each token.
  std::vector<std::vector<int>> draw_names(int count, Rng& rng) const {
    std::vector<std::vector<int>> names;
    std::set<std::vector<int>> drawn;
    while (static_cast<int>(names.size()) < count) {
      std::vector<int> name = uniform_tokens(rng, options_.pieces.draw(rng), 0, options_.symbols - 1);
      for (int& token : name) token = kPiece + 2 * token;
      ++name.back();
      if (drawn.insert(name).second) names.push_back(std::move(name));
    }
    return names;
  }
};

const RegisterTask<Depo> registered{kInfo};

}  // namespace
}  // namespace posbench::depo
