#include "encodings/parts/relative_rows.h"

#include "model/attention.h"
#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Index kBlock = 32;  // tokens taken together

template <int N>
using Step = std::integral_constant<int, N>;

/// A block of tokens on one side, and the rows that its pairs have.
struct Block {
  Index first, count;  // tokens
  Index low, rows;     // low, low + 1, ..., low + rows - 1
  const PairRows& pairs;
  Side side;
  bool causal;

  /// Where a query's pairs are in a matrix (count, rows): start + stride j + index(i, j).
  Index start(Index i) const { return (side == Side::query ? i - first : -first) * rows - low; }
  Index stride() const { return side == Side::query ? 0 : rows; }
  Index entry(Index i, Index j) const { return start(i) + stride() * j + pairs.index(i, j); }

  /// f(i, first key, end of keys) for every query with a pair in the block.
  template <class F>
  void for_each_query(Index length, F f) const {
    if (side == Side::query) {
      for (Index i = first; i < first + count; ++i) f(i, Index{0}, visible(i, length, causal));
    } else {
      for (Index i = causal ? first : 0; i < length; ++i) {
        f(i, first, std::min(visible(i, length, causal), first + count));
      }
    }
  }

  /// f(i, j) for every pair.
  template <class F>
  void for_each_pair(Index length, F f) const {
    for_each_query(length, [&](Index i, Index begin, Index end) {
      for (Index j = begin; j < end; ++j) f(i, j);
    });
  }

  /// squares(i, j, end, step) for whole squares of pairs side by side, from (i, j) to key `end`, in which rows change
  /// by 1, 0 or -1 from one of a token's pairs to the next; row(i, j, end, run) for the other pairs: those of mixed
  /// squares side by side, or of one near square.
  template <class Squares, class Row>
  void for_each_square(Index length, Squares squares, Row row) const {
    const bool by_query = side == Side::query;
    const Index queries = by_query ? first + count : length, keys = by_query ? length : first + count;
    for (Index i = by_query ? first : 0; i < queries; i += kLanes) {
      const Index below = std::min(i + kLanes, queries), seen = std::min(keys, visible(below - 1, length, causal));
      const Index whole =
          below < i + kLanes ? 0 : std::min(keys, visible(i, length, causal));  // end of whole squares
      const auto run_at = [&](Index j) {
        return j + kLanes <= whole ? pairs.run(i / kLanes, j / kLanes) : Run::mixed;
      };
      for (Index j = by_query ? 0 : first; j < seen;) {
        const Run run = run_at(j);
        Index end = j + kLanes;
        if (run == Run::mixed || run == Run::near) {
          while (run == Run::mixed && end < seen && run_at(end) == Run::mixed) end += kLanes;
          end = std::min(end, keys);
          for (Index query = i; query < below; ++query)
            row(query, j, std::min(end, visible(query, length, causal)), run);
        } else {
          const auto follows = [&] {  // the row at `end` on those before it
            return pairs.index(i, end) == pairs.index(i, j) - static_cast<Index>(run) * (end - j);
          };
          while (run_at(end) == run && follows()) end += kLanes;
          if (run == Run::constant) {
            squares(i, j, end, Step<0>{});
          } else if ((run == Run::rising) == by_query) {
            squares(i, j, end, Step<-1>{});
          } else {
            squares(i, j, end, Step<1>{});
          }
        }
        j = end;
      }
    }
  }
};

/// The entries of a token's pairs from one on: `from` and those after it, or before it, or always the same.
template <int kStep>
Lanes entries(const Real* from, Step<kStep>) {
  if constexpr (kStep == 0) return broadcast(*from);
  return kStep == 1 ? load(from) : reversed(load(from - kLanes + 1));
}
/// How many rows a pair's row is after `low`, for kLanes pairs.
IntLanes rows_after(const std::int32_t* index, std::int32_t low) {
  using Narrow = std::int32_t __attribute__((vector_size(4 * kLanes)));
  Narrow rows;
  std::memcpy(&rows, index, sizeof rows);
  return __builtin_convertvector(rows - low, IntLanes);
}

