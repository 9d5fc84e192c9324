// Answers a board of mines with the number of mines next to each empty cell.
//
//   M E E / E E M =   ->   M 2 1 / 1 2 M      two rows of three cells; M: mine, E: empty
//   M E E E E M =     ->   M 2 1 1 2 M        row_ends=false
//
// The sizes of a board and its fraction of mines are uniform. A cell has up to eight neighbors. The coordinates of
// a token are its column and its row. Cells have columns and rows 2, 3, ..., also in the answer. The first = has
// column and row 1 if the answer is teacher forced. In slots each = has the coordinates of its answer. The /
// before a row has column 1 and the number of this row. Each / of the answer is trained, and not scored.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::minesweeper {
namespace {

const TaskInfo kInfo{
    .name = "minesweeper",
    .family = "length_generalization",
    .aspects = {Aspect::counting},
    .definition =
        "The model reads a board of mines and empty cells, row by row, and answers the same board with the number of "
        "neighboring mines in each empty cell.",
    .requirement =
        "A cell has neighbors in its row and in both rows next to it. The distance in tokens to neighbors in other rows "
        "grows with the number of columns. "
        "Attention has to find the cell of the question and its neighbors, and count the mines among them.",
    .source = "Cho et al. 2024, arXiv:2405.20671; code HanseulJo/position-coupling, data/minesweeper.py",
    .published_name = "minesweeper generator",
    .published =
        "The scripts of the code train on 5..9 rows and columns (length=5..9,columns=5..9) and test on up to 15; its "
        "configuration trains on 6..10 and tests at 12. The fractions of mines and the coordinates are those of the code. There "
        "is no / between rows (row_ends=false), so that only encodings that read the coordinates know the number of columns. "
        "There an end token follows the answer. The paper has square boards and writes * for an empty cell. Here boards are "
        "smaller, and the splits are ours.",
    .length_unit = "rows",
    .splits = {{"in_distribution", {}, "the trained sizes"},
               {"ood_length", {{"length", "1x..2x"}}, "up to twice the rows"},
               {"ood_columns", {{"columns", "1x..2x"}}, "up to twice the columns"},
               {"ood_both", {{"length", "1x..2x"}, {"columns", "1x..2x"}}, "both at once"}},
    .largest_answer_fraction = 0.34,
    .shortcuts = {.token = 0.5, .neighbor = 0.42, .count = 0.42},
};

struct Options {
  Integers length{3, 5}, columns{3, 5};
  double min_mines = 0.1, max_mines = 0.25;
  bool row_ends = true;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 1000, "rows of the board");
    o.integers("columns", columns, 1, 1000, "columns of the board");
    o.number("min_mines", min_mines, 0, 1, "smallest fraction of mines");
    o.number("max_mines", max_mines, 0, 1, "largest fraction of mines");
    o.flag("row_ends", row_ends, "a / between rows, which shows the number of columns");
  }
};

using Board = std::vector<std::vector<int>>;  // rows of cells, 1: mine

int count_neighbors(const Board& board, int row, int column) {
  const int rows = static_cast<int>(board.size()), columns = static_cast<int>(board[0].size());
  int mines = -board[row][column];
  for (int r = std::max(0, row - 1); r <= std::min(rows - 1, row + 1); ++r) {
    for (int c = std::max(0, column - 1); c <= std::min(columns - 1, column + 1); ++c) mines += board[r][c];
  }
  return mines;
}

std::vector<int> with_first(int first, std::vector<int> values) {
  values.insert(values.begin(), first);
  return values;
}

class Minesweeper final : public AlphabetTask<Options, "012345678M/E="> {
 public:
  Minesweeper(const Options& options, Layout layout) : AlphabetTask(options, layout) {
    if (options.min_mines > options.max_mines) {
      throw InputError(fmt::format("task 'minesweeper': min_mines {} is more than max_mines {}; lower it",
                                   options.min_mines, options.max_mines));
    }
  }

  int answers() const override { return options_.row_ends ? kEmpty : kRowEnd; }
  double chance_level() const override { return 1.0 / kRowEnd; }

  Example sample(int length, Rng& rng) const override {
    const Board board = draw_board(length, draw_if_several(options_.columns, rng), rng);
    std::vector<int> question, answer, columns, rows;
    const auto append = [&](int read, int answered, int column, int row) {
      question.push_back(read);
      answer.push_back(answered);
      columns.push_back(column);
      rows.push_back(row);
    };
    for (int r = 0; r < length; ++r) {
      if (r > 0 && options_.row_ends) append(kRowEnd, kRowEnd, 1, r + 2);
      for (int c = 0; c < static_cast<int>(board[r].size()); ++c)
        append(board[r][c] ? kMine : kEmpty, board[r][c] ? kMine : count_neighbors(board, r, c), c + 2, r + 2);
    }

    Example example = ask(layout_, std::move(question), kEquals, answer);
    std::erase_if(example.scored, [&](int t) { return example.targets[t] == kRowEnd; });
    example.coordinates = {values_of_tokens(layout_, columns, with_first(1, columns), example),
                           values_of_tokens(layout_, rows, with_first(1, rows), example)};
    const std::vector<int> answer_rows = with_first(2, rows);  // The = begins the first row of the answer.
    example.segments = values_of_tokens(layout_, rows, answer_rows, example);
    for (size_t t = 0; t < example.segments.size(); ++t)
      example.segments[t] += (t < columns.size() ? 0 : length) - 2;
    return example;
  }

 private:
  static constexpr int kMine = 9, kRowEnd = 10, kEmpty = 11, kEquals = 12;

  Board draw_board(int rows, int columns, Rng& rng) const {
    const double fraction = options_.min_mines + (options_.max_mines - options_.min_mines) * uniform_real(rng);
    Board board(static_cast<size_t>(rows));
    for (std::vector<int>& row : board) {
      for (int c = 0; c < columns; ++c) row.push_back(bernoulli(rng, fraction) ? 1 : 0);
    }
    return board;
  }
};

const RegisterTask<Minesweeper> registered{kInfo};

}  // namespace
}  // namespace posbench::minesweeper
