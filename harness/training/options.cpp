#include "harness/training/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace posbench {

const EnumNames<AnswerLayout>& names_of(AnswerLayout) {
  static const EnumNames<AnswerLayout> names{{AnswerLayout::by_attention, "by_attention"},
                                             {AnswerLayout::teacher_forced, "teacher_forced"},
                                             {AnswerLayout::slots, "slots"}};
  return names;
}

const EnumNames<Outputs>& names_of(Outputs) {
  static const EnumNames<Outputs> names{{Outputs::vocabulary, "vocabulary"}, {Outputs::answers, "answers"}};
  return names;
}

const EnumNames<BatchLengths>& names_of(BatchLengths) {
  static const EnumNames<BatchLengths> names{{BatchLengths::each, "each"}, {BatchLengths::same, "same"}};
  return names;
}

namespace {

const std::string kRounded =
    " to which positions, angles, cosines and sines, or all of these and the frequencies are rounded; angles and "
    "cosines are those of rotary encodings;";

}  // namespace

void TrainingOptions::describe(OptionTable& o) {
  o.integer("steps", steps, 1, 100'000'000, "number of optimizer updates");
  o.integer("batch", batch, 1, 65536, "number of sequences of each step");
  o.integer("samples", samples, 0, 1'000'000'000,
            "size of a finite training set, which repeats in the same order; 0: all sequences are fresh");
  o.omit_default();
  o.numbers(
      "learning_rate", learning_rates, 0, 1,
      "peak learning rate; with several, an experiment trains with each, and the model that is best in validation is tested");
  o.integer(
      "tuning_seeds", tuning_seeds, 0, 100,
      "number of seeds, from 1000000000, that are trained at every learning rate and not reported; all other seeds take the rate with their best mean validation; 0: each seed chooses its own");
  o.omit_default();
  o.number("warm_up", warm_up, 0, 1, "fraction of the steps over which the learning rate rises");
  o.choice("decay", decay, names_of(decay), "decay of the learning rate after the warm-up");
  OptimizerOptions::describe(o);
  o.number("clip", clip, 1e-6, 1e9, "largest Euclidean norm of the gradient");
  o.integer("validate_every", validate_every, 1, 100'000'000, "number of steps between two validations");
  o.integer("validation_sequences", validation_sequences, 1, 1'000'000, "number of sequences of each validation");
  o.integer("early_stop", early_stop, 0, 1000,
            "number of consecutive validations without an error after which training stops; 0: never");
  o.integer(
      "extend_while_gaining", extend_while_gaining, 1, 16,
      "training doubles its steps, up to this multiple of them, if its last validation is below 0.95 and has gained 0.05 in the last 40 % of the steps; warm-up and decay are repeated; 1: never");
  o.omit_default();
  o.flag("validate_splits", validate_splits,
         "validation on the splits out of distribution too; only the learning curve depends on it");
  o.omit_default();
  o.choice("outputs", outputs, names_of(outputs),
           "tokens among which loss and predictions choose: all, or those that the task's answers can have");
  o.omit_default();
  o.choice("lengths", lengths, names_of(lengths),
           "lengths of a batch: each sequence draws its length, or all have the same");
  o.omit_default();
  o.integer(
      "groups", groups, 1, 4096,
      "number of parts of a batch; up to as many threads compute a step, and another number rounds differently");
  o.omit_default();
  o.integer("pack", packing.samples, 1, 1024,
            "number of samples that one sequence has, one after another; training.batch counts samples");
  o.omit_default();
  o.flag("pack_mask", packing.mask, "with pack, attention of a token to its own sample only");
  o.omit_default();
  o.flag("pack_restart", packing.restart, "with pack, positions that begin anew in every sample");
  o.omit_default();
  o.choice("rounding", rounding, names_of(rounding), "format of 16 bits" + kRounded + " in training");
  o.omit_default();
  o.flag(
      "reserve", reserve,
      "reserves a tenth of the questions of each length for tests, chosen by their hash, so that training never draws "
      "them; false in reports of version 0.2, which lack the setting");
  o.omit_default();
}

