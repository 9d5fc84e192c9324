// Predicts what a cell shows, each time that a walk returns to it.
//
//   E o3 E _ W o3 N o7 S o3        targets: o3 after W and after S
//
// Each cell is empty, `_`, or shows one of `objects`, drawn anew for every walk. A walk takes a uniform direction
// for some steps, then another; if no step returns to a cell, the last step is reversed. The distance is the
// number of steps since the cell was last seen.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::navigation_2d {
namespace {

const TaskInfo kInfo{
    .name = "navigation_2d",
    .family = "state_tracking",
    .aspects = {Aspect::state_tracking},
    .definition =
        "The model reads the steps of a walk on a square that wraps around, each followed by what its cell "
        "shows. It answers what a cell shows each time that the walk returns to it.",
    .requirement =
        "The model has to sum steps into a place, and attention has to find the last visit of that place. "
        "Only the sum of the steps between shows that it is the same cell, so positions have to follow the walk.",
    .source = "Rambaud et al. 2025, arXiv:2511.19279; code PrashRangarajan/mapformer (independent)",
    .published_name = "2D navigation (MapFormer)",
    .published =
        "The paper has 64 by 64 cells, 16 objects, half of the cells empty, and walks of 1 to 10 steps in one "
        "direction; it trains on 128 steps and tests on more, after Whittington et al. 2020. "
        "These figures are from an independent implementation, which keeps one map for all walks; the paper's text has 1 "
        "to 3 steps in one direction. "
        "Here the square is 8 by 8, with 1 to 3 steps in one direction and 32 steps, and each walk has its own "
        "map. The splits are ours.",
    .length_unit = "steps",
    .distance_unit = "steps",
    .causal_only = true,
    .splits = {{"in_distribution", {}, "the trained world and length"},
               {"ood_length", {{"length", "4x"}}, "longer walks"},
               {"ood_size", {{"size", "16"}}, "a larger world, at the trained length"},
               {"ood_dense", {{"empty", "0"}}, "no empty cells"}},
    .largest_answer_fraction = 0.51,
    .shortcuts = {.token = 0.58},
    .learnability = Learnability::open,
    .learnability_note =
        "The model of the quick profile was trained with seed 0 and size=3,walk=1. With length=12, rope has "
        "0.57 of the sequences right after 12,000 steps at a learning rate of 1e-3, and model.block=lstm has "
        "0.93 after 15,000 at 3e-3. With length=8, rope has 0.94 and txl has 0.65 after 15,000 steps at 3e-3.",
};

struct Options {
  Integers length{32};
  Integers walk{1, 3};
  int size = 8, objects = 16;
  double empty = 0.5;
  void describe(OptionTable& o) {
    o.integers("length", length, 3, 100000, "steps; each is two tokens");
    o.integers("walk", walk, 1, 1000, "steps in one direction");
    o.integer("size", size, 3, 1000, "cells along a side");
    o.integer("objects", objects, 1, 1000, "different objects");
    o.number("empty", empty, 0, 1, "probability that a cell is empty");
  }
};

class Navigation2d final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return kObject + options_.objects + 1; }
  double chance_level() const override { return 1.0 / (options_.objects + 1); }
  std::string token_text(int token) const override {
    if (token < kObject) return std::string(1, "NSWE"[token]);
    return token == nothing() ? "_" : fmt::format("o{}", token - kObject);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> shown(static_cast<size_t>(options_.size) * options_.size), seen(shown.size(), kIgnore);
    for (int& cell : shown) {
      cell = bernoulli(rng, options_.empty) ? nothing() : uniform(rng, kObject, kObject + options_.objects - 1);
    }
    std::vector<int> sequence, scored, distances, segments;
    int x = 0, y = 0;
    const std::vector<int> moves = draw_moves(length, rng);
    for (int n = 0; n < length; ++n) {
      const bool turn_back = n == length - 1 && scored.empty();
      const int move = turn_back ? moves[n - 1] ^ 1 : moves[n];  // N and S, W and E: 0 and 1, 2 and 3
      x = wrapped(x + (move == 3) - (move == 2));
      y = wrapped(y + (move == 1) - (move == 0));
      int& last = seen[y * options_.size + x];
      if (last != kIgnore) {
        scored.push_back(2 * n);
        distances.push_back(n - last);
      }
      last = n;
      sequence.insert(sequence.end(), {move, shown[y * options_.size + x]});
      segments.insert(segments.end(), {n, n});
    }
    segments.pop_back();  // the last observation is a target only
    Example example = predict_next(std::move(sequence), std::move(scored), Loss::clean);
    example.distances = std::move(distances);
    example.segments = std::move(segments);
    return example;
  }

 private:
  static constexpr int kObject = 4;
  int nothing() const { return kObject + options_.objects; }
  int wrapped(int position) const { return (position + options_.size) % options_.size; }

  std::vector<int> draw_moves(int length, Rng& rng) const {
    std::vector<int> moves;
    while (static_cast<int>(moves.size()) < length) {
      const int direction = uniform(rng, 0, 3);
      moves.insert(moves.end(), options_.walk.draw(rng), direction);
    }
    moves.resize(length);
    return moves;
  }
};

const RegisterTask<Navigation2d> registered{kInfo};

}  // namespace
}  // namespace posbench::navigation_2d
