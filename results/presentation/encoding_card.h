// Describes one encoding on one page: its equation, its scores by aspect, its results on every task of the board,
// its effective lengths, the encodings like it and the claims about it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/document/table.h"
#include "results/json/json.h"
#include "results/presentation/board_text.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/statistics/summary.h"

namespace posbench {

/// An encoding as its registration describes it.
struct EncodingDescription {
  std::string name;  // as the board names it
  std::string family, equation, source;
  std::vector<std::string> used_in;
};

struct CardClaim {
  std::string name, verdict, at_full_size, statement;
};

struct EncodingCard {
  EncodingDescription about;
  std::vector<AspectScore> aspects;
  Board board;                     // with the rows of this encoding alone
  std::optional<Summary> lengths;  // of this encoding; empty if its reports have no grid of lengths
  std::vector<std::string> equal;  // encodings in the same tier on all tasks that both have
  std::vector<CardClaim> claims;
};

EncodingCard make_card(EncodingDescription, const BoardReport&, const std::vector<AspectTasks>&,
                       std::vector<CardClaim>);

/// Does the same, given the board of the report, for cards of several encodings.
EncodingCard make_card(EncodingDescription, const BoardReport&, Board, const std::vector<AspectTasks>&,
                       std::vector<CardClaim>);

/// A paragraph, and lines of an equation or a table below it if there are any.
struct CardPart {
  std::string text, equation;
  Table table;
};

/// Returns the parts of the text. The first one is the title.
std::vector<CardPart> card_parts(const EncodingCard&);

Json to_json(const EncodingCard&, const BoardTexts&);

/// Returns one HTML file with plots of the scores and of the accuracies on all tasks, and the tables of the text.
std::string make_card_page(const EncodingCard&);

// Parts of a card. The plots are those of the scores and of the accuracies on the learned tasks.
std::string no_result_text(const EncodingCard&);  // for a card without a task: how to make results
std::string scores_text(const EncodingCard&);     // explains the scores by aspect
Table aspect_table(const std::vector<AspectScore>&);
std::string lengths_text(const EncodingCard&);  // explains effective lengths, or why there are none
Table length_table(const Summary&);             // the first column has the tasks
std::vector<Plot> card_plots(const EncodingCard&);

}  // namespace posbench
