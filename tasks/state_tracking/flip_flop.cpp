// Remembers the bit of a register that is written, read and ignored.
//
//   w 1 i 0 r 1 w 0 i 1 r 0        the bit after r is that of the last w; after w and i it is random
//
// The first instruction is w, the last r; the others are i with probability p_ignore, otherwise w or r, equally
// likely. The distance is the number of instructions from the write to its read, at least 1. The bit of
// the preceding instruction is right with probability 1 - p_ignore / 2.
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::flip_flop {
namespace {

const TaskInfo kInfo{
    .name = "flip_flop",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking, Aspect::recall},
    .definition =
        "The model reads instructions, each followed by a bit: write, ignore or read. The bit after a read is "
        "the last one written. It answers the bit of every read.",
    .requirement =
        "Attention has to find the last write among any number of ignored instructions: the most recent token "
        "of one kind.",
    .source = "Liu et al. 2023, arXiv:2306.00946",
    .published_name = "flip-flop language modeling, FFL(p)",
    .published =
        "Liu et al. train and test at 256 instructions, with p_ignore 0.8 in training and 0.1 and 0.98 in "
        "tests. Their measure is accuracy per read, pooled over sequences, which is token accuracy here. "
        "Golovneva et al. 2024, arXiv:2405.18719, Table 2, test with more ignored instructions. "
        "Here the default has 32 instructions, and the splits by length are ours.",
    .length_unit = "instructions",
    .distance_unit = "instructions",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained length and mixture"},
               {"ood_dense", {{"p_ignore", "0.1"}}, "hardly anything to ignore, at the trained length"},
               {"ood_sparse",
                {{"p_ignore", "0.98"}},
                "almost everything to ignore: far writes, at the trained length"},
               {"ood_length", {{"length", "4x"}}, "the trained mixture, in a longer sequence"},
               {"ood_sparse_length", {{"p_ignore", "0.98"}, {"length", "4x"}}, "far writes in a longer sequence"}},
    .far = TaskInfo::Far{{{"far", "true"}}},
    .shortcuts = {.token = 0.67, .neighbor = 0.87},
};

struct Options {
  Integers length{32};
  double p_ignore = 0.8;
  bool far = false;
  Loss loss = Loss::clean;
  void describe(OptionTable& o) {
    o.integers("length", length, 2, 10000, "instructions; each is two tokens");
    o.number("p_ignore", p_ignore, 0, 1, "probability that an instruction is to be ignored");
    o.flag("far", far, "the last write uniformly anywhere, and only the last read scored");
    describe_loss(o, loss, "the bits that are read");
  }
};

class FlipFlop final : public AlphabetTask<Options, "wri01"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> sequence, scored, distances, evidence, segments;
    int written = 0, write = 0;
    const int last_write = options_.far ? uniform(rng, 0, length - 2) : length;
    for (int n = 0; n < length; ++n) {
      int instruction = n == 0 || n == last_write ? kWrite : n == length - 1 ? kRead : draw_instruction(rng);
      if (n > last_write && instruction == kWrite) instruction = kSkip;
      int bit = uniform(rng, 0, 1);
      if (instruction == kWrite) {
        written = bit;
        write = n;
      } else if (instruction == kRead) {
        bit = written;
        if (!options_.far || n == length - 1) {
          scored.push_back(2 * n);
          distances.push_back(n - write);
          evidence.push_back(2 * write + 1);
        }
      }
      sequence.insert(sequence.end(), {instruction, kZero + bit});
      segments.insert(segments.end(), {n, n});
    }
    segments.pop_back();  // the last bit is a target only
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    example.distances = std::move(distances);
    example.evidence = std::move(evidence);
    example.segments = std::move(segments);
    return example;
  }

 private:
  static constexpr int kWrite = 0, kRead = 1, kSkip = 2, kZero = 3;

  int draw_instruction(Rng& rng) const {
    if (bernoulli(rng, options_.p_ignore)) return kSkip;
    return bernoulli(rng, 0.5) ? kWrite : kRead;
  }
};

const RegisterTask<FlipFlop> registered{kInfo};

}  // namespace
}  // namespace posbench::flip_flop
