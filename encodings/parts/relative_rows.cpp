#include "encodings/parts/relative_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "model/attention.h"
#include "model/lanes.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Index kBlockTokens = 32;

/// The change of a product's index from one key of a tile to the next.
template <int kStep>
using Step = std::integral_constant<int, kStep>;

/// A block of tokens of one side. Its products are those of its tokens with all rows that their pairs read, a
/// matrix (num_tokens, num_rows). Each pair reads one of the products.
struct TokenBlock {
  Index first_token, num_tokens;
  Index first_row, num_rows;
  const PairRows& pairs;
  Side side;
  bool causal;

  /// The index of a pair's product is query_offset(i) + key_stride() j + index(i, j).
  Index query_offset(Index i) const {
    return (side == Side::query ? i - first_token : -first_token) * num_rows - first_row;
  }
  Index key_stride() const { return side == Side::query ? 0 : num_rows; }
  Index product_index(Index i, Index j) const { return query_offset(i) + key_stride() * j + pairs.index(i, j); }

  /// Calls f(i, first key, end of keys) for every query that has a pair in the block.
  template <class F>
  void for_each_query(Index length, F f) const {
    if (side == Side::query) {
      for (Index i = first_token; i < first_token + num_tokens; ++i)
        f(i, Index{0}, num_visible_keys(i, length, causal));
    } else {
      for (Index i = causal ? first_token : 0; i < length; ++i)
        f(i, first_token, std::min(num_visible_keys(i, length, causal), first_token + num_tokens));
    }
  }

  /// Calls f(i, j) for every pair.
  template <class F>
  void for_each_pair(Index length, F f) const {
    for_each_query(length, [&](Index i, Index begin, Index end) {
      for (Index j = begin; j < end; ++j) f(i, j);
    });
  }

  /// Calls whole_tiles(i, j, end, step) for adjacent whole tiles from pair (i, j) to key `end` in which product
  /// indices change by `step` from key to key. Calls other_pairs(i, j, end, pattern) for the keys j .. end - 1 of
  /// query i in adjacent mixed tiles, or in one near tile.
  template <class WholeTiles, class OtherPairs>
  void for_each_tile(Index length, WholeTiles whole_tiles, OtherPairs other_pairs) const {
    const bool by_query = side == Side::query;
    const Index queries_end = by_query ? first_token + num_tokens : length;
    const Index keys_end = by_query ? length : first_token + num_tokens;
    for (Index i = by_query ? first_token : 0; i < queries_end; i += kLanes) {
      const Index next_i = std::min(i + kLanes, queries_end);
      const Index visible_end = std::min(keys_end, num_visible_keys(next_i - 1, length, causal));
      const Index whole_end = next_i < i + kLanes ? 0 : std::min(keys_end, num_visible_keys(i, length, causal));
      const auto pattern_at = [&](Index j) {
        return j + kLanes <= whole_end ? pairs.tile(i / kLanes, j / kLanes) : TilePattern::mixed;
      };
      for (Index j = by_query ? 0 : first_token; j < visible_end;) {
        const TilePattern pattern = pattern_at(j);
        Index end = j + kLanes;
        if (pattern == TilePattern::mixed || pattern == TilePattern::near) {
          while (pattern == TilePattern::mixed && end < visible_end && pattern_at(end) == pattern) end += kLanes;
          end = std::min(end, keys_end);
          for (Index query = i; query < next_i; ++query)
            other_pairs(query, j, std::min(end, num_visible_keys(query, length, causal)), pattern);
        } else {
          const auto continues = [&] {  // the tile at `end` has the row indices that follow those before it
            return pairs.index(i, end) == pairs.index(i, j) - static_cast<Index>(pattern) * (end - j);
          };
          while (pattern_at(end) == pattern && continues()) end += kLanes;
          if (pattern == TilePattern::constant) {
            whole_tiles(i, j, end, Step<0>{});
          } else if ((pattern == TilePattern::rising) == by_query) {
            whole_tiles(i, j, end, Step<-1>{});
          } else {
            whole_tiles(i, j, end, Step<1>{});
          }
        }
        j = end;
      }
    }
  }
};

