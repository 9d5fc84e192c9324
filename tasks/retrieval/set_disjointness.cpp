// Finds the element that two sets have in common. The name is that of the paper; the sets always share one
// element.
//
//   e4 e9 e1 e6 ; e2 e7 e9 e5 e8 =   ->   e9
//
// One set is short and the other long. They share exactly one element. `first` says which set comes first: a model
// that reads the short set first has less to remember. The distance is the number of tokens back to the element in
// the second set.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::set_disjointness {
namespace {

const TaskInfo kInfo{
    .name = "set_disjointness",
    .family = "retrieval",
    .aspects = {Aspect::recall},
    .definition = "The model reads a short and a long set, and answers the one element that occurs in both.",
    .requirement =
        "Attention has to compare each element of the second set with all of the first, by content alone. The order of "
        "the elements within a set means nothing.",
    .source =
        "Arora et al. 2024, arXiv:2407.05483 (Just read twice), section 3; code HazyResearch/prefix-linear-attention",
    .published_name = "set disjointness",
    .published =
        "The paper shows that a recurrent model needs memory for the set that comes first, and compares both orders. "
        "Its experiments have a prefix token and a vocabulary of 2048, and train on both orders and several sizes at "
        "once. Here there is no prefix token, there are 64 elements, and training has one order. The splits are ours.",
    .length_unit = "elements of the long set",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained sizes and order"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the elements in the long set"},
               {"ood_length3", {{"length", "2x..3x"}}, "two to three times the elements in the long set"},
               {"ood_short", {{"short", "2x"}}, "twice the elements in the short set"},
               {"ood_order", {{"first", "long"}}, "the long set comes first"}},
    .far = TaskInfo::Far{},
    .shortcuts = {.token = 0.25, .neighbor = 0.07, .count = 0.09},
};

enum class First { short_set, long_set };
struct Options {
  Integers length{8, 16};
  int short_size = 4, elements = 64;
  First first = First::short_set;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "elements of the long set");
    o.integer("short", short_size, 1, 10000, "elements of the short set");
    o.integer("elements", elements, 1, 20000, "elements to choose from");
    o.choice("first", first, {"short", "long"}, "the set that comes first");
  }
};

class SetDisjointness final : public BasicTask<Options> {
 public:
  SetDisjointness(const Options& options, Layout layout) : BasicTask(options, layout) {
    const int needed = options.short_size + options.length.max() - 1;
    if (needed > options.elements) {
      throw InputError(
          fmt::format("task 'set_disjointness': short {} and length {} need {} elements, not {}; raise elements",
                      options.short_size, options.length.max(), needed, options.elements));
    }
  }

  int vocabulary() const override { return options_.elements + 2; }
  int answers() const override { return options_.elements; }
  double chance_level() const override { return 1.0 / options_.elements; }
  std::string token_text(int token) const override {
    return token < options_.elements ? fmt::format("e{}", token) : std::string(1, ";="[token - options_.elements]);
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> ids = distinct_ids(rng, 0, options_.elements, options_.short_size + length - 1);
    std::vector<int> short_set(ids.begin(), ids.begin() + options_.short_size);
    std::vector<int> long_set(ids.begin() + options_.short_size, ids.end());
    const int in_short = uniform(rng, 0, options_.short_size - 1), in_long = uniform(rng, 0, length - 1);
    const int common = short_set[in_short];
    long_set.insert(long_set.begin() + in_long, common);

    const bool short_first = options_.first == First::short_set;
    std::vector<int> question = short_first ? short_set : long_set;
    const std::vector<int>& second = short_first ? long_set : short_set;
    question.push_back(separator());
    const int evidence = static_cast<int>(question.size()) + (short_first ? in_long : in_short);
    question.insert(question.end(), second.begin(), second.end());
    std::vector<int> segments = segments_ended_by(separator(), question);
    Example example = ask(layout_, std::move(question), separator() + 1, {common});
    set_segments(example, std::move(segments), 2);
    set_evidence(example, {evidence});
    return example;
  }

 private:
  int separator() const { return options_.elements; }
};

const RegisterTask<SetDisjointness> registered{kInfo};

}  // namespace
}  // namespace posbench::set_disjointness
