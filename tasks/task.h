// What a task is: a generator of examples, built from its options.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/random.h"

namespace posbench {

constexpr int kIgnore = -1;

/// How an answer of several tokens stands in the sequence; the question stands before it in both.
enum class Layout {
  teacher_forced,  // each answer token is read one place after it was asked for: for causal models
  slots,  // answer places hold an empty token and are all asked at once: for bidirectional models, which would see
          // a fed-back answer, and for causal ones on request
};

/// One training or test example of T tokens. The model reads `tokens` and is asked for targets[t] at t.
struct Example {
  std::vector<int> tokens;     // (T) ids in [0, vocabulary)
  std::vector<int> targets;    // (T) the id to learn at t, or kIgnore where nothing is asked
  std::vector<int> scored;     // the places whose answers accuracy counts, ascending; each has a target
  std::vector<int> distances;  // how far back the evidence of each scored place lies, in the task's unit; or empty
  std::vector<int> segments;   // (T) the word, item, operand or line a token belongs to
  std::vector<int> candidates;  // ids that answers at scored places are chosen among; empty: the whole vocabulary
  std::vector<int> digit_positions;      // (T) the decimal place of the digit read at t, or due in the empty slot t: 1 the
                                // least significant, 0 none, or not known before it is said; or empty
};

class Task {
 public:
  virtual ~Task() = default;
  virtual int vocabulary() const = 0;
  /// The share of scored places that a uniform guess among the possible answers gets right.
  virtual double chance_level() const = 0;
  /// The lengths that examples are drawn at, in the task's unit.
  virtual const Integers& lengths() const = 0;
  /// Draws an example whose question has `length` units.
  virtual Example sample(int length, Rng&) const = 0;
  /// The token as a person reads it.
  virtual std::string word(int token) const = 0;
};

/// What `posbench show` prints of a task, and what the suite must know before it builds one.
struct TaskInfo {
  std::string name, family;
  int version = 1;             // rises when the samples change; reports carry it
  std::string definition;      // a sentence or a few
  std::string source;          // the paper and its section
  std::string published_name;  // what the source calls it; empty where it has no such task
  std::string published;       // published use and deliberate differences
  std::string length_unit;     // what `length` counts: "items"
  std::string distance_unit;   // what Example::distances count; empty where the task defines none
  bool causal_only = false;    // questions stand inside the sequence, or answers cannot be asked in slots
  struct Split {
    std::string name;                                          // "in_distribution" or "ood_..."
    std::vector<std::pair<std::string, std::string>> options;  // what it changes
    std::string why;                                           // the one cause that it isolates
  };
  std::vector<Split> splits;  // in_distribution first
  double largest_share = 0;   // promised: no answer is more frequent, in any split; 0: than the chance level
};

}  // namespace posbench
