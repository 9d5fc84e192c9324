// The layouts of an example, and its segments.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace posbench {

/// The question, one `blank`, then the answer in the layout: teacher forced, one position late, or as further
/// blanks. In both, the target of answer token n is n positions after the first blank. All targets are scored, or
/// only the first `scored`. Segments: 0 the question, 1 the answer.
Example ask(Layout, std::vector<int> question, int blank, const std::vector<int>& answer, int scored = -1);

/// The targets in training of a sequence with target positions inside it.
enum class Loss {
  clean,  // at scored positions only
  noisy,  // every next token; most of them are unpredictable
};

/// A sequence with target positions inside it: the model reads all tokens but the last, and the target of a
/// position is the next token. Only `scored` positions are scored. All tokens are in segment 0.
Example predict_next(std::vector<int> sequence, std::vector<int> scored, Loss);

/// ask() for an answer that ends with a terminator, its last token. With teacher forcing the sequence stops there,
/// as a decoder would. The number of slots is always `slots`; those after the terminator have the target
/// `padding`, unscored.
Example ask_terminated(Layout, std::vector<int> question, int blank, std::vector<int> answer, int slots,
                       int padding = 0);

/// (T) how many of the tokens before t are `delimiter`: a delimiter belongs to the segment that it ends.
std::vector<int> segments_ended_by(int delimiter, std::span<const int> tokens);

}  // namespace posbench
