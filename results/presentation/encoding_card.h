// Describes the results of one encoding on a board: its scores by aspect, its effective lengths, its accuracy on
// every task, and the encodings like it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/json/json.h"
#include "results/presentation/board_text.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/statistics/summary.h"

namespace posbench {

struct EncodingCard {
  std::string name;  // as the board has it
  std::vector<AspectScore> aspects;
  Board board;                     // with the rows of this encoding alone
  std::optional<Summary> lengths;  // of this encoding; empty if its reports have no grid of lengths
  std::vector<std::string> equal;  // encodings in the same tier on all tasks that both have
};

/// `board` is the board of the report.
EncodingCard make_card(const std::string& encoding, const BoardReport&, Board board,
                       const std::vector<AspectTasks>&);

/// Returns texts and tables. Without a result: how to make some.
std::vector<Document::Block> card_blocks(const EncodingCard&);

/// Returns plots of the scores and of the accuracies on the learned tasks.
Page card_page(const EncodingCard&);

Json to_json(const EncodingCard&, const BoardTexts&);

}  // namespace posbench
