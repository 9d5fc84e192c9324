// Writes the board as tables, lines and JSON.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/document/table.h"
#include "results/json/json.h"
#include "results/statistics/board.h"

namespace posbench {

/// Texts that the reports do not contain.
struct BoardTexts {
  std::function<std::string(const std::string& task)> about;       // definition of the task
  std::function<std::string(const std::string& encoding)> family;  // of an encoding, given its spec
  std::function<int(const std::string& encoding)> style;           // the number of its color on pages
  std::string cost_source;                                         // command and machine that measured the costs
  std::function<std::string(const std::string& encoding)> kernel = {};  // the kernel that an encoding needs
};

/// Returns "57 of 66 encodings learn it in distribution; 2 have 0.90 or more, ood_far4: cope, path."
std::string task_summary_text(const BoardTask&, const BoardOptions&);

/// Returns "57 of 66, lstm": the encodings that learn the task, and the other models that do. More than two models
/// are counted: "57 of 66, 3 models". A marked task that no encoding learns has its mark: "open, lstm".
std::string learned_by_text(const BoardTask&);

/// Returns "2 tasks marked control or open do not count: dyck, k_hop."
std::string marked_text(const std::vector<std::string>& tasks);

/// The explanation of the marks of tasks.
inline constexpr const char* kAboutMarks =
    "control: the sources of the task say that a model with attention cannot learn it. open: no setting was found at which a "
    "model with attention learns it. The table over all tasks, cards and rankings by aspects do not count such tasks. 'posbench show TASK' prints "
    "the reason.";

/// Adds a note about the other models that the rows have, if there are any.
void add_note_of_other_models(const Board&, std::vector<std::string>& notes);

/// Returns a row for each task: learned_by_text, the best of these on the split that decides with its effective
/// length, and the number of encodings that keep 0.90 or more there. Encodings that the board does not show are
/// counted too.
Table board_summary(const Board&);

/// Returns a row for each encoding: tier, effective length if a report has any, accuracy with the worst and the
/// best seed, accuracy in distribution, cost, and the kernel if the texts have it.
Table board_table(const BoardTask&, const BoardTexts& = {});

/// Returns one table of all tasks with a column for every number, for a spreadsheet or a data frame.
Table board_csv(const Board&, const BoardTexts&);

/// Returns lines that explain the columns of the summary.
std::vector<std::string> board_summary_notes(const Board&);

/// Returns lines that explain the effective lengths of the rows; nothing without a grid.
std::vector<std::string> board_length_notes(const Board&);
/// Returns the definition of an effective length that is shown without its interval.
std::string length_note();

/// Returns "Values: sequence accuracy, out of distribution, mean over seeds and splits."
std::string values_note(const BoardOptions&);

/// Returns lines that explain the columns of the board.
std::vector<std::string> board_notes(const Board&);

/// Returns "ood_far4", or "out of distribution" for the mean over several splits.
std::string split_title(const BoardTask&);
std::string split_title(const BoardOptions&);

/// Returns the name of the encoding, with a star if the row is the user's.
std::string name_text(const BoardRow&);
/// Returns the best encoding, with the number of others that are as good: "rope +2". "-" if its accuracy would be
/// shown as 0.00.
std::string best_name_text(const BoardTaskSummary&);

/// Returns "1", "1 ?" if the tier is unsettled, or the reason why the encoding is in no tier.
std::string tier_text(const BoardRow&);

/// Returns "0.93 to 0.97": the worst and the best seed.
std::string seed_range_text(const BoardRow&);

/// Returns "0.93". If the task was not learned, adds the gain at the end of training: "0.93 (+0.05)".
std::string in_distribution_text(const BoardRow&);

/// Returns "tier 2", "too few seeds", "not learned", "other model" or "other model, not learned".
std::string status_text(const BoardRow&);

/// Returns "1.9x"; empty if the cost is not known.
std::string cost_text(const BoardRow&);

Json to_json(const Board&, const BoardTexts&, const std::vector<std::string>& warnings);

}  // namespace posbench
