#include "encodings/relative_rows.h"

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
  const Matrix& index;
  Side side;
  bool causal;

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

  /// f(i, j, where the pair stands in a matrix (count, rows)) for every pair.
  template <class F>
  void for_each_pair(Index length, F f) const {
    for_each_query(length, [&](Index i, Index begin, Index end) {
      const Real* row = index.row(i).data();
      if (side == Side::query) {
        const Index start = (i - first) * rows - low;
        for (Index j = begin; j < end; ++j) f(i, j, start + static_cast<Index>(row[j]));
      } else {
        for (Index j = begin; j < end; ++j) f(i, j, (j - first) * rows - low + static_cast<Index>(row[j]));
      }
    });
  }

  /// f(i, j, n, step): n as above; where the step is 1 or -1, the pairs from j on, as many as lanes, stand at n,
  /// n + step, ...; where it is 0, the pair stands alone.
  template <class F>
  void for_each_run(Index length, F f) const {
    if (side == Side::key) {
      return for_each_pair(length, [&](Index i, Index j, Index n) { f(i, j, n, Step<0>{}); });
    }
    for_each_query(length, [&](Index i, Index begin, Index end) {
      const Real* row = index.row(i).data();
      const Index start = (i - first) * rows - low;
      const auto alone = [&](Index from, Index to) {
        for (Index j = from; j < to; ++j) f(i, j, start + static_cast<Index>(row[j]), Step<0>{});
      };
      Index j = begin;
      for (; j + kLanes <= end; j += kLanes) {
        const Index n = start + static_cast<Index>(row[j]);
        const Lanes steps = load(row + j) - row[j];
        if (equal(steps, places())) {
          f(i, j, n, Step<1>{});
        } else if (equal(steps, -places())) {
          f(i, j, n, Step<-1>{});
        } else {
          alone(j, j + kLanes);
        }
      }
      alone(j, end);
    });
  }
};

/// pairs(i, j) += the entry of products where the pair stands
void pick(const Block& block, const Matrix& products, Out pairs) {
  block.for_each_run(pairs.rows(), [&](Index i, Index j, Index n, auto step) {
    Real* to = pairs.row(i).data() + j;
    const Real* from = products.data() + n;
    if constexpr (step == 0) *to += *from;
    if constexpr (step == 1) store(load(to) + load(from), to);
    if constexpr (step == -1) store(load(to) + reversed(load(from - kLanes + 1)), to);
  });
}
/// The entry of d_products where the pair stands += d_pairs(i, j)
void pick_backward(const Block& block, const In& d_pairs, Matrix& d_products) {
  block.for_each_run(d_pairs.rows(), [&](Index i, Index j, Index n, auto step) {
    const Real* from = d_pairs.row(i).data() + j;
    Real* to = d_products.data() + n;
    if constexpr (step == 0) *to += *from;
    if constexpr (step == 1) store(load(to) + load(from), to);
    if constexpr (step == -1) store(load(to - kLanes + 1) + reversed(load(from)), to - kLanes + 1);
  });
}

/// f(block) for all blocks of the tokens on this side.
template <class F>
void for_each_block(Index length, const Matrix& index, Side side, bool causal, F f) {
  for (Index first = 0; first < length; first += kBlock) {
    Block block{first, std::min(kBlock, length - first), 0, 0, index, side, causal};
    Lanes low = Lanes{} + index(first, first), high = low;
    block.for_each_query(length, [&](Index i, Index begin, Index end) {
      const Real* row = index.row(i).data() + begin;
      for_each_lanes(end - begin, [&](Index j, Index count) {
        const Lanes n = load(row + j, count, row[j]);
        low = low < n ? low : n;
        high = larger(high, n);
      });
    });
    block.low = static_cast<Index>(-largest(-low));
    block.rows = static_cast<Index>(largest(high)) - block.low + 1;
    f(block);
  }
}

