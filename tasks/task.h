// Defines the interface of a task, a generator of examples that is built from its options, and its description.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"
#include "base/options.h"
#include "base/random.h"

namespace posbench {

constexpr int kIgnore = -1;

/// The layout of an answer of several tokens; the question comes before it in both layouts.
enum class Layout {
  teacher_forced,  // each answer token is read one position after it was predicted: for causal models
  slots,           // answer positions hold an empty token, all predicted in parallel: for bidirectional models,
                   // which would see a teacher-forced answer, and for causal ones on request
};

/// One training or test example of T tokens. The model reads `tokens` and predicts targets[t] at t.
struct Example {
  std::vector<int> tokens;      // (T) ids in [0, vocabulary)
  std::vector<int> targets;     // (T) the id to predict at t, or kIgnore
  std::vector<int> scored;      // the positions whose answers accuracy counts, ascending; each has a target
  std::vector<int> distances;   // from each scored position back to its evidence, in the task's unit; or empty
  std::vector<int> evidence;    // for each scored position, the index of the token that holds its answer; or empty
  std::vector<int> segments;    // (T) the word, item, operand or line that a token belongs to
  int length = 0;               // the actual length if the generator could not use the requested one, or 0
  std::vector<int> candidates;  // ids among which answers are chosen; empty: the whole vocabulary
  std::vector<int> digit_positions;  // (T) the decimal position of the digit read at t, or predicted in slot t:
                                     // from 1, the least significant; 0: none, or unknown at that time; or empty
  /// The coordinates of positions, such as column and row: for each coordinate, (T) values of the token that is
  /// read at t, or predicted in slot t. Values count from 1. 0: none, or not known when t is read. Every example
  /// of a task has the same number of coordinates.
  std::vector<std::vector<int>> coordinates;
};

/// The use of samples. A finite source has separate parts for training, validation and tests.
enum class Purpose { train, further_training, validation, test };

class Task {
 public:
  virtual ~Task() = default;
  virtual int vocabulary() const = 0;
  /// Returns the size of the softmax: loss and predictions are over the ids below it.
  virtual int outputs() const { return vocabulary(); }
  /// Returns the size of the alphabet of answers: every target is an id below it. With training.outputs=answers it
  /// is the size of the softmax.
  virtual int answers() const { return vocabulary(); }
  /// Returns the fraction of scored positions that a uniform guess among the possible answers gets right.
  virtual double chance_level() const = 0;
  /// Returns the lengths at which examples are drawn, in the task's unit.
  virtual const Integers& lengths() const = 0;
  /// Draws an example whose question has `length` units.
  virtual Example sample(int length, Rng&) const = 0;
  /// Draws an example for training, validation or tests. A task that reads finite data overrides it, so that
  /// training, validation and tests share no samples.
  virtual Example sample_of(Purpose, int length, Rng& rng) const { return sample(length, rng); }
  /// Returns the number of tokens before the question: a begin token.
  virtual int tokens_before() const { return 0; }
  /// Returns true if sample_of() draws tests and training from separate parts.
  virtual bool has_separate_tests() const { return false; }
  /// Returns the mean entropy in nats of the scored answers, given the tokens read: the least mean loss. Returns
  /// nullopt if it is not known.
  virtual std::optional<double> entropy() const { return std::nullopt; }
  virtual std::string token_text(int token) const = 0;
};

/// Upper bounds of the accuracy of predictors that each read one feature of the input, with the default options.
/// 0: the larger of TaskInfo::largest_answer_fraction and the chance level. A predictor does not see the token of
/// Example::evidence. `posbench check` measures the accuracies.
struct Shortcuts {
  double token = 0;     // the token at a fixed position, or a fixed number of positions from the scored one
  double neighbor = 0;  // the token after the first or the last occurrence of a given token
  double count = 0;     // the number of occurrences of a given token, in examples where it occurs
  double position = 0;  // the scored position, or the number of tokens
};

/// The abilities that tasks test. An encoding gets a score for each.
enum class Aspect { recall, counting, copying, order, state_tracking, arithmetic, hierarchy, aggregation };
const EnumNames<Aspect>& names_of(Aspect);  // "state tracking"
std::string meaning(Aspect);                // "follow a state that each token may change"

/// States whether models can learn a task with its default options. `control` and `open` are marks: summaries of
/// the board over tasks do not count a marked task. Other options can make a task easier or harder, so a spec (a
/// name with options such as `counting:variables=3`) has no mark.
enum class Learnability {
  learnable,
  control,  // a control experiment: the sources of the task say that a model with attention cannot learn it
  open,     // no setting was found at which a model with attention learns it
};
const EnumNames<Learnability>& names_of(Learnability);

/// The description of a task. `posbench show` prints it, and training reads it before it builds the task.
/// check_info refuses missing fields.
struct TaskInfo {
  std::string name;                  // the name of the file
  std::string family;                // the folder of the file in tasks/, or a part of it such as "chomsky/regular"
  int version = 1;                   // incremented when the samples change; stored in reports
  std::vector<Aspect> aspects = {};  // the abilities that the task tests; language modeling may have none
  std::string definition;            // one or a few sentences
  std::string requirement;           // what attention and positions have to do to solve it, in sentences
  std::string source;                // the paper and its section
  std::string published_name;        // its name in the source; empty if the source has no such task
  std::string published;             // the published setup, and deliberate differences
  std::string length_unit;           // the unit of `length`: "items"
  std::string distance_unit;         // the unit of Example::distances; empty if the task defines none
  bool causal_only = false;          // target positions are inside the sequence, or slots are impossible
  struct Split {
    std::string name;                                          // "in_distribution" or "ood_..."
    std::vector<std::pair<std::string, std::string>> options;  // the options that it changes
    std::string why;                                           // the one cause that it isolates
  };
  std::vector<Split> splits;  // in_distribution first
  /// The options with which the evidence of an answer is uniformly anywhere in the sequence, instead of as far
  /// away as in training. The factor "1x(length)" in a value becomes the multiple of the tested length. No
  /// options: it is so in training. A task that sets Example::evidence states it, apart from `then`, whose second
  /// task decides.
  struct Far {
    std::vector<std::pair<std::string, std::string>> options = {};
  };
  std::optional<Far> far = std::nullopt;
  double largest_answer_fraction = 0;  // upper bound of the frequency of any answer in any split; 0: chance level
  Shortcuts shortcuts = {};
  Learnability learnability = Learnability::learnable;
  std::string learnability_note = {};  // the reason of a mark: a source, or the settings that were tried; or empty
};

}  // namespace posbench
