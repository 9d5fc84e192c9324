// Makes the document of `posbench inspect` for one example.
#pragma once
#include <string>
#include <vector>

#include "harness/analysis/attention_statistics.h"
#include "results/document/document.h"
#include "results/json/json.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Explains the column 'position term'.
constexpr const char* kLocalityRule =
    "The column 'position term' states if a head favors near keys. It compares the mean position terms of all pairs of distances "
    "between query and key, and counts the pairs that differ: local if at least three quarters have the greater mean at the "
    "smaller distance, anti-local if at least three quarters have it at the greater distance, else mixed; '-' if none differ. "
    "The position term is the positional part of the score. In layer 0 of an encoding that adds to the embeddings it is the "
    "position-position term.";

/// Returns "local", "anti-local" or "mixed", or null if there is no position term.
Json locality_json(Locality);

/// The values of one model and one example.
struct Inspection {
  ExperimentId id;
  std::string split;
  bool causal = true;
  std::vector<std::string> tokens;              // (T)
  std::vector<int> scored;                      // positions of the answers
  std::vector<std::string> expected, answered;  // (scored)
  std::vector<std::vector<AttentionMap>> layers;
  std::string unfinished_run;  // "runs/mine: 10 of 18 experiments"; empty if the run has finished

  Index length() const { return static_cast<Index>(tokens.size()); }
  Index keys(Index query) const { return causal ? query + 1 : length(); }
};

/// Returns "layer 0, head 1".
std::string head_name(size_t layer, size_t head);

/// Returns the maps of each layer and head: the scores, their content and positional part, the attention and maps
/// of the encoding. Texts and CSV show one query, JSON and the page show all. The page has the maps of all queries
/// if the example has at most 160 tokens.
Document make_inspection_document(Inspection, Index query);

}  // namespace posbench
