// Computes scores and outputs in which every pair of a query i and a key j has a vector: row index(i, j) of a
// table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Describes how row indices change in a tile, a square of kLanes x kLanes pairs. In the first three patterns the
/// index grows by -1, 0 or 1 from each query to the next, and shrinks by the same from each key to the next.
enum class TilePattern : std::int8_t {
  falling = -1,
  constant = 0,
  rising = 1,
  near,  // the indices of each query differ by less than kLanes, and the least is at one end of the tile
  mixed
};

/// The row of a table that each pair reads.
struct PairRows {
  IndexMatrix index;  // at least (T, T)

  // classify_tiles sets the following members.
  std::vector<TilePattern> tiles;  // row by row
  Index tiles_per_row = 0;
  bool descending = false;  // no query's index increases from one key to the next

  TilePattern tile(Index tile_row, Index tile_column) const {
    return tiles[static_cast<size_t>(tile_row * tiles_per_row + tile_column)];
  }
};
/// Sets all members that follow from the index. Must be called after every change of the index.
void classify_tiles(PairRows&);

/// The vectors of all pairs. If causal, the functions below neither read nor write pairs with future keys.
struct PairVectors {
  In rows;  // (N, D)
  const PairRows& pairs;
  bool causal;
  Scratch& scratch;
};

/// States the token whose vector is multiplied by the row of a pair.
enum class Side { query, key };
struct RowProduct {
  Side side;
  Real scale;
};

/// scores(i, j) += scale x_t . rows[index(i, j)], where t is i or j, the token of the side.   x (T, D), scores (T,
/// T)
void add_row_products(const In& x, const PairVectors&, RowProduct, Out scores);
/// For each pair:   d_x_t += scale d_scores(i, j) rows[index(i, j)],   d_rows[index(i, j)] += scale d_scores(i, j)
/// x_t.
void add_row_products_backward(const In& x, const PairVectors&, RowProduct, const In& d_scores, Out d_x,
                               Out d_rows);

/// output_i += sum over j of weights(i, j) rows[index(i, j)].   weights (T, T), output (T, D)
void add_row_mixture(const In& weights, const PairVectors&, Out output);
/// For each pair:   d_weights(i, j) += d_output_i . rows[index(i, j)],   d_rows[index(i, j)] += weights(i, j)
/// d_output_i.
void add_row_mixture_backward(const In& weights, const PairVectors&, const In& d_output, Out d_weights,
                              Out d_rows);

}  // namespace posbench::inline POSBENCH_REAL
