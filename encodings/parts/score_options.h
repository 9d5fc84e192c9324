// Defines options of the model that act on scores, for one encoding: the wrapper `local` applies them, and
// `layers` has a list of each.
#pragma once
#include <string>
#include <vector>

#include "base/options.h"
#include "base/real.h"
#include "base/spec.h"
#include "model/model_config.h"

namespace posbench::inline POSBENCH_REAL {

/// The options as a user writes them. A number of tokens is "8", or "0.25x": that part of the trained length.
struct ScoreOptions {
  std::string window = "0", segment = "0", chunk = "0", sinks = "0", temperature = "0";
  LogitScale logit_scale = LogitScale::constant;

  void describe(OptionTable&);
  /// Returns `config` with these options in place of its own. Throws InputError, in the name of `owner`
  /// ("encoding 'local'"), if a number of tokens is not valid.
  ModelConfig apply_to(ModelConfig config, const std::string& owner) const;
};

/// The same options for each of several encodings: lists with one value for all, or with one value for each.
struct ScoreOptionLists {
  std::string window = "0", chunk = "0", sinks = "0", logit_scale = "constant", temperature = "0";

  void describe(OptionTable&);
  /// Wraps each encoding that has an option in `local`. Throws InputError, in the name of `owner`, if a list has
  /// another number of values.
  std::vector<Spec> wrap(std::vector<Spec> members, const std::string& owner) const;
};

}  // namespace posbench::inline POSBENCH_REAL
