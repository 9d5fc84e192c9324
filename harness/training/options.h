// The settings of a run: of its models (model/model_config.h), their training and their evaluation.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "harness/training/decode.h"
#include "harness/training/packing.h"
#include "model/model_config.h"
#include "model/optimizer.h"
#include "tasks/task.h"

namespace posbench {

/// Option values by their full name, "training.steps", in the order given.
using Settings = std::vector<std::pair<std::string, std::string>>;

enum class AnswerLayout { by_attention, teacher_forced, slots };
enum class Outputs { vocabulary, answers };
enum class BatchLengths { each, same };
const EnumNames<AnswerLayout>& names_of(AnswerLayout);
const EnumNames<Outputs>& names_of(Outputs);
const EnumNames<BatchLengths>& names_of(BatchLengths);

struct TrainingOptions : OptimizerOptions {
  int steps = 1000, batch = 32;
  int samples = 0;  // distinct sequences that training cycles through; 0: every one is fresh
  std::vector<double> learning_rates{3e-3};  // if several, ascending: the best in validation is tested
  int tuning_seeds = 0;                      // that choose among several learning rates for all seeds
  double warm_up = 0.05;
  Decay decay = Decay::cosine;
  double clip = 1;
  int validate_every = 100, validation_sequences = 128;
  int early_stop = 0;
  int extend_while_gaining = 1;
  bool validate_splits = false;  // on the splits out of distribution too
  Outputs outputs = Outputs::vocabulary;
  BatchLengths lengths = BatchLengths::each;
  int groups = 1;  // TrainingWorkspace::groups
  Packing packing;
  Rounding rounding = Rounding::none;  // of positions, in training and validation
  bool reserve = false;  // questions of tests, which training never draws; profiles set it, older reports lack it
  void describe(OptionTable&);
  /// The most steps that one learning rate takes.
  int most_steps() const { return steps * extend_while_gaining; }
};

struct EvaluationOptions {
  int sequences = 512;
  /// The greatest number of test sequences at each multiple of the trained length, for the effective length. 0: it
  /// is not measured.
  int grid = 0;
  /// 2: multiples are tested until their accuracy is decided, with near and far evidence, and as many answers
  /// count as at the trained length; profiles set it. 1: the rules of reports that lack the setting. At the
  /// trained length `grid` sequences are tested, at m times this length grid / m, but 64 or more; evidence is
  /// near; all answers count.
  int grid_rules = 1;
  int shift =
      0;  // the split `shift` has positions that begin at up to `shift` times the trained length; 0: no split
  AnswerLayout layout = AnswerLayout::by_attention;
  int loops = 0;
  CacheOptions cache;
  Rounding rounding = Rounding::none;  // of positions, in tests
  void describe(OptionTable&);
};

/// Tests of trained models under other encodings.
struct ExtendOptions {
  std::string encodings;  // a list; empty: none
  int steps = 0;          // of further training
  std::string length;     // of its samples; empty: as trained
  void describe(OptionTable&);
};

struct ExperimentOptions {
  ModelOptions model;
  TrainingOptions training;
  EvaluationOptions evaluation;
  ExtendOptions extend;

  /// Calls f with the name and the options of "model", "training", "evaluation" and "extend", or of one of them.
  void for_each_section(const std::function<void(const std::string& section, const OptionTable&)>& f,
                        const std::string& only = "");
  /// Sets "training.steps" and the like. Throws InputError for an unknown name or a bad value.
  void set(const std::string& name, const std::string& value);
  /// The value as a user would write it. Throws InputError for an unknown name.
  std::string get(const std::string& name);
  Layout layout() const;
};

}  // namespace posbench
