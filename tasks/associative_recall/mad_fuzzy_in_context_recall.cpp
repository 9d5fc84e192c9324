// Recalls values of several tokens by keys of several tokens.
//
//   k0 k4 v9 / k2 v7 v13 v8 / k0 v11 / k2 v7 v13 v8        targets: v7, v13 and v8 in the last pair
//
// A key or a value consists of distinct ids; their numbers are equally likely. One pair, the probe, occurs at a
// uniform position and again at the end. The distance is the number of tokens from the target position back to the
// same token of the earlier value.
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mad_fuzzy_in_context_recall {
namespace {

const TaskInfo kInfo{
    .name = "mad_fuzzy_in_context_recall",
    .family = "associative_recall",
    .version = 2,
    .aspects = {Aspect::recall},
    .definition =
        "The model reads pairs of a key and a value, of one or several tokens each, in which a key keeps the value of its first "
        "occurrence. It answers every value token of a key seen before, chosen among the ids of values, because "
        "the end of a key cannot be predicted.",
    .requirement =
        "Attention has to match a key of several tokens in their order, and then read the tokens after it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "fuzzy in-context recall",
    .published =
        "The paper has 7 key ids, 8 value ids and padding to 128 tokens. "
        "It trains on keys and values of 1 to 3 tokens (key=1..3,value=1..3,loss=noisy) and tests on keys of 3 (key=3), "
        "with answers among all ids. "
        "Here sequences are not padded and `length` is their largest number of tokens, half as many; the probe "
        "always occurs before the end, which the code does not ensure. "
        "The splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and keys"},
               {"ood_long_keys", {{"key", "3"}}, "keys of 3 tokens, longer than any trained key; same length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length, with the trained keys"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length, with the trained keys"}},
    .shortcuts = {.token = 0.22, .neighbor = 0.21, .count = 0.2},
};

struct Options {
  Integers length{64};
  Integers key{1, 2}, value{1};
  int vocabulary = 15;
  Loss loss = Loss::clean;
  void describe(OptionTable& o) {
    o.integers("length", length, 6, 100000, "tokens, at most");
    o.integers("key", key, 1, 100, "tokens of a key");
    o.integers("value", value, 1, 100, "tokens of a value");
    o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
    describe_loss(o, loss, "the values that can be known");
  }
};

class MadFuzzyInContextRecall final : public BasicTask<Options> {
 public:
  MadFuzzyInContextRecall(const Options& options, Layout layout) : BasicTask(options, layout) {
    require_ids("key", options.key, ids_.keys());
    require_ids("value", options.value, ids_.values());
    if (options.length.min() < 3 * longest_pair()) {
      throw InputError(fmt::format(
          "task 'mad_fuzzy_in_context_recall': length {} cannot hold 3 pairs of {} tokens; raise it or "
          "shorten key or value",
          options.length.min(), longest_pair()));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return ids_.text(token); }

  Example sample(int length, Rng& rng) const override {
    Pairs pairs;
    const Ids probe = draw_key(rng);
    pairs.value[probe] = draw_value(rng);
    const int probe_size = static_cast<int>(probe.size() + pairs.value[probe].size());
    // The probe still fits behind a pair that starts before this position.
    const int last_start = length - probe_size - longest_pair();
    const int probe_position = uniform(rng, 0, length - 2 * probe_size - longest_pair());
    while (static_cast<int>(pairs.sequence.size()) < last_start || !pairs.last.contains(probe)) {
      const bool due = static_cast<int>(pairs.sequence.size()) >= probe_position && !pairs.last.contains(probe);
      const Ids key = due ? probe : draw_key(rng);
      if (!pairs.value.contains(key)) pairs.value[key] = draw_value(rng);
      pairs.append(key);
    }
    pairs.append(probe);
    pairs.segments.pop_back();  // the last token is a target only

    Example example = predict_next(std::move(pairs.sequence), std::move(pairs.scored), options_.loss);
    example.distances = std::move(pairs.distances);
    example.segments = std::move(pairs.segments);
    example.candidates.resize(ids_.values());
    std::iota(example.candidates.begin(), example.candidates.end(), ids_.first_value());
    return example;
  }

 private:
  using Ids = std::vector<int>;

  struct Pairs {
    Ids sequence, scored, distances, segments;
    std::map<Ids, Ids> value;
    std::map<Ids, int> last;  // the latest position of the value of a key
    int count = 0;
    void append(const Ids& key) {
      sequence.insert(sequence.end(), key.begin(), key.end());
      const int position = static_cast<int>(sequence.size());
      if (const auto before = last.find(key); before != last.end()) {
        for (size_t n = 0; n < value[key].size(); ++n) {
          scored.push_back(position - 1 + static_cast<int>(n));
          distances.push_back(position - 1 - before->second);
        }
      }
      last[key] = position;
      sequence.insert(sequence.end(), value[key].begin(), value[key].end());
      segments.insert(segments.end(), key.size() + value[key].size(), count++);
    }
  };

  void require_ids(const char* option, const Integers& tokens, int ids) const {
    if (tokens.max() <= ids) return;
    throw InputError(fmt::format(
        "task 'mad_fuzzy_in_context_recall': {} {} needs more ids than the {} of vocabulary {}; shorten it "
        "or raise vocabulary",
        option, tokens.text(), ids, options_.vocabulary));
  }

  int longest_pair() const { return options_.key.max() + options_.value.max(); }
  Ids draw_key(Rng& rng) const { return distinct_ids(rng, 0, ids_.keys(), options_.key.draw(rng)); }
  Ids draw_value(Rng& rng) const {
    return distinct_ids(rng, ids_.first_value(), ids_.values(), options_.value.draw(rng));
  }

  KeyValueIds ids_{.vocabulary = options_.vocabulary};
};

const RegisterTask<MadFuzzyInContextRecall> registered{kInfo};

}  // namespace
}  // namespace posbench::mad_fuzzy_in_context_recall