/// Random positions give nearly every pair a row of its own. A block with more rows than this goes pair by pair:
/// most of its products would be picked by nobody.
Index most_rows(Index length) { return 4 * std::max(length, kBlock); }

/// Room for the products of any block that has no more rows than that.
Matrix& products_of(Index length, const In& rows, Scratch& scratch) {
  return scratch(std::min(kBlock, length), std::min(rows.rows(), most_rows(length)));
}

}  // namespace

void add_row_products(const In& x, const In& rows, const Matrix& index, Side side, Real scale, bool causal,
                      Scratch& scratch, Out scores) {
  const Index T = x.rows();
  Matrix& products = products_of(T, rows, scratch);
  for_each_block(T, index, side, causal, [&](const Block& block) {
    if (block.rows > most_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j, Index) {
        scores(i, j) += scale * x.row(side == Side::query ? i : j).dot(rows.row(static_cast<Index>(index(i, j))));
      });
      return;
    }
    products.resize(block.count, block.rows);
    multiply(x.middleRows(block.first, block.count), rows.middleRows(block.low, block.rows).transpose(), products,
             scale);
    pick(block, products, scores);
  });
}

void add_row_products_backward(const In& x, const In& rows, const Matrix& index, Side side, Real scale,
                               bool causal, const In& d_scores, Scratch& scratch, Out d_x, Out d_rows) {
  const Index T = x.rows();
  Matrix& d_products = products_of(T, rows, scratch);
  for_each_block(T, index, side, causal, [&](const Block& block) {
    if (block.rows > most_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j, Index) {
        const Index t = side == Side::query ? i : j, n = static_cast<Index>(index(i, j));
        const Real d = scale * d_scores(i, j);
        d_x.row(t) += d * rows.row(n);
        d_rows.row(n) += d * x.row(t);
      });
      return;
    }
    d_products.resize(block.count, block.rows);
    d_products.setZero();
    pick_backward(block, d_scores, d_products);
    multiply_add(d_products, rows.middleRows(block.low, block.rows), d_x.middleRows(block.first, block.count),
                 scale);
    multiply_add(d_products.transpose(), x.middleRows(block.first, block.count),
                 d_rows.middleRows(block.low, block.rows), scale);
  });
}

void add_row_mixture(const In& weights, const In& rows, const Matrix& index, bool causal, Scratch& scratch,
                     Out output) {
  const Index T = weights.rows();
  Matrix& by_row = products_of(T, rows, scratch);
  for_each_block(T, index, Side::query, causal, [&](const Block& block) {
    if (block.rows > most_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j, Index) {
        output.row(i) += weights(i, j) * rows.row(static_cast<Index>(index(i, j)));
      });
      return;
    }
    by_row.resize(block.count, block.rows);
    by_row.setZero();
    pick_backward(block, weights, by_row);
    multiply_add(by_row, rows.middleRows(block.low, block.rows), output.middleRows(block.first, block.count));
  });
}

void add_row_mixture_backward(const In& weights, const In& rows, const Matrix& index, bool causal,
                              const In& d_output, Scratch& scratch, Out d_weights, Out d_rows) {
  const Index T = weights.rows();
  Matrix& by_row = products_of(T, rows, scratch);
  for_each_block(T, index, Side::query, causal, [&](const Block& block) {
    if (block.rows > most_rows(T)) {
      block.for_each_pair(T, [&](Index i, Index j, Index) {
        const Index n = static_cast<Index>(index(i, j));
        d_weights(i, j) += d_output.row(i).dot(rows.row(n));
        d_rows.row(n) += weights(i, j) * d_output.row(i);
      });
      return;
    }
    const auto d = d_output.middleRows(block.first, block.count);
    by_row.resize(block.count, block.rows);
    by_row.setZero();
    pick_backward(block, weights, by_row);
    multiply_add(by_row.transpose(), d, d_rows.middleRows(block.low, block.rows));
    multiply(d, rows.middleRows(block.low, block.rows).transpose(), by_row);
    pick(block, by_row, d_weights);
  });
}

}  // namespace posbench
