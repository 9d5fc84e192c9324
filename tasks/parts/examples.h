// The layouts of an example, and its segments.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace posbench {

/// The question, one `blank`, then the answer in the layout: fed back one place late, or as further blanks. Either
/// way answer token n is asked for n places after the first blank. Everything is scored, or the first `scored`
/// tokens only. Segments: 0 the question, 1 the answer.
Example ask(Layout, std::vector<int> question, int blank, const std::vector<int>& answer, int scored = -1);

/// What a sequence with questions inside it is trained on.
enum class Loss {
  clean,  // the places that are scored
  noisy,  // every next token, most of which nobody can know
};

/// A sequence whose questions stand inside it: the model reads all tokens but the last, and each place asks for
/// the next one. Only `scored` places count. All of it is segment 0.
Example predict_next(std::vector<int> sequence, std::vector<int> scored, Loss);

/// ask() for an answer that ends with a terminator, its last token. Fed back, it stops there, as a decoder would.
/// Slots are `slots` in number whatever the answer; those after the terminator are to say `padding`, unscored.
Example ask_terminated(Layout, std::vector<int> question, int blank, std::vector<int> answer, int slots,
                       int padding = 0);

/// (T) how many of the tokens before t are `delimiter`: a delimiter belongs to the segment that it ends.
std::vector<int> segments_ended_by(int delimiter, std::span<const int> tokens);

}  // namespace posbench
