// Describes the results of one encoding on a board: its scores by aspect, and its effective length and its
// accuracy on every task.
#pragma once
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/json/json.h"
#include "results/presentation/board_text.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"

namespace posbench {

struct EncodingCard {
  std::string name;  // as the board has it
  std::vector<AspectScore> aspects;
  Board board;  // with the rows of this encoding alone
};

/// `board` is the board of the report.
EncodingCard make_card(const std::string& encoding, const BoardReport&, Board board,
                       const std::vector<AspectTasks>&);

/// Returns what the encoding can do, and its scores by aspect. Without a result: how to make some.
std::vector<Document::Block> card_summary(const EncodingCard&);

/// Returns the results on each task, if there are any.
std::vector<Document::Block> card_details(const EncodingCard&);

/// Returns plots of the scores and of the accuracies on the learned tasks.
Page card_page(const EncodingCard&);

Json to_json(const EncodingCard&, const BoardTexts&);

}  // namespace posbench