/// Returns the products *from, from[kStep], from[2 kStep], ...
template <int kStep>
Lanes load_products(const Real* from, Step<kStep>) {
  if constexpr (kStep == 0) return broadcast(*from);
  return kStep == 1 ? load(from) : reversed(load(from - kLanes + 1));
}
/// Adds values to the products *to, to[kStep], to[2 kStep], ...
template <int kStep>
void add_to_products(Lanes values, Real* to, Step<kStep>) {
  if constexpr (kStep == 0) *to += sum(values);
  if constexpr (kStep == 1) store(load(to) + values, to);
  if constexpr (kStep == -1) store(load(to - kLanes + 1) + reversed(values), to - kLanes + 1);
}

/// Returns index[n] - low for kLanes pairs.
IntLanes indices_after(const std::int32_t* index, std::int32_t low) {
  using Narrow = std::int32_t __attribute__((vector_size(4 * kLanes)));
  Narrow rows;
  std::memcpy(&rows, index, sizeof rows);
  return __builtin_convertvector(rows - low, IntLanes);
}

/// pairs(i, j) += the pair's product. Vectors are read up to 2 kLanes entries beyond the last product.
void gather_products(const TokenBlock& block, const Matrix& products, Out pairs) {
  const bool by_query = block.side == Side::query;
  block.for_each_tile(
      pairs.rows(),
      [&](Index i, Index begin, Index end, auto step) {
        for (Index n = 0; by_query && n < kLanes; ++n) {
          const Real* from = products.data() + block.product_index(i + n, begin);
          Real* to = pairs.row(i + n).data() + begin;
          for (Index j = 0; j < end - begin; j += kLanes)
            store(load(to + j) + load_products(from + step * j, step), to + j);
        }
        for (Index j = begin; !by_query && j < end; j += kLanes) {
          Lanes tile[kLanes];  // first the pairs of a key in each row, then those of a query
          for (Index n = 0; n < kLanes; ++n)
            tile[n] = load_products(products.data() + block.product_index(i, j + n), step);
          transpose(tile);
          for (Index n = 0; n < kLanes; ++n) {
            Real* to = pairs.row(i + n).data() + j;
            store(load(to) + tile[n], to);
          }
        }
      },
      [&](Index i, Index begin, Index end, TilePattern pattern) {
        const std::int32_t* index = block.pairs.index.row(i).data();
        const Real* from = products.data() + block.query_offset(i);
        Real* to = pairs.row(i).data();
        if (pattern == TilePattern::near && by_query) {
          const std::int32_t low = std::min(index[begin], index[end - 1]);
          store(load(to + begin) + gather(from + low, indices_after(index + begin, low)), to + begin);
          return;
        }
        for (Index j = begin; j < end; ++j) to[j] += from[block.key_stride() * j + index[j]];
      });
}

/// The pair's product += pairs(i, j).
void scatter_pairs(const TokenBlock& block, const In& pairs, Matrix& products) {
  const bool by_query = block.side == Side::query;
  block.for_each_tile(
      pairs.rows(),
      [&](Index i, Index begin, Index end, auto step) {
        for (Index n = 0; by_query && n < kLanes; ++n) {
          const Real* from = pairs.row(i + n).data() + begin;
          Real* to = products.data() + block.product_index(i + n, begin);
          for (Index j = 0; j < end - begin; j += kLanes) add_to_products(load(from + j), to + step * j, step);
        }
        for (Index j = begin; !by_query && j < end; j += kLanes) {
          Lanes tile[kLanes];
          for (Index n = 0; n < kLanes; ++n) tile[n] = load(pairs.row(i + n).data() + j);
          transpose(tile);
          for (Index n = 0; n < kLanes; ++n)
            add_to_products(tile[n], products.data() + block.product_index(i, j + n), step);
        }
      },
      [&](Index i, Index begin, Index end, TilePattern) {
        const std::int32_t* index = block.pairs.index.row(i).data();
        const Real* from = pairs.row(i).data();
        Real* to = products.data() + block.query_offset(i);
        for (Index j = begin; j < end;) {
          Real *product = to + block.key_stride() * j + index[j], total = *product;
          do {  // adds all adjacent pairs of the same product
            total += from[j++];
          } while (by_query && j < end && index[j] == index[j - 1]);
          *product = total;
        }
      });
}

