// Defines the result of one finished experiment. The harness sets the values, and the report stores them.
#pragma once
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/enum_names.h"

namespace posbench {

/// `correct` out of `total` answers.
struct Count {
  std::int64_t correct = 0, total = 0;
  Count& operator+=(Count other) {
    correct += other.correct, total += other.total;
    return *this;
  }
  bool operator==(const Count&) const = default;
};

/// Returns correct / total, or NaN if total is 0.
double accuracy(Count);

struct ExperimentId {
  std::string task, encoding;  // specs in their canonical form
  std::uint64_t seed = 0;
  auto operator<=>(const ExperimentId&) const = default;
  bool operator==(const ExperimentId&) const = default;
};

enum class Status { ok, diverged, failed };
/// shifted: the samples in distribution at other positions. Means over splits out of distribution leave it out.
enum class SplitKind { in_distribution, out_of_distribution, shifted };

const EnumNames<Status>& names_of(Status);
const EnumNames<SplitKind>& names_of(SplitKind);

/// Accuracies on a split.
struct SplitAccuracy {
  std::string split;
  double token = 0, sequence = 0;
  bool operator==(const SplitAccuracy&) const = default;
};

struct CurvePoint {
  int step = 0;                                          // optimizer steps done
  std::optional<double> loss;                            // empty if it is not finite
  double validation_token = 0, validation_sequence = 0;  // accuracies on the validation stream
  std::vector<SplitAccuracy> splits = {};                // out of distribution; empty unless that was asked for
  bool operator==(const CurvePoint&) const = default;
};

/// The result at one learning rate, from which the best of several is chosen.
struct RateResult {
  double learning_rate = 0;
  int steps = 0;                     // optimizer steps done
  std::optional<int> diverged_step;  // the step whose loss was not finite; then the fields below are empty
  std::optional<double> final_loss, validation_token, validation_sequence;  // at the last validation
  bool operator==(const RateResult&) const = default;
};

/// A finite number that may be missing. It takes half of the memory of std::optional<double>, and a result has
/// hundreds.
class MaybeNumber {
 public:
  MaybeNumber() = default;
  MaybeNumber(double number) : number_(number) {}
  MaybeNumber(std::nullopt_t) {}
  MaybeNumber(std::optional<double> number) : number_(number.value_or(kMissing)) {}

  explicit operator bool() const { return !std::isnan(number_); }
  double operator*() const { return number_; }
  double value_or(double other) const { return *this ? number_ : other; }
  operator std::optional<double>() const { return *this ? std::optional(number_) : std::nullopt; }
  bool operator==(const MaybeNumber& other) const { return number_ == other.number_ || (!*this && !other); }