void EvaluationOptions::describe(OptionTable& o) {
  o.integer("sequences", sequences, 1, 100'000'000, "number of test sequences of each split");
  o.integer(
      "grid", grid, 0, 100'000'000,
      "greatest number of test sequences at each of 1 to 16 times the trained length, for the effective length; 0: no "
      "such tests");
  o.omit_default();
  o.integer(
      "grid_rules", grid_rules, 1, 2,
      "rules of these tests. 2: 64 sequences at a time until the accuracy is surely above or below 0.90, with near "
      "and far evidence, and as many answers at each multiple; 1: those of reports of version 0.2, which lack the "
      "setting");
  o.omit_default();
  o.integer(
      "shift", shift, 0, 64,
      "adds the split `shift`: the test samples in distribution, with positions that begin at a number from 1 to "
      "this multiple of the trained length; 0: no such split");
  o.omit_default();
  o.choice("layout", layout, names_of(layout),
           "layout of answers; by_attention is teacher_forced for causal models and slots for bidirectional ones",
           {{"fed_back", "teacher_forced"}});
  o.integer("loops", loops, 0, 64, "passes of a test sequence through the layers; 0: as in training, model.loops");
  o.omit_default();
  o.choice(
      "cache", cache.mode, names_of(cache.mode),
      "inference in tests: the whole sequence at once, or token by token with cached keys, which are computed again "
      "when their positions or frequencies change, or stay stale");
  o.omit_default();
  o.integer("cache_size", cache.size, 0, 1 << 20, "most tokens of the cache; 0: all");
  o.omit_default();
  o.integer("cache_shift", cache.shift, 0, 1 << 20,
            "number of the oldest tokens that leave a full cache; the positions of the others then begin at 0");
  o.omit_default();
  o.choice("rounding", rounding, names_of(rounding), "format of 16 bits" + kRounded + " in tests");
  o.omit_default();
}

void ExtendOptions::describe(OptionTable& o) {
  o.text("encodings", encodings, "a list of encodings, such as none,rope->interpolated",
         "encodings that trained models are also tested with; PARENT->ENCODING: models of one encoding only");
  o.omit_default();
  o.integer("steps", steps, 0, 100'000'000,
            "number of optimizer updates with the other encoding, after which the model is tested again; 0: none");
  o.omit_default();
  o.text("length", length, "a value of the task's option length, such as 128 or 4x",
         "length of the sequences of these updates; empty: the trained length");
  o.omit_default();
}

namespace {

[[noreturn]] void refuse_setting(ExperimentOptions& options, const std::string& name) {
  std::vector<std::string> known;
  options.for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) known.push_back(section + "." + option.name);
  });
  const auto without_section = [&](const std::string& setting) { return setting.ends_with("." + name); };
  const auto meant = std::find_if(known.begin(), known.end(), without_section);
  const std::string hint = meant == known.end() ? did_you_mean(name, known) : did_you_mean(*meant, known);
  throw InputError(fmt::format(
      "unknown setting '{}'{} (expected model.OPTION, training.OPTION, evaluation.OPTION or extend.OPTION; 'posbench list settings' "
      "shows all)",
      name, hint));
}

}  // namespace

void ExperimentOptions::set(const std::string& name, const std::string& value) {
  const size_t dot = name.find('.');
  bool found = false;
  const auto set_one = [&](const std::string& section, const OptionTable& table) {
    table.set(name.substr(dot + 1), value, section);
    found = true;
  };
  if (dot != name.npos) for_each_section(set_one, name.substr(0, dot));
  if (!found) refuse_setting(*this, name);
}

std::string ExperimentOptions::get(const std::string& name) {
  std::optional<std::string> value;
  for_each_section([&](const std::string& section, const OptionTable& table) {
    for (const Option& option : table.all()) {
      if (name.starts_with(section + ".") && option.is_called(name.substr(section.size() + 1)))
        value = option.get();
    }
  });
  if (!value) refuse_setting(*this, name);
  return *value;
}

void ExperimentOptions::for_each_section(
    const std::function<void(const std::string& section, const OptionTable&)>& f, const std::string& only) {
  const auto section = [&](const char* name, auto& options) {
    if (!only.empty() && only != name) return;  // a table takes time to make
    OptionTable table;
    options.describe(table);
    f(name, table);
  };
  section("model", model);
  section("training", training);
  section("evaluation", evaluation);
  section("extend", extend);
}

Layout ExperimentOptions::layout() const {
  switch (evaluation.layout) {
    case AnswerLayout::teacher_forced:
      return Layout::teacher_forced;
    case AnswerLayout::slots:
      return Layout::slots;
    case AnswerLayout::by_attention:
      break;
  }
  return model.causal ? Layout::teacher_forced : Layout::slots;
}

}  // namespace posbench