/// Calls f(block) for all blocks of the tokens of a side.
template <class F>
void for_each_block(Index length, const PairVectors& vectors, Side side, F f) {
  const PairRows& pairs = vectors.pairs;
  const Index table_rows = vectors.rows.rows();
  for (Index first = 0; first < length; first += kBlockTokens) {
    TokenBlock block{first, std::min(kBlockTokens, length - first), 0, 0, pairs, side, vectors.causal};
    std::int32_t low = pairs.index(first, first), high = low;
    block.for_each_query(length, [&](Index i, Index begin, Index end) {
      const std::int32_t* row = pairs.index.row(i).data();
      if (pairs.descending) {
        high = std::max(high, row[begin]);
        low = std::min(low, row[end - 1]);
      } else {
        for (Index j = begin; j < end; ++j) {
          high = std::max(high, row[j]);
          low = std::min(low, row[j]);
        }
      }
    });
    const Index needed_rows = high - low + 1;
    const Index whole_vectors = (needed_rows + kLanes - 1) / kLanes * kLanes;
    block.num_rows = std::min(whole_vectors, table_rows);
    block.first_row = std::min<Index>(low, table_rows - block.num_rows);
    f(block);
  }
}

Real dot(const Real* a, const Real* b, Index size) {
  Lanes total{};
  for_each_lanes(
      size, [&](Index n, Index count) { total = fused(load(a + n, count, 0), load(b + n, count, 0), total); });
  return sum(total);
}

/// Returns the largest number of rows for which a block computes products. With random positions nearly every pair
/// reads a different row, so that most products would not be read; blocks with more rows are computed pair by
/// pair.
Index max_block_rows(Index length) { return 4 * std::max(length, kBlockTokens); }

/// Returns scratch for the products of any block that computes them, and for the entries that vectors read beyond
/// them.
Matrix& products_scratch(Index length, const PairVectors& vectors) {
  return vectors.scratch(std::min(kBlockTokens, length) + 1,
                         std::max(2 * kLanes, std::min(vectors.rows.rows(), max_block_rows(length))));
}

/// Returns true if the tile from pair (i, j) on has the pattern near.
bool is_near(const IndexMatrix& index, Index i, Index j) {
  for (Index n = i; n < i + kLanes; ++n) {
    const std::int32_t* row = index.row(n).data() + j;
    const std::int32_t low = std::min(row[0], row[kLanes - 1]);
    for (Index m = 0; m < kLanes; ++m) {
      if (row[m] < low || row[m] - low >= kLanes) return false;
    }
  }
  return true;
}

/// Returns the pattern of the whole tile from pair (i, j) on.
TilePattern find_pattern(const IndexMatrix& index, Index i, Index j) {
  const std::int32_t step = index(i + 1, j) - index(i, j);
  bool is_even = std::abs(step) <= 1;
  for (int n = 0; is_even && n < kLanes; ++n) {
    const std::int32_t* row = index.row(i + n).data() + j;
    for (int m = 0; m < kLanes; ++m) is_even &= row[m] == index(i, j) + step * (n - m);
  }
  if (is_even) return static_cast<TilePattern>(step);
  return is_near(index, i, j) ? TilePattern::near : TilePattern::mixed;
}

}  // namespace

void classify_tiles(PairRows& pairs) {
  const IndexMatrix& index = pairs.index;
  pairs.descending = true;
  for (Index i = 0; i < index.rows(); ++i) {
    for (Index j = 1; j < index.cols(); ++j) pairs.descending &= index(i, j) <= index(i, j - 1);
  }
  pairs.tiles_per_row = (index.rows() + kLanes - 1) / kLanes;
  pairs.tiles.assign(static_cast<size_t>(pairs.tiles_per_row * pairs.tiles_per_row), TilePattern::mixed);
  for (Index i = 0; i + kLanes <= index.rows(); i += kLanes) {
    for (Index j = 0; j + kLanes <= index.rows(); j += kLanes)
      pairs.tiles[static_cast<size_t>(i / kLanes * pairs.tiles_per_row + j / kLanes)] = find_pattern(index, i, j);
  }
}

