// Computes the output of `posbench inspect` for one example, and its page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/analysis/attention_statistics.h"
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
  size_t num_heads(size_t layer) const { return layers[layer].front().values.size(); }
  std::string position_text(Index t) const;
  /// Returns the locality of a head over all queries of the example.
  Locality locality(size_t layer, size_t head) const;
};

/// Calls f(layer, head, map, values of the head).
template <class F>
void for_each_map(const Inspection& inspection, F f) {
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head) {
      for (const AttentionMap& map : inspection.layers[layer]) f(layer, head, map, map.values[head]);
    }
  }
}

/// Returns "layer 0, head 1".
std::string head_name(size_t layer, size_t head);

/// Returns the example, its answers, and an explanation of the maps, each as a paragraph.
std::vector<std::string> make_notes(const Inspection&);

/// Returns the page: the position term and the attention of one query by key, and the maps of all queries if the
/// example has at most 160 tokens.
std::string make_page(const Inspection&, Index query);

}  // namespace posbench
