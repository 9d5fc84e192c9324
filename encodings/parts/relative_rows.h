// Scores and outputs in which every pair of tokens has a vector from a table: row index(i, j) for query i, key j.
// All four functions work on blocks of tokens: the block times all rows that it needs is one product, from which the
// entries of the pairs are gathered. Where causal, later keys are neither read nor written.
#pragma once
#include <cstdint>
#include <vector>

#include "model/position_encoding.h"

namespace posbench {

/// By how much the row grows from one query to the next, and shrinks from one key to the next, in all of a square
/// of pairs; or near, where a query's pairs have rows of less than a vector apart; or mixed.
enum class Run : std::int8_t { falling = -1, constant = 0, rising = 1, near, mixed };

/// Which row each pair reads.
struct PairRows {
  IndexMatrix index;        // at least (T, T)
  std::vector<Run> runs;    // of each square of kLanes x kLanes pairs
  Index squares = 0;        // in a row of squares
  bool descending = false;  // no query's rows increase from one key to the next

  Run run(Index square_i, Index square_j) const {
    return runs[static_cast<size_t>(square_i * squares + square_j)];
  }
};
/// Fills what the index determines.
void find_runs(PairRows&);

/// Whose vector the row of a pair is multiplied with.
enum class Side { query, key };

/// scores(i, j) += scale x_i . rows[index(i, j)], or x_j.   x (T, D), rows (N, D), scores (T, T).
void add_row_products(const In& x, const In& rows, const PairRows&, Side, Real scale, bool causal, Scratch&,
                      Out scores);
/// For each pair:   d_x_i += scale d_scores(i, j) rows[index(i, j)],   d_rows[index(i, j)] += scale d_scores(i, j)
/// x_i
void add_row_products_backward(const In& x, const In& rows, const PairRows&, Side, Real scale, bool causal,
                               const In& d_scores, Scratch&, Out d_x, Out d_rows);

/// output_i += sum over j of weights(i, j) rows[index(i, j)].   weights (T, T), output (T, D)
void add_row_mixture(const In& weights, const In& rows, const PairRows&, bool causal, Scratch&, Out output);
/// d_weights(i, j) += d_output_i . rows[index(i, j)],   d_rows[index(i, j)] += weights(i, j) d_output_i
void add_row_mixture_backward(const In& weights, const In& rows, const PairRows&, bool causal, const In& d_output,
                              Scratch&, Out d_weights, Out d_rows);

}  // namespace posbench
