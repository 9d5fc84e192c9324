// Recalls an earlier value of each key while keys get new values.
//
//   A 1 B 2 A 3 A 4 B 5 A 6        which=1: 1 at the second A, 3 at the third, 2 at the second B, 4 at the last A
//                                  which=2: 1 at the third A, 3 at the last A
//
// Every pair assigns a uniform value to a uniform key. A key that got `which` values before is also a question, so
// that no answer is inserted, and causal and bidirectional models read the same tokens. The distance is the number
// of tokens from the key back to the value. Its mean, 2 which keys - 1 in a long sequence, does not depend on the
// length.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mqrar {
namespace {

const TaskInfo kInfo{
    .name = "mqrar",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads pairs of a key and a value, and answers at each key its last value before, or an earlier "
        "one (which).",
    .requirement =
        "Attention has to find by content the places where a key occurred, choose the last of them or an earlier "
        "one by their order, and read the token after it.",
    .source = "Tan et al. 2024, arXiv:2410.17980; N-back: Yang et al. 2025, arXiv:2505.16381, section 4.1",
    .published_name = "multi-query repeated associative recall with N-back (MQRAR-N)",
    .published =
        "The second paper has 32 keys in 768 tokens and N from 1 to 4, and tests at the trained length; there, with "
        "two layers of width 256, PaTH learns N up to 3. That is mqrar:keys=32,length=768,which=N. "
        "The first author's fork of Zoology (shawntan/zoology, commit 3bf0571) has a generator for which=1, whose questions come "
        "at power-law gaps. Here keys come in uniform order; this order, the vocabulary and the splits are ours. There are "
        "8 keys in 32 tokens.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained length and number of keys"},
               {"ood_length2", {{"length", "2x"}}, "twice the values of each key, at the trained distances"},
               {"ood_length4", {{"length", "4x"}}, "four times the values of each key, at the trained distances"},
               {"ood_keys",
                {{"length", "2x"}, {"keys", "2x"}},
                "twice the keys, so that distances double, with the trained number of values of each"}},
    .far = TaskInfo::Far{{{"far", "true"}}},
};

struct Options {
  Integers length{32};
  int keys = 8, which = 1, vocabulary = 64;
  bool far = false;
  void describe(OptionTable& o) {
    o.integers("length", length, 4, 100000, "tokens; even");
    o.integer("keys", keys, 1, 10000, "different keys in a sequence");
    o.integer("which", which, 1, 1000, "the index of the queried value of a key, counted from the last: N");
    o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
    o.flag("far", far, "the queried value uniformly anywhere, and only the last key scored");
  }
};

class Mqrar final : public BasicTask<Options> {
 public:
  Mqrar(const Options& options, Layout layout) : BasicTask(options, layout) {
    require_even_lengths("mqrar", options.length);
    if (options.far && options.keys < 2)
      throw InputError("task 'mqrar': far needs two keys, not 1; raise keys or leave out far");
    if (options.keys > ids_.keys()) {
      throw InputError(
          fmt::format("task 'mqrar': keys {} is more than the {} of vocabulary {}; lower it or raise vocabulary",
                      options.keys, ids_.keys(), options.vocabulary));
    }
    const int needed = 2 * (options.keys * options.which + 1);  // then one key has more than `which` values
    if (needed > options.length.min()) {
      throw InputError(
          fmt::format("task 'mqrar': keys {} and which {} need a length of {} at least, not {}; raise length",
                      options.keys, options.which, needed, options.length.min()));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> key = distinct_ids(rng, 0, ids_.keys(), options_.keys);
    std::vector<std::vector<int>> value_positions(key.size());
    Example example;
    example.targets.assign(length, kIgnore);
    std::vector<int> answer_position(length, 0);
    const std::vector<int> last = options_.far ? draw_last_places(length / 2 - 1, rng) : std::vector<int>{};
    for (int t = 0; t < length; t += 2) {
      const int assigned =
          options_.far ? draw_far_key(t / 2, last, length, rng) : uniform(rng, 0, options_.keys - 1);
      std::vector<int>& earlier = value_positions[assigned];
      const bool is_scored = !options_.far || t == length - 2;
      if (const int count = static_cast<int>(earlier.size()); is_scored && count >= options_.which) {
        answer_position[t] = earlier[count - options_.which];
        example.targets[t] = example.tokens[answer_position[t]];
      }
      earlier.push_back(t + 1);
      example.tokens.insert(example.tokens.end(),
                            {key[assigned], uniform(rng, ids_.first_value(), options_.vocabulary - 1)});
    }
    score_targets(example, answer_position, 2);
    return example;
  }

 private:
  /// Draws the pairs of the queried key's last `which` values before the end, of which the first is uniform.
  std::vector<int> draw_last_places(int pairs, Rng& rng) const {
    std::vector<int> places{uniform(rng, 0, pairs - options_.which)};
    for (const int after : sample_distinct(rng, pairs - 1 - places[0], options_.which - 1))
      places.push_back(places[0] + 1 + after);
    return places;
  }

  /// Returns the index of a key. The queried key is number 0. After the first of its last places it has no others.
  int draw_far_key(int pair, const std::vector<int>& last, int length, Rng& rng) const {
    const bool is_queried = pair == length / 2 - 1 || std::ranges::find(last, pair) != last.end();
    if (is_queried) return 0;
    return pair < last[0] ? uniform(rng, 0, options_.keys - 1) : uniform(rng, 1, options_.keys - 1);
  }

  KeyValueIds ids_{.vocabulary = options_.vocabulary};
};

const RegisterTask<Mqrar> registered{kInfo};

}  // namespace
}  // namespace posbench::mqrar
