// A task: a generator of examples, built from its options.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/random.h"

namespace posbench {

constexpr int kIgnore = -1;

/// How an answer of several tokens is laid out; the question comes before it in both layouts.
enum class Layout {
  teacher_forced,  // each answer token is read one position after it was predicted: for causal models
  slots,           // answer positions hold an empty token, all predicted in parallel: for bidirectional models,
                   // which would see a teacher-forced answer, and for causal ones on request
};

/// One training or test example of T tokens. The model reads `tokens` and predicts targets[t] at t.
struct Example {
  std::vector<int> tokens;     // (T) ids in [0, vocabulary)
  std::vector<int> targets;    // (T) the id to predict at t, or kIgnore where there is no target
  std::vector<int> scored;     // the positions whose answers accuracy counts, ascending; each has a target
  std::vector<int> distances;  // of each scored position back to its evidence, in the task's unit; or empty
  std::vector<int> segments;   // (T) the word, item, operand or line a token belongs to
  int length = 0;               // in the task's unit, where the generator drew another one than requested
  std::vector<int> candidates;  // ids among which answers are chosen; empty: the whole vocabulary
  std::vector<int> digit_positions;  // (T) the decimal position of the digit read at t, or predicted in slot t:
                                     // from 1, the least significant; 0: none, or unknown at that time; or empty
};

/// Of a finite source of samples: what they are for.
enum class Purpose { training, validation, test };

class Task {
 public:
  virtual ~Task() = default;
  virtual int vocabulary() const = 0;
  /// Every target is an id below this: the alphabet of the answers.
  virtual int answers() const { return vocabulary(); }
  /// The fraction of scored positions that a uniform guess among the possible answers gets right.
  virtual double chance_level() const = 0;
  /// The lengths that examples are drawn at, in the task's unit.
  virtual const Integers& lengths() const = 0;
  /// Draws an example whose question has `length` units.
  virtual Example sample(int length, Rng&) const = 0;
  /// The same, for a task whose source has parts that do not overlap.
  virtual Example sample_of(Purpose, int length, Rng& rng) const { return sample(length, rng); }
  /// Mean entropy in nats of the scored answers, given what was read: the least mean loss. Empty if it is not known.
  virtual std::optional<double> entropy() const { return std::nullopt; }
  /// The token as text.
  virtual std::string word(int token) const = 0;
};

/// The description of a task: what `posbench show` prints, and what the suite needs before it builds the task.
struct TaskInfo {
  std::string name, family;
  int version = 1;             // incremented when the samples change; stored in reports
  std::string definition;      // one or a few sentences
  std::string takes;           // what attention and positions have to do to solve it; a sentence
  std::string source;          // the paper and its section
  std::string published_name;  // its name in the source; empty if the source has no such task
  std::string published;       // the published setup, and deliberate differences
  std::string length_unit;     // what `length` counts: "items"
  std::string distance_unit;   // what Example::distances count; empty if the task defines none
  bool causal_only = false;    // target positions are inside the sequence, or slots are impossible
  struct Split {
    std::string name;                                          // "in_distribution" or "ood_..."
    std::vector<std::pair<std::string, std::string>> options;  // the options that it changes
    std::string why;                                           // the one cause that it isolates
  };
  std::vector<Split> splits;  // in_distribution first
  double largest_answer_fraction = 0;  // upper bound of the frequency of any answer in any split; 0: chance level
};

}  // namespace posbench
