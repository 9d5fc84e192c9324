// Puts several samples into one sequence, as programs do that train on sequences of one length.
#pragma once
#include <span>

#include "base/spec.h"
#include "model/position_encoding.h"
#include "tasks/task.h"

namespace posbench {

/// A mask lets a token attend to its own sample only. No value of a sample then depends on another one, so that
/// the model reads the samples of a sequence one at a time, with the positions that they have in it.
struct Packing {
  int samples = 1;       // of a sequence
  bool mask = false;     // a token attends to its own sample only
  bool restart = false;  // positions begin anew in every sample

  /// Returns true if the model reads several samples as one sequence.
  bool joins() const { return samples > 1 && !mask; }
  /// Returns true if a sample has positions that depend on the samples before it.
  bool continues() const { return samples > 1 && !restart; }
};

/// Returns the examples one after another. The scored positions are those of example `scored`. Its fields without
/// positions, such as distances, are kept. The segments of different examples differ.
Example join(std::span<const Example>, size_t scored);

/// Returns the positions of sequences one after another.
Positions join(std::span<const Positions>);

/// Returns the positions of `count` tokens of a longer sequence, from token `first` on.
Positions part_of(const Positions&, size_t first, size_t count);

/// Throws InputError if the settings of a packing do not fit each other or the model.
void check_packing(const Packing&, const ModelConfig&, int batch);
/// Throws InputError if the encoding has no positions that can restart without a mask.
void check_packing(const Packing&, const ModelConfig&, const Spec& encoding);

}  // namespace posbench
