// Recalls the payload of the most recent X.
//
//   X5 Y3 X6 Y4 Y5 Q   ->   6        the last X is two items back from the end
//   X5 Y3 X6 Y4 Y5 Q   ->   5        which=2: the last X but one
//
// Payloads are uniform for both markers. The option `distance` is the number of Y items after the last X; each
// item before it is an X with probability `rho`, and at least `which` - 1 of them are. The reported distance is
// the number of items after the queried X.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::last_x_retrieval {
namespace {

const TaskInfo kInfo{
    .name = "last_x_retrieval",
    .family = "retrieval",
    .aspects = {Aspect::recall, Aspect::order},
    .definition =
        "The model reads items of a marker (X or Y) and a payload, and answers the payload of the most recent "
        "X, or of an earlier one (which).",
    .requirement =
        "Attention has to find the last X among any number of Ys: a distance in items of one kind, not in "
        "tokens. An encoding whose scores add a term for content (margin D) and a term for position (margin d "
        "for each step) prefers the nearest Y to the last X from a distance of about D / d.",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, section 3",
    .published =
        "The paper analyzes the task and trains nothing on it. "
        "The vocabulary, lengths and splits are ours.",
    .length_unit = "items",
    .distance_unit = "items",
    .splits = {{"in_distribution", {}, "the trained distances"},
               {"ood_far2", {{"distance", "1x..2x"}}, "up to twice the trained distances, at the trained length"},
               {"ood_far4",
                {{"distance", "2x..3.875x"}},
                "up to four times the trained distances, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained distances, in a sequence of four times the length"},
               {"ood_length_far2",
                {{"length", "4x"}, {"distance", "1x..2x"}},
                "up to twice the trained distances, at four times the length"},
               {"ood_length_far4",
                {{"length", "4x"}, {"distance", "2x..3.875x"}},
                "up to four times the trained distances, at four times the length"},
               {"ood_length_far",
                {{"length", "4x"}, {"distance", "1x(length)-2..4x(length)-2"}},
                "distances that only the longer sequence has"}},
    .far = TaskInfo::Far{{{"distance", "0..1x(length)-1"}}},
};

struct Options {
  Integers length{32};
  Integers distance{0, 7};
  double rho = 0.25;
  int payloads = 8, which = 1;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "items; each is a marker and a payload");
    o.integers("distance", distance, 0, 9999, "Y items after the last X");
    o.number("rho", rho, 0, 1, "probability that an item before the last X is an X");
    o.integer("payloads", payloads, 2, 1000, "different payloads");
    o.integer("which", which, 1, 1000, "the index of the queried X, counted from the end");
  }
};

class LastXRetrieval final : public BasicTask<Options> {
 public:
  LastXRetrieval(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.distance.max() >= options.length.min()) {
      throw InputError(fmt::format(
          "task 'last_x_retrieval': distance {} needs more than {} items; shorten it or lengthen length",
          options.distance.text(), options.length.min()));
    }
    if (options.which > options.length.min()) {
      throw InputError(
          fmt::format("task 'last_x_retrieval': which {} needs as many items, not {}; lower it or lengthen length",
                      options.which, options.length.min()));
    }
  }

  int vocabulary() const override { return kPayload + options_.payloads; }
  double chance_level() const override { return 1.0 / options_.payloads; }
  std::string token_text(int token) const override {
    return token < kPayload ? std::string(1, "YXQ"[token]) : std::to_string(token - kPayload);
  }

  Example sample(int length, Rng& rng) const override {
    const int last_x = std::max(length - 1 - options_.distance.draw(rng), options_.which - 1);
    std::vector<int> question, segments, xs;  // xs: the indices of the X items
    for (int item = 0; item < length; ++item) {
      const bool is_x = item == last_x || (item < last_x && bernoulli(rng, options_.rho));
      if (is_x) xs.push_back(item);
      question.insert(question.end(), {is_x ? kX : kY, kPayload + uniform(rng, 0, options_.payloads - 1)});
      segments.insert(segments.end(), {item, item});
    }
    while (static_cast<int>(xs.size()) < options_.which) {
      const int item = uniform(rng, 0, last_x - 1);
      if (question[2 * item] == kX) continue;
      question[2 * item] = kX;
      xs.insert(std::lower_bound(xs.begin(), xs.end(), item), item);
    }
    const int queried = xs[xs.size() - options_.which], answer = question[2 * queried + 1];
    Example example = ask(layout_, std::move(question), kQuery, {answer});
    set_segments(example, std::move(segments), length);
    example.distances = {length - 1 - queried};
    example.evidence = {2 * queried + 1};
    return example;
  }

 private:
  static constexpr int kY = 0, kX = 1, kQuery = 2, kPayload = 3;
};

const RegisterTask<LastXRetrieval> registered{kInfo};

}  // namespace
}  // namespace posbench::last_x_retrieval