/// pairs(i, j) += the pair's entry of products. Vectors are read up to 2 kLanes entries beyond the last one.
void gather(const Block& block, const Matrix& products, Out pairs) {
  const bool by_query = block.side == Side::query;
  block.for_each_square(
      pairs.rows(),
      [&](Index i, Index first, Index end, auto step) {
        for (Index n = 0; by_query && n < kLanes; ++n) {
          const Real* from = products.data() + block.entry(i + n, first);
          Real* to = pairs.row(i + n).data() + first;
          for (Index j = 0; j < end - first; j += kLanes)
            store(load(to + j) + entries(from + step * j, step), to + j);
        }
        for (Index j = first; !by_query && j < end; j += kLanes) {
          Lanes square[kLanes];  // a key's pairs in each row
          for (Index n = 0; n < kLanes; ++n) square[n] = entries(products.data() + block.entry(i, j + n), step);
          transpose(square);
          for (Index n = 0; n < kLanes; ++n) {
            Real* to = pairs.row(i + n).data() + j;
            store(load(to) + square[n], to);
          }
        }
      },
      [&](Index i, Index begin, Index end, Run run) {
        const std::int32_t* index = block.pairs.index.row(i).data();
        const Real* from = products.data() + block.start(i);
        Real* to = pairs.row(i).data();
        if (run == Run::near && by_query) {
          const std::int32_t low = std::min(index[begin], index[end - 1]);
          store(load(to + begin) + posbench::gather(from + low, rows_after(index + begin, low)), to + begin);
          return;
        }
        for (Index j = begin; j < end; ++j) to[j] += from[block.stride() * j + index[j]];
      });
}
/// The pair's entry of d_products += d_pairs(i, j)
void scatter_add(const Block& block, const In& d_pairs, Matrix& d_products) {
  const bool by_query = block.side == Side::query;
  const auto add = [](Lanes values, Real* to, auto step) {
    if constexpr (step == 0) *to += sum(values);
    if constexpr (step == 1) store(load(to) + values, to);
    if constexpr (step == -1) store(load(to - kLanes + 1) + reversed(values), to - kLanes + 1);
  };
  block.for_each_square(
      d_pairs.rows(),
      [&](Index i, Index first, Index end, auto step) {
        for (Index n = 0; by_query && n < kLanes; ++n) {
          const Real* from = d_pairs.row(i + n).data() + first;
          Real* to = d_products.data() + block.entry(i + n, first);
          for (Index j = 0; j < end - first; j += kLanes) add(load(from + j), to + step * j, step);
        }
        for (Index j = first; !by_query && j < end; j += kLanes) {
          Lanes square[kLanes];
          for (Index n = 0; n < kLanes; ++n) square[n] = load(d_pairs.row(i + n).data() + j);
          transpose(square);
          for (Index n = 0; n < kLanes; ++n) add(square[n], d_products.data() + block.entry(i, j + n), step);
        }
      },
      [&](Index i, Index begin, Index end, Run) {
        const std::int32_t* index = block.pairs.index.row(i).data();
        const Real* from = d_pairs.row(i).data();
        Real* to = d_products.data() + block.start(i);
        for (Index j = begin; j < end;) {
          Real *entry = to + block.stride() * j + index[j], total = *entry;
          do {  // pairs with the same entry
            total += from[j++];
          } while (by_query && j < end && index[j] == index[j - 1]);
          *entry = total;
        }
      });
}

/// f(block) for all blocks of the tokens on this side, where the table has so many rows.
template <class F>
void for_each_block(Index length, Index table_rows, const PairRows& pairs, Side side, bool causal, F f) {
  for (Index first = 0; first < length; first += kBlock) {
    Block block{first, std::min(kBlock, length - first), 0, 0, pairs, side, causal};
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
    const Index lowest = low, needed = high - low + 1;
    const Index whole = (needed + kLanes - 1) / kLanes * kLanes;
    block.rows = std::min(whole, table_rows);  // so that products end with a vector
    block.low = std::min(lowest, table_rows - block.rows);
    f(block);
  }
}

Real dot(const Real* a, const Real* b, Index size) {
  Lanes total{};
  for_each_lanes(size, [&](Index n, Index count) {
    total = fused(load(a + n, count, 0), load(b + n, count, 0), total);
  });
  return sum(total);
}

/// With random positions nearly every pair has a different row. A block with more rows than this is computed pair by
/// pair: most of its products would not be read.
Index max_rows(Index length) { return 4 * std::max(length, kBlock); }

/// Scratch for the products of any block that has no more rows than that, and what vectors read beyond them.
Matrix& products_of(Index length, const In& rows, Scratch& scratch) {
  return scratch(std::min(kBlock, length) + 1, std::max(2 * kLanes, std::min(rows.rows(), max_rows(length))));
}

/// Whether all pairs of each row of the square from (i, j) on have rows of less than kLanes apart, the least of them at
/// one of the ends.
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

}  // namespace

