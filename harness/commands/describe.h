// Builds the documents about encodings, tasks and claims: their definition, then the results that are known.
// `posbench show` prints them, and `posbench site` makes a page of each.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "results/document/document.h"
#include "results/presentation/board_text.h"
#include "results/reports/claim_json.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "tasks/registry.h"

namespace posbench {

/// The results of the board, and what documents need to state them.
struct BoardResults {
  BoardReport all;
  Board board;  // out of distribution
  std::vector<AspectTasks> aspects;
  BoardTexts texts;
};

BoardResults make_board_results(BoardReport);

/// Returns the definitions of tasks, the families and colors of encodings, and the source of the costs.
BoardTexts board_texts();

/// Returns a row for each option, with its default.
Table options_table(const std::vector<OptionInfo>&);

/// Returns the equation of an encoding, its sources, and the names of its options with their defaults.
std::vector<Document::Block> definition(const EncodingEntry&);

/// Returns the other facts about an encoding, and what its options mean.
std::vector<Document::Block> properties(const EncodingEntry&);

/// Returns "causal only; also rotary; Su et al. 2021, arXiv:2104.09864": a line for lists of encodings.
std::string in_short(const EncodingInfo&);

/// Describes an encoding, given its name on the board. One that is not registered has results only.
/// The results must outlive the document.
Document encoding_document(const std::string& name, const BoardResults&);

/// Returns the accuracies of predictors that do not read the question, and facts about the samples of each split.
Table baseline_table(const TaskBaseline&);

/// Describes a task, given its name on the board, or another spec of a registered task. The accuracies of trivial
/// predictors are those of the board; if it has none and `measures`, they are measured, which takes seconds.
Document task_document(const std::string& spec, const BoardResults&, bool measures);

Document claim_document(const ClaimFile&);

// The items of `posbench list --json`.
Json to_json(const EncodingEntry&);
Json to_json(const TaskEntry&);
Json to_json(const std::vector<OptionInfo>&);

/// Returns "length=128 (4x)": the values that a split changes, and how they relate to those of training; "-" if it
/// changes none.
std::string split_changes(const TaskInfo&, const TaskInfo::Split&);

/// Returns the names of the aspects that a task tests, separated by commas.
std::string aspects_text(const TaskInfo&);

/// Returns the registered names in the rules of a claim.
std::vector<std::string> encodings_of(const ClaimFile&);
std::vector<std::string> tasks_of(const ClaimFile&);

/// Returns a row for each claim: name, verdicts, statement and kind.
Table claims_table(std::span<const ClaimFile* const>);

/// Returns the claims about an encoding or a task: `names_of` is encodings_of or tasks_of.
std::vector<const ClaimFile*> claims_about(const std::string& name,
                                           std::vector<std::string> (*names_of)(const ClaimFile&));

/// Adds these claims, if there are any.
void add_claims(const std::vector<const ClaimFile*>&, Document&);

}  // namespace posbench