 private:
  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  double number_ = kMissing;
};

// Means over scored positions: `loss` is the cross-entropy in nats, `margin` the logit of the answer minus the
// greatest other logit that could be predicted. Both are empty if the logits are not known or a mean is not
// finite.

struct LengthResult {
  int length = 0;  // in the task's unit
  Count token, sequence;
  MaybeNumber loss, margin;
  bool operator==(const LengthResult&) const = default;
};

struct DistanceResult {
  int distance = 0;  // in the task's unit
  Count token;
  MaybeNumber loss, margin;
  bool operator==(const DistanceResult&) const = default;
};

struct PositionResult {
  int position = 0;  // among the scored positions of a sequence, counted from 1
  Count token;
  MaybeNumber loss, margin;
  bool operator==(const PositionResult&) const = default;
};

struct SplitResult {
  std::string name;
  SplitKind kind = SplitKind::in_distribution;
  std::int64_t sequences = 0;               // evaluated
  Count token;                              // of scored positions
  Count sequence;                           // of sequences with scored positions: right if every one is
  std::optional<double> loss, margin;       // means over scored positions
  std::vector<LengthResult> by_length;      // ascending
  std::vector<DistanceResult> by_distance;  // ascending; empty if the task defines no distance
  std::vector<PositionResult> by_position;  // ascending; empty if no sequence has two scored positions
  bool operator==(const SplitResult&) const = default;
};

/// The multiples of a trained value that a length grid tests, as far as the task, the encoding and the memory
/// allow.
inline constexpr double kGridMultiples[] = {1, 1.5, 2, 3, 4, 6, 8, 16};
/// A grid ends after two multiples in a row with a smaller sequence accuracy, but not before kGridLeast if
/// evaluation.grid_rules is 2.
inline constexpr double kGridFloor = 0.5;
inline constexpr double kGridLeast = 4;
/// The option of a grid of lengths whose evidence is uniformly anywhere in the sequence (TaskInfo::Far).
inline constexpr const char* kFarGrid = "far";

/// The result at one multiple of a trained value.
struct GridPoint {
  double multiple = 1;         // of the greatest trained value
  int value = 0;               // of the task's option, in its unit
  std::int64_t sequences = 0;  // evaluated
  Count token, sequence;       // as in SplitResult
  bool operator==(const GridPoint&) const = default;
};

enum class GridEnd { complete, accuracy, task, encoding, memory };

const EnumNames<GridEnd>& names_of(GridEnd);

/// The results of a trained model at multiples of the trained length, or of another trained value.
struct GridResult {
  std::string option;             // of the task: "length" or "distance"; or kFarGrid
  std::vector<GridPoint> points;  // ascending
  GridEnd end = GridEnd::complete;
  std::string reason;  // of the end, if it is task, encoding or memory; else empty
  bool operator==(const GridResult&) const = default;
};

/// The accuracy from which an encoding keeps a length or a split: by sequence, unless the board is by token.
inline constexpr double kKept = 0.9;

/// Returns true if the 95 % Wilson interval of the accuracy is above or below kKept.
bool is_decided(Count);

/// Returns true if the last two points have sequence accuracies below kGridFloor.
bool has_failed(const GridResult&);

/// The point of an experiment in the grid of a sweep.
struct Swept {
  std::string task, encoding;                               // specs without the swept options and settings
  std::vector<std::pair<std::string, std::string>> values;  // "model.width", "32"; in the order of the sweep
  bool operator==(const Swept&) const = default;
};

/// A model of another experiment that was tested under another encoding, without or after further training.
struct Extended {
  std::string parent;    // the encoding that it was trained with
  std::string encoding;  // that it is tested with
  int steps = 0;         // of further training with that encoding
  std::string length;    // of the samples of further training, as in the settings; empty: as trained
  bool operator==(const Extended&) const = default;
};

struct ExperimentResult {
  ExperimentId id;
  std::optional<Swept> swept;        // empty without a sweep
  std::optional<Extended> extended;  // empty if the model was trained for this experiment
  int task_version = 1;
  Status status = Status::ok;
  std::string description;           // of a model that was trained elsewhere, by its author; or empty
  std::string reason;                // one line; not empty if the status is not ok
  std::optional<int> diverged_step;  // the step whose loss was not finite; set if the status is diverged
  std::int64_t parameters = 0;       // learned scalars; 0 if the experiment failed before there was a model
  int steps = 0;                     // optimizer steps done
  bool stopped_early = false;
  bool tuning = false;                     // a tuning seed: its model is not tested
  std::optional<double> final_loss;        // empty if not finite or missing; then `reason` is set
  std::optional<double> learning_rate;     // the one chosen in validation; empty if there was only one
  std::vector<RateResult> learning_rates;  // the candidates, ascending
  std::vector<CurvePoint> learning_curve;  // ascending in step
  std::vector<SplitResult> splits;         // every split of the task if the status is ok and it is no tuning seed
  std::vector<GridResult> grids;           // empty without evaluation.grid, or if the status is not ok
  bool operator==(const ExperimentResult&) const = default;
};

/// Experiments of a report, which holds them.
using Experiments = std::vector<const ExperimentResult*>;

/// Returns the name in a spec: `cope` of `cope:positions=16`.
std::string spec_name(const std::string& spec);

}  // namespace posbench
