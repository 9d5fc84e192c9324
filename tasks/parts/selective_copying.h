// Declares the common part of the selective copying tasks: data tokens among blanks.
#pragma once
#include <string>
#include <vector>

#include "base/random.h"
#include "tasks/parts/basic_task.h"

namespace posbench {

template <int default_blanks, int default_tokens>
struct SelectiveCopyingOptions {
  Integers length{16};
  double blanks = default_blanks;
  int tokens = default_tokens;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "data tokens in a sequence");
    o.number("blanks", blanks, 0, 1000, "blanks for each data token");
    o.integer("tokens", tokens, 2, 10000, "different data tokens");
  }
};

/// A task over data tokens, a blank and a marker, which has the last id.
template <class Options>
class SelectiveCopyingTask : public BasicTask<Options> {
 public:
  using BasicTask<Options>::BasicTask;
  int vocabulary() const final { return marker() + 1; }
  double chance_level() const final { return 1.0 / this->options_.tokens; }

 protected:
  int marker() const { return this->options_.tokens + 1; }
};

/// Returns the number of blanks for this number of data tokens, rounded.
int num_blanks(double blanks_per_token, int data_tokens);

struct BlankIds {
  int blank, marker;
};

/// Asks for the data tokens, which are at uniform positions among `blanks` blanks. The marker is the empty token.
/// Sets evidence and distances.
Example ask_scattered(Layout, const std::vector<int>& data, int blanks, const BlankIds&, Rng&);

/// The splits of the tasks that have two blanks for each data token.
std::vector<TaskInfo::Split> selective_copying_splits();

}  // namespace posbench
