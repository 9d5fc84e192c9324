// Fuzzy in-context recall of MAD: key-value pairs whose keys and values are several tokens long.
//
//   k0 k4 v9 / k2 v7 v13 v8 / k0 v11 / k2 v7 v13 v8        targets: v7, v13 and v8 in the last pair
//
// A key or a value is 1 to 3 distinct ids; lengths are equally likely, and so are the tuples of a length. A value
// is drawn at the first occurrence of its key and kept. One pair, the probe, occurs at a uniform position and
// again at the end. Every value token of a key seen before is scored. If keys differ in length, the end of a key
// cannot be predicted, so the answer is chosen among the ids of values. The distance is the number of tokens from
// the target position back to the same value token.
//
// Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab: 7 key ids, 8 value ids and one of padding, 128 tokens,
// trained on keys of 1 to 3 tokens and tested on keys of 3, with answers chosen among the whole vocabulary. Ours
// are not padded: `length` is the maximum number of tokens of a sequence. Theirs may end before the first
// occurrence of the probe; ours never do.
#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class MadFuzzyInContextRecall final : public Task {
 public:
  struct Options {
    Integers length{64};
    Integers key{1, 3}, value{1, 3};
    int vocabulary = 15;
    Loss loss = Loss::noisy;
    void describe(OptionTable& o) {
      o.integers("length", length, 6, 100000, "tokens, at most");
      o.integers("key", key, 1, 100, "tokens of a key");
      o.integers("value", value, 1, 100, "tokens of a value");
      o.integer("vocabulary", vocabulary, 4, 100000, "ids: keys, and values from the middle on");
      o.choice("loss", loss, {"clean", "noisy"}, "train on the values that can be known, or on every next token");
    }
  };

  MadFuzzyInContextRecall(const Options& options, Layout) : options_(options) {
    if (options.key.max() > keys()) {
      throw std::invalid_argument(
          fmt::format("task 'mad_fuzzy_in_context_recall': key {} needs more ids than the {} of vocabulary {}; "
                      "shorten it or raise vocabulary",
                      options.key.text(), keys(), options.vocabulary));
    }
    if (options.value.max() > options.vocabulary - keys()) {
      throw std::invalid_argument(
          fmt::format("task 'mad_fuzzy_in_context_recall': value {} needs more ids than the {} of vocabulary {}; "
                      "shorten it or raise vocabulary",
                      options.value.text(), options.vocabulary - keys(), options.vocabulary));
    }
    if (options.length.min() < 3 * longest_pair()) {
      throw std::invalid_argument(
          fmt::format("task 'mad_fuzzy_in_context_recall': length {} cannot hold 3 pairs of {} tokens; raise it "
                      "or shorten key or value",
                      options.length.min(), longest_pair()));
    }
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / (options_.vocabulary - keys()); }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return fmt::format("{}{}", token < keys() ? 'k' : 'v', token); }

  Example sample(int length, Rng& rng) const override {
    Pairs pairs;
    const Ids probe = draw_key(rng);
    pairs.value[probe] = draw_value(rng);
    const int probe_size = static_cast<int>(probe.size() + pairs.value[probe].size());
    // a pair that starts before this position leaves room for the probe
    const int room = length - probe_size - longest_pair();
    const int probe_position = uniform(rng, 0, length - 2 * probe_size - longest_pair());
    while (static_cast<int>(pairs.sequence.size()) < room || pairs.last.count(probe) == 0) {
      const bool due = static_cast<int>(pairs.sequence.size()) >= probe_position && pairs.last.count(probe) == 0;
      const Ids key = due ? probe : draw_key(rng);
      if (pairs.value.count(key) == 0) pairs.value[key] = draw_value(rng);
      pairs.append(key);
    }
    pairs.append(probe);
    pairs.segments.pop_back();  // the last token is a target only

    Example example = predict_next(std::move(pairs.sequence), std::move(pairs.scored), options_.loss);
    example.distances = std::move(pairs.distances);
    example.segments = std::move(pairs.segments);
    example.candidates.resize(options_.vocabulary - keys());
    std::iota(example.candidates.begin(), example.candidates.end(), keys());
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

  int keys() const { return options_.vocabulary / 2; }
  int longest_pair() const { return options_.key.max() + options_.value.max(); }

  Ids draw_key(Rng& rng) const { return draw(options_.key.draw(rng), 0, keys(), rng); }
  Ids draw_value(Rng& rng) const {
    return draw(options_.value.draw(rng), keys(), options_.vocabulary - keys(), rng);
  }
  /// `size` distinct ids out of first..first+count-1, in random order.
  static Ids draw(int size, int first, int count, Rng& rng) {
    Ids ids = distinct(rng, count, size);
    for (int& id : ids) id += first;
    shuffle(std::span(ids), rng);
    return ids;
  }

  Options options_;
};

const RegisterTask<MadFuzzyInContextRecall> registered{{
    .name = "mad_fuzzy_in_context_recall",
    .family = "associative recall",
    .definition =
        "Reads key-value pairs of several tokens each, and answers every value token of a key seen before, chosen "
        "among the ids of values.",
    .takes = "Attention has to match a key of several tokens in their order, and then read the tokens after "
             "it.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "fuzzy in-context recall",
    .published = "128 tokens; trained on keys of 1 to 3 tokens and tested on keys of 3 (key=3), the answer chosen "
                 "among all ids. Our default is half as long and tests what it trains; the splits are ours.",
    .length_unit = "tokens",
    .distance_unit = "tokens",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and keys"},
               {"ood_long_keys", {{"key", "3"}}, "the longest keys alone, as the published test; same length"},
               {"ood_length2", {{"length", "2x"}}, "twice the trained length, with the trained keys"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length, with the trained keys"}},
}};

}  // namespace
}  // namespace posbench
