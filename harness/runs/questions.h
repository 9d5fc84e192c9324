// The answers to questions that users of programs ask each other, which scripts/questions.py writes.
#pragma once
#include "results/document/document.h"

namespace posbench {

/// Returns each question with its sources, its answer, the commands that it comes from, and their results.
Document questions_document();

}  // namespace posbench