void find_runs(PairRows& pairs) {
  const IndexMatrix& index = pairs.index;
  pairs.descending = true;
  for (Index i = 0; i < index.rows(); ++i) {
    for (Index j = 1; j < index.cols(); ++j) pairs.descending &= index(i, j) <= index(i, j - 1);
  }
  pairs.squares = (index.rows() + kLanes - 1) / kLanes;
  pairs.runs.assign(static_cast<size_t>(pairs.squares * pairs.squares), Run::mixed);
  for (Index i = 0; i + kLanes <= index.rows(); i += kLanes) {
    for (Index j = 0; j + kLanes <= index.rows(); j += kLanes) {
      const std::int32_t step = index(i + 1, j) - index(i, j);
      bool run = std::abs(step) <= 1;
      for (int n = 0; run && n < kLanes; ++n) {
        const std::int32_t* row = index.row(i + n).data() + j;
        for (int m = 0; m < kLanes; ++m) run &= row[m] == index(i, j) + step * (n - m);
      }
      Run& found = pairs.runs[static_cast<size_t>(i / kLanes * pairs.squares + j / kLanes)];
      if (run) {
        found = static_cast<Run>(step);
      } else if (is_near(index, i, j)) {
        found = Run::near;
      }
    }
  }
}

void add_row_products(const In& x, const In& rows, const PairRows& pairs, Side side, Real scale, bool causal,
                      Scratch& scratch, Out scores) {
  const Index T = x.rows();
  Matrix& products = products_of(T, rows, scratch);
  for_each_block(T, rows.rows(), pairs, side, causal, [&](const Block& block) {
    if (block.rows > max_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        scores(i, j) += scale * dot(x.row(side == Side::query ? i : j).data(), rows.row(pairs.index(i, j)).data(), x.cols());
      });
      return;
    }
    products.resize(block.count, block.rows);
    multiply(x.middleRows(block.first, block.count), rows.middleRows(block.low, block.rows).transpose(), products,
             scale);
    gather(block, products, scores);
  });
}

void add_row_products_backward(const In& x, const In& rows, const PairRows& pairs, Side side, Real scale,
                               bool causal, const In& d_scores, Scratch& scratch, Out d_x, Out d_rows) {
  const Index T = x.rows();
  Matrix& d_products = products_of(T, rows, scratch);
  for_each_block(T, rows.rows(), pairs, side, causal, [&](const Block& block) {
    if (block.rows > max_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        const Index t = side == Side::query ? i : j, n = pairs.index(i, j);
        const Real d = scale * d_scores(i, j);
        d_x.row(t) += d * rows.row(n);
        d_rows.row(n) += d * x.row(t);
      });
      return;
    }
    d_products.resize(block.count, block.rows);
    d_products.setZero();
    scatter_add(block, d_scores, d_products);
    multiply_add(d_products, rows.middleRows(block.low, block.rows), d_x.middleRows(block.first, block.count),
                 scale);
    multiply_add(d_products.transpose(), x.middleRows(block.first, block.count),
                 d_rows.middleRows(block.low, block.rows), scale);
  });
}

void add_row_mixture(const In& weights, const In& rows, const PairRows& pairs, bool causal, Scratch& scratch,
                     Out output) {
  const Index T = weights.rows();
  Matrix& by_row = products_of(T, rows, scratch);
  for_each_block(T, rows.rows(), pairs, Side::query, causal, [&](const Block& block) {
    if (block.rows > max_rows(T)) {
      block.for_each_pair(T,
                          [&](Index i, Index j) { output.row(i) += weights(i, j) * rows.row(pairs.index(i, j)); });
      return;
    }
    by_row.resize(block.count, block.rows);
    by_row.setZero();
    scatter_add(block, weights, by_row);
    multiply_add(by_row, rows.middleRows(block.low, block.rows), output.middleRows(block.first, block.count));
  });
}

void add_row_mixture_backward(const In& weights, const In& rows, const PairRows& pairs, bool causal,
                              const In& d_output, Scratch& scratch, Out d_weights, Out d_rows) {
  const Index T = weights.rows();
  Matrix& by_row = products_of(T, rows, scratch);
  for_each_block(T, rows.rows(), pairs, Side::query, causal, [&](const Block& block) {
    if (block.rows > max_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j) {
        const Index n = pairs.index(i, j);
        d_weights(i, j) += dot(d_output.row(i).data(), rows.row(n).data(), rows.cols());
        d_rows.row(n) += weights(i, j) * d_output.row(i);
      });
      return;
    }
    const auto d = d_output.middleRows(block.first, block.count);
    by_row.resize(block.count, block.rows);
    by_row.setZero();
    scatter_add(block, weights, by_row);
    multiply_add(by_row.transpose(), d, d_rows.middleRows(block.low, block.rows));
    multiply(d, rows.middleRows(block.low, block.rows).transpose(), by_row);
    gather(block, by_row, d_weights);
  });
}

}  // namespace posbench
