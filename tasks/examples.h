// The layouts of an example, and its segments.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace posbench {

/// The question, one `blank`, then the answer in the layout: fed back one place late, or as further blanks. Either way
/// answer token n is asked for n places after the first blank. Everything is scored, or the first `scored` tokens only.
/// Segments: 0 the question, 1 the answer.
Example ask(Layout, std::vector<int> question, int blank, const std::vector<int>& answer, int scored = -1);

/// (T) how many of the tokens before t are `delimiter`: a delimiter belongs to the segment that it ends.
std::vector<int> segments_ended_by(int delimiter, std::span<const int> tokens);

}  // namespace posbench
