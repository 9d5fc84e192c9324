// Flip-flop: a register of one bit, written, read and left alone.
//
//   w 1 i 0 r 1 w 0 i 1 r 0        the bit after r is that of the last w; after w and i it is random
//
// The first instruction is w, the last r; the others are i with probability p_ignore, otherwise w or r, equally
// likely. Every read is scored, by an argmax over the whole vocabulary. The distance is the number of instructions
// from the write to its read, at least 1. Repeating the last bit read is right with probability 1 - p_ignore / 2.
//
// Liu et al. 2023, arXiv:2306.00946: 256 instructions, p_ignore 0.8 trained, 0.1 and 0.98 tested, accuracy per
// read. Golovneva et al. 2024, arXiv:2405.18719, Table 2, use it with more ignored instructions out of
// distribution.
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

class FlipFlop final : public Task {
 public:
  struct Options {
    Integers length{32};
    double p_ignore = 0.8;
    Loss loss = Loss::clean;
    void describe(OptionTable& o) {
      o.integers("length", length, 2, 10000, "instructions; each is two tokens");
      o.number("p_ignore", p_ignore, 0, 1, "probability that an instruction is to be ignored");
      o.choice("loss", loss, {"clean", "noisy"}, "train on the bits that are read, or on every next token");
    }
  };

  FlipFlop(const Options& options, Layout) : options_(options) {}

  int vocabulary() const override { return 5; }
  double chance_level() const override { return 0.5; }
  const Integers& lengths() const override { return options_.length; }
  std::string word(int token) const override { return std::string(1, "wri01"[token]); }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> sequence, scored, distances, segments;
    int written = 0, write = 0;
    for (int n = 0; n < length; ++n) {
      const int instruction = n == 0 ? kWrite : n == length - 1 ? kRead : draw_instruction(rng);
      int bit = uniform(rng, 0, 1);
      if (instruction == kWrite) {
        written = bit;
        write = n;
      } else if (instruction == kRead) {
        bit = written;
        scored.push_back(2 * n);
        distances.push_back(n - write);
      }
      sequence.insert(sequence.end(), {instruction, kZero + bit});
      segments.insert(segments.end(), {n, n});
    }
    segments.pop_back();  // the last bit is a target only
    Example example = predict_next(std::move(sequence), std::move(scored), options_.loss);
    example.distances = std::move(distances);
    example.segments = std::move(segments);
    return example;
  }

 private:
  static constexpr int kWrite = 0, kRead = 1, kSkip = 2, kZero = 3;

  int draw_instruction(Rng& rng) const {
    if (chance(rng, options_.p_ignore)) return kSkip;
    return chance(rng, 0.5) ? kWrite : kRead;
  }

  Options options_;
};

const RegisterTask<FlipFlop> registered{{
    .name = "flip_flop",
    .family = "flip-flop",
    .definition = "Reads instructions, each followed by a bit: write it, ignore it, or read, whose bit is the one "
                  "written last. Every read is scored.",
    .takes = "Attention has to find the last write among any number of ignored instructions: the most recent "
             "token of one kind.",
    .source = "Liu et al. 2023, arXiv:2306.00946",
    .published_name = "flip-flop language modeling, FFL(p)",
    .published = "Trained and tested at 256 instructions; our default has 32, and adds the splits by length. The "
                 "published measure is accuracy per read, pooled over sequences: our token accuracy.",
    .length_unit = "instructions",
    .distance_unit = "instructions",
    .causal_only = true,
    .splits =
        {{"in_distribution", {}, "the trained length and mixture"},
         {"ood_dense", {{"p_ignore", "0.1"}}, "hardly anything to ignore, at the trained length"},
         {"ood_sparse", {{"p_ignore", "0.98"}}, "almost everything to ignore: far writes, at the trained length"},
         {"ood_length", {{"length", "4x"}}, "the trained mixture, in a longer sequence"},
         {"ood_sparse_length", {{"p_ignore", "0.98"}, {"length", "4x"}}, "far writes in a longer sequence"}},
}};

}  // namespace
}  // namespace posbench