void add_row_products(const In& x, const PairVectors& vectors, RowProduct product, Out scores) {
  const Index T = x.rows();
  const Side side = product.side;
  const Real scale = product.scale;
  const In& rows = vectors.rows;
  Matrix& products = products_scratch(T, vectors);
  for_each_block(T, vectors, side, [&](const TokenBlock& block) {
    if (block.num_rows > max_block_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        scores(i, j) += scale * dot(x.row(side == Side::query ? i : j).data(),
                                    rows.row(vectors.pairs.index(i, j)).data(), x.cols());
      });
      return;
    }
    products.resize(block.num_tokens, block.num_rows);
    multiply(x.middleRows(block.first_token, block.num_tokens),
             rows.middleRows(block.first_row, block.num_rows).transpose(), products, scale);
    gather_products(block, products, scores);
  });
}

void add_row_products_backward(const In& x, const PairVectors& vectors, RowProduct product, const In& d_scores,
                               Out d_x, Out d_rows) {
  const Index T = x.rows();
  const Side side = product.side;
  const Real scale = product.scale;
  const In& rows = vectors.rows;
  Matrix& d_products = products_scratch(T, vectors);
  for_each_block(T, vectors, side, [&](const TokenBlock& block) {
    if (block.num_rows > max_block_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        const Index t = side == Side::query ? i : j, n = vectors.pairs.index(i, j);
        const Real d = scale * d_scores(i, j);
        d_x.row(t) += d * rows.row(n);
        d_rows.row(n) += d * x.row(t);
      });
      return;
    }
    d_products.resize(block.num_tokens, block.num_rows);
    d_products.setZero();
    scatter_pairs(block, d_scores, d_products);
    multiply_add(d_products, rows.middleRows(block.first_row, block.num_rows),
                 d_x.middleRows(block.first_token, block.num_tokens), scale);
    multiply_add(d_products.transpose(), x.middleRows(block.first_token, block.num_tokens),
                 d_rows.middleRows(block.first_row, block.num_rows), scale);
  });
}

void add_row_mixture(const In& weights, const PairVectors& vectors, Out output) {
  const Index T = weights.rows();
  const In& rows = vectors.rows;
  Matrix& weights_of_rows = products_scratch(T, vectors);
  for_each_block(T, vectors, Side::query, [&](const TokenBlock& block) {
    if (block.num_rows > max_block_rows(T)) {
      block.for_each_pair(
          T, [&](Index i, Index j) { output.row(i) += weights(i, j) * rows.row(vectors.pairs.index(i, j)); });
      return;
    }
    weights_of_rows.resize(block.num_tokens, block.num_rows);
    weights_of_rows.setZero();
    scatter_pairs(block, weights, weights_of_rows);
    multiply_add(weights_of_rows, rows.middleRows(block.first_row, block.num_rows),
                 output.middleRows(block.first_token, block.num_tokens));
  });
}

void add_row_mixture_backward(const In& weights, const PairVectors& vectors, const In& d_output, Out d_weights,
                              Out d_rows) {
  const Index T = weights.rows();
  const In& rows = vectors.rows;
  Matrix& by_row = products_scratch(T, vectors);  // first the weights of rows, then their gradient
  for_each_block(T, vectors, Side::query, [&](const TokenBlock& block) {
    if (block.num_rows > max_block_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        const Index n = vectors.pairs.index(i, j);
        d_weights(i, j) += dot(d_output.row(i).data(), rows.row(n).data(), rows.cols());
        d_rows.row(n) += weights(i, j) * d_output.row(i);
      });
      return;
    }
    const auto d_block = d_output.middleRows(block.first_token, block.num_tokens);
    by_row.resize(block.num_tokens, block.num_rows);
    by_row.setZero();
    scatter_pairs(block, weights, by_row);
    multiply_add(by_row.transpose(), d_block, d_rows.middleRows(block.first_row, block.num_rows));
    multiply(d_block, rows.middleRows(block.first_row, block.num_rows).transpose(), by_row);
    gather_products(block, by_row, d_weights);
  });
}

}  // namespace posbench::inline POSBENCH_REAL
