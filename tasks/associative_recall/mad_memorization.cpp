// Recalls the values of keys from the parameters; the values never occur in the sequence.
//
//   k3 ! k90 ! k3 !        targets: the values of k3, k90 and k3
//
// Keys are uniform. All samples of all seeds have one mapping of keys to distinct values, which can only be
// learned in training.
#include <string>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/key_value.h"
#include "tasks/registry.h"

namespace posbench::mad_memorization {
namespace {

const TaskInfo kInfo{
    .name = "mad_memorization",
    .family = "associative_recall",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads keys, each followed by a marker, and answers at the marker the value of the key under "
        "one fixed random mapping.",
    .requirement =
        "The parameters have to hold the mapping. The model needs no token but the key, one position before.",
    .source = "Poli et al. 2024, arXiv:2403.17844; code athms/mad-lab",
    .published_name = "memorization",
    .published =
        "The paper has 256 ids (127 keys, 128 values and the marker), and trains and tests on 16 keys. "
        "Here the mapping is another one, because the code draws it from another random number generator. "
        "The split is ours.",
    .length_unit = "keys",
    .splits = {{"in_distribution", {}, "the trained length"},
               {"ood_length4", {{"length", "4x"}}, "four times the trained length"}},
    .shortcuts = {.token = 1, .neighbor = 0.08, .count = 0.08},
};

struct Options {
  Integers length{16};
  int vocabulary = 256;
  int mapping = 12345;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 100000, "keys, each followed by a marker");
    o.integer("vocabulary", vocabulary, 5, 100000, "ids: keys, as many values or one more, and the marker");
    o.integer("mapping", mapping, 0, 1 << 30, "the seed of the mapping");
  }
};

class MadMemorization final : public BasicTask<Options> {
 public:
  MadMemorization(const Options& options, Layout layout) : BasicTask(options, layout) {
    for (int v = ids_.first_value(); v < marker(); ++v) value_.push_back(v);
    Rng rng = make_rng(options.mapping, "mad_memorization");
    shuffle<int>(value_, rng);
  }

  int vocabulary() const override { return options_.vocabulary; }
  double chance_level() const override { return 1.0 / ids_.values(); }
  std::string token_text(int token) const override { return token == marker() ? "!" : ids_.text(token); }

  Example sample(int length, Rng& rng) const override {
    Example example;
    for (int n = 0; n < length; ++n) {
      const int key = uniform(rng, 0, ids_.keys() - 1);
      example.tokens.insert(example.tokens.end(), {key, marker()});
      example.targets.insert(example.targets.end(), {kIgnore, value_[key]});
      example.scored.push_back(2 * n + 1);
      example.segments.insert(example.segments.end(), {n, n});
    }
    return example;
  }

 private:
  int marker() const { return options_.vocabulary - 1; }

  KeyValueIds ids_{.vocabulary = options_.vocabulary - 1};
  std::vector<int> value_;  // (keys) the value of each key, and one without a key if the vocabulary is even
};

const RegisterTask<MadMemorization> registered{kInfo};

}  // namespace
}  // namespace posbench::mad_memorization
