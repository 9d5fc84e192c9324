// Follows the state of several keys and answers the state of one.
//
//   k3 =2 k0 =4 k3 +4 k0 =1 k3 +3 k0 ?   ->   1        modulo 5; k3 would be 2 + 4 + 3 = 4
//
// Each pair is an update of a uniform key of the sequence. The first update of a key sets its state, and a later
// one does so with probability `reset` or else adds to it. The key that is asked for is that of a uniform update.
// The distance is the number of updates of this key since its state was set, with the one that set it.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::tracking_recall {
namespace {

const TaskInfo kInfo{
    .name = "tracking_recall",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking, Aspect::recall},
    .definition =
        "The model reads updates, each of which sets the state of a key or adds to it, and answers the state of one "
        "key.",
    .requirement =
        "Attention has to select the updates of a key by content, ignore those before the last that set its state, and "
        "sum the rest modulo the number of states.",
    .source = "after Phan et al. 2025, arXiv:2510.00258",
    .published =
        "The paper trains hybrids of attention and recurrent layers on a task of state tracking and associative "
        "recall, and tests sequences three times as long. Only its abstract was read, so the updates, sizes and splits "
        "are ours.",
    .length_unit = "updates",
    .distance_unit = "updates",
    .splits = {{"in_distribution", {}, "the trained updates and keys"},
               {"ood_length", {{"length", "3x"}}, "more updates of each key"},
               {"ood_keys", {{"keys", "2x"}}, "more keys, with fewer updates of each"},
               {"ood_sums", {{"reset", "0"}}, "longer sums, since only the first update of a key sets its state"}},
    .shortcuts = {.token = 0.32, .neighbor = 0.31, .count = 0.3},
    .learnability = Learnability::open,
    .learnability_note =
        "With rope, seed 0 and 12,000 steps at a learning rate of 3e-3, a model of the quick profile has 0.38 of the "
        "sequences right, and 0.45 with reset=1. With reset=1 and four layers it has 0.54 after 6,000 steps.",
};

struct Options {
  Integers length{4, 12};
  int keys = 4, names = 16, states = 5;
  double reset = 0.3;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "updates");
    o.integer("keys", keys, 1, 10000, "keys in a sequence");
    o.integer("names", names, 1, 10000, "keys that those of a sequence are drawn from");
    o.integer("states", states, 2, 1000, "states, and the modulus of sums");
    o.number("reset", reset, 0, 1, "probability that a later update of a key sets its state");
  }
};

class TrackingRecall final : public BasicTask<Options> {
 public:
  TrackingRecall(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.keys <= options.names) return;
    throw InputError(fmt::format("task 'tracking_recall': keys {} is more than names {}; lower it or raise names",
                                 options.keys, options.names));
  }

  int vocabulary() const override { return question_mark() + 1; }
  int answers() const override { return options_.states; }
  double chance_level() const override { return 1.0 / options_.states; }
  std::string token_text(int token) const override {
    const int states = options_.states;
    if (token < states) return std::to_string(token);
    if (token < 2 * states) return fmt::format("={}", token - states);
    if (token < first_key()) return fmt::format("+{}", token - 2 * states);
    return token < question_mark() ? fmt::format("k{}", token - first_key()) : "?";
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> keys = distinct_ids(rng, first_key(), options_.names, options_.keys);
    struct State {
      int value = 0, updates = 0;
    };
    std::vector<State> states(keys.size());
    std::vector<int> question, segments, updated;
    for (int n = 0; n < length; ++n) {
      const int key = uniform(rng, 0, options_.keys - 1), amount = uniform(rng, 0, options_.states - 1);
      State& state = states[key];
      const bool sets = state.updates == 0 || bernoulli(rng, options_.reset);
      state = sets ? State{amount, 1} : State{(state.value + amount) % options_.states, state.updates + 1};
      question.insert(question.end(), {keys[key], (sets ? 1 : 2) * options_.states + amount});
      segments.insert(segments.end(), 2, n);
      updated.push_back(key);
    }
    const int asked = updated[uniform(rng, 0, length - 1)];
    question.push_back(keys[asked]);
    Example example = ask(layout_, std::move(question), question_mark(), {states[asked].value});
    set_segments(example, std::move(segments), length);
    example.distances = {states[asked].updates};
    return example;
  }

 private:
  int first_key() const { return 3 * options_.states; }
  int question_mark() const { return first_key() + options_.names; }
};

const RegisterTask<TrackingRecall> registered{kInfo};

}  // namespace
}  // namespace posbench::tracking_recall
