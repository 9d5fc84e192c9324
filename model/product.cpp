// The columns of b are copied, two vectors of them at a time, into a panel (K, 2 vectors) that stays in the
// nearest cache, unless they lie close enough together where they are; six rows of the result at a time stand in
// registers while the kernel runs down the panel. Long sums are cut every kDepth terms, and each piece is summed
// in ascending order, whatever the sizes: the value of an entry depends on its row and column alone.
#include "model/product.h"

#include <algorithm>

#include "model/lanes.h"

namespace posbench {
namespace {

constexpr Index kDepth = 256;
constexpr Index kFewRows = 12;      // of a: too few to repay the copy of a panel
constexpr Index kFarColumns = 128;  // of a transposed: so far apart, they are first copied into rows ...
constexpr Index kManyColumns = 48;  // ... where the result has so many that the copy repays
constexpr Index kNearRows = 200;    // of b: closer together than so many scalars, they are read where they are

/// to[k stride + j] = from[j row_stride + k] for a square of vectors; 0 from row `count` of `from` on.
void transpose_square(const Real* from, Index row_stride, Index count, Real* to, Index stride) {
  Lanes row[kLanes];
#pragma GCC unroll 8
  for (Index j = 0; j < kLanes; ++j) row[j] = j < count ? load(from + j * row_stride) : Lanes{};
  transpose(row);
#pragma GCC unroll 8
  for (Index k = 0; k < kLanes; ++k) store(row[k], to + k * stride);
}

/// panel (depth, width) = `count` columns of b from `first` on, in the rows from `top` on; zero in columns beyond.
/// The width is one of whole vectors where b's columns lie side by side.
void pack(const Factor& b, Index top, Index depth, Index first, Index count, Index width, Real* panel) {
  const Real* from = b.data + top * b.row_stride + first * b.col_stride;
  if (b.col_stride == 1) {
    for (Index k = 0; k < depth; ++k) {
      for (Index j = 0; j < width; j += kLanes)
        store(load(from + k * b.row_stride + j, std::clamp(count - j, Index{0}, kLanes), 0),
              panel + k * width + j);
    }
    return;
  }
  constexpr Index kLine = 2 * kLanes;  // squares two by two: lines of the cache are read and written whole
  // Copied by whole squares:
  const Index rows = b.row_stride == 1 ? depth - depth % kLanes : 0, cols = width - width % kLanes;
  for (Index line = 0; line < cols; line += kLine) {
    for (Index k = 0; k < rows; k += kLanes) {
      for (Index j = line; j < std::min(line + kLine, cols); j += kLanes)
        transpose_square(from + j * b.col_stride + k, b.col_stride, count - j, panel + k * width + j, width);
    }
  }
  for (Index k = 0; k < depth; ++k) {
    for (Index j = k < rows ? cols : 0; j < width; ++j)
      panel[k * width + j] = j < count ? from[k * b.row_stride + j * b.col_stride] : 0;
  }
}

/// Columns of a panel, where `rest` are left.
Index panel_width(Index rest) { return rest > kLanes ? 2 * kLanes : kLanes; }
/// Of all panels together.
Index padded(Index columns) { return (columns + kLanes - 1) / kLanes * kLanes; }

/// All panels of b, of one piece of the sums after the other.
void pack(const Factor& b, Matrix& panels) {
  panels.resize(b.rows, padded(b.cols));
  Real* to = panels.data();
  for (Index top = 0; top < b.rows; top += kDepth) {
    const Index depth = std::min(kDepth, b.rows - top);
    for (Index first = 0; first < b.cols; first += panel_width(b.cols - first)) {
      const Index rest = b.cols - first, width = panel_width(rest);
      pack(b, top, depth, first, std::min(rest, width), width, to);
      to += depth * width;
    }
  }
}

/// Where some columns of the result go, and what they are added to: nothing, or rows of the same columns.
struct Target {
  Real* to;
  Index stride;  // between rows, in scalars
  const Real* start;
  Index start_stride;
};

/// R rows of V vectors from `row` on: scale times the sum over k < depth of a's column k times the panel's row k.
/// `stride` is that of a: between its rows, or, where it is transposed, between its columns.
template <int R, int V, bool kTransposed, bool kAdd>
[[gnu::noinline]] void tile(const Real* a, Index stride, const Real* panel, Index panel_stride, Index depth,
                            Real scale, const Target& target, Index row) {
  Real* const to = target.to + row * target.stride;
  Lanes sum[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    __builtin_prefetch(to + r * target.stride, 1);
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[r][v] = Lanes{};
  }
#pragma GCC unroll 4
  for (Index k = 0; k < depth; ++k, panel += panel_stride) {
    Lanes b[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) b[v] = load(panel + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Real x = kTransposed ? a[k * stride + r] : a[r * stride + k];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] += x * b[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
      const Lanes value = scale * sum[r][v];
      const Real* start = kAdd ? target.start + (row + r) * target.start_stride + v * kLanes : nullptr;
      store(kAdd ? load(start) + value : value, to + r * target.stride + v * kLanes);
    }
  }
}

/// The rows of b from `top` to `bottom`, in some of its columns, as vectors side by side.
struct Panel {
  Index top, bottom;
  const Real* data;
  Index stride;  // between rows, in scalars
};

/// `count` rows from `row` on, of some columns of the result; at most R. a begins at column panel.top.
template <int R, int V, bool kTransposed, bool kAdd>
inline void rows_at_once(const Factor& a, Index row, Index count, const Panel& panel, Real scale,
                         const Target& target) {
  if constexpr (R > 1) {
    if (count < R) return rows_at_once<R - 1, V, kTransposed, kAdd>(a, row, count, panel, scale, target);
  }
  Index begin = panel.top, end = panel.bottom;
  if (a.zeros == Factor::Zeros::left_of_diagonal) begin = std::clamp(row, begin, end);
  if (a.zeros == Factor::Zeros::right_of_diagonal) end = std::clamp(row + R, begin, end);
  tile<R, V, kTransposed, kAdd>(
      a.data + row * a.row_stride + (begin - panel.top) * a.col_stride, kTransposed ? a.col_stride : a.row_stride,
      panel.data + (begin - panel.top) * panel.stride, panel.stride, end - begin, scale, target, row);
}

/// Rows [row, a.rows), R at a time. Where that would leave so few that sums wait for each other, the last two lots
/// are halves.
template <int R, int V, bool kTransposed, bool kAdd>
void strip(const Factor& a, Index row, const Panel& panel, Real scale, const Target& target) {
  constexpr Index kFew = 8 / V;
  while (row < a.rows) {
    const Index rest = a.rows - row, more = rest - R, count = more <= 0 ? rest : more < kFew ? (rest + 1) / 2 : R;
    rows_at_once<R, V, kTransposed, kAdd>(a, row, count, panel, scale, target);
    row += count;
  }
}

template <int V>
void columns(const Factor& a, Index row, const Panel& panel, Real scale, const Target& target) {
  const bool add = target.start != nullptr;
  constexpr int R = 12 / V;
  if (a.col_stride == 1) {
    add ? strip<R, V, false, true>(a, row, panel, scale, target)
        : strip<R, V, false, false>(a, row, panel, scale, target);
  } else {
    add ? strip<R, V, true, true>(a, row, panel, scale, target)
        : strip<R, V, true, false>(a, row, panel, scale, target);
  }
}

/// `start` has the columns of the result, and `start_stride` between its rows; null where there is none.
void product(const Real* start, Index start_stride, const Factor& a, const Factor& b, Real scale, Part part,
             Out result) {
  eigen_assert(a.col_stride == 1 || a.row_stride == 1 || a.rows == 1);
  eigen_assert(a.cols == b.rows && result.rows() == a.rows && result.cols() == b.cols);
  static thread_local Matrix packed, edge, straight;
  for (Index top = 0; top < std::max<Index>(b.rows, 1); top += kDepth) {
    const Index bottom = std::min(top + kDepth, b.rows), depth = bottom - top;
    const bool in_place = b.col_stride == 1 && (a.rows <= kFewRows || b.row_stride < kNearRows);
    Factor left = a;  // from column `top` on
    left.data += top * a.col_stride;
    if (a.row_stride == 1 && a.col_stride >= kFarColumns && b.cols >= kManyColumns) {
      straight.resize(a.rows, depth);
      pack(a, 0, a.rows, top, depth, depth, straight.data());
      left.data = straight.data();
      left.row_stride = depth;
      left.col_stride = 1;
    }
    for (Index first = 0; first < b.cols;) {
      const Index rest = b.cols - first, width = panel_width(rest), count = std::min(rest, width);
      const Index row = part == Part::up_to_diagonal ? first : 0;  // rows above see nothing of these columns
      Panel panel{top, bottom, b.data + top * b.row_stride + first, b.row_stride};
      if (b.panels != nullptr) {
        panel = {top, bottom, b.panels + top * padded(b.cols) + first * depth, width};
      } else if (!in_place || count < width) {
        packed.resize(depth, width);
        pack(b, top, depth, first, count, width, packed.data());
        panel = {top, bottom, packed.data(), width};
      }
      const auto fill = [&](const Target& target) {
        width > kLanes ? columns<2>(left, row, panel, scale, target) : columns<1>(left, row, panel, scale, target);
      };
      if (count == width) {
        fill({result.data() + first, result.outerStride(), start ? start + first : nullptr, start_stride});
      } else {  // the last columns do not fill their vectors
        edge.resize(a.rows, width);
        fill({edge.data(), width, nullptr, 0});
        for (Index i = row; i < a.rows; ++i) {
          Real* to = result.data() + i * result.outerStride() + first;
          const Real* from = edge.data() + i * width;
          for_each_lanes(count, [&](Index j, Index lanes) {
            const Lanes before = start ? load(start + i * start_stride + first + j, lanes, 0) : Lanes{};
            store(before + load(from + j), to + j, lanes);
          });
        }
      }
      first += count;
    }
    start = result.data();  // of the next pieces of the sums
    start_stride = result.outerStride();
  }
}

}  // namespace

Factor Factor::transpose() const {
  Factor f = *this;
  std::swap(f.rows, f.cols);
  std::swap(f.row_stride, f.col_stride);
  std::swap(f.panels, f.transposed_panels);
  if (f.zeros != Factor::Zeros::none) {
    f.zeros = f.zeros == Factor::Zeros::right_of_diagonal ? Factor::Zeros::left_of_diagonal
                                                          : Factor::Zeros::right_of_diagonal;
  }
  return f;
}

void Panels::fill(const In& matrix, bool transposed) {
  factor_ = Factor(matrix);
  pack(factor_, columns_);
  if (transposed) pack(factor_.transpose(), rows_);
  factor_.panels = columns_.data();
  if (transposed) factor_.transposed_panels = rows_.data();
}

Factor lower(const In& m) {
  Factor f(m);
  f.zeros = Factor::Zeros::right_of_diagonal;
  return f;
}

void multiply(const Factor& a, const Factor& b, Out result, Real scale, Part part) {
  product(nullptr, 0, a, b, scale, part, result);
}

void multiply_from(const In& start, const Factor& a, const Factor& b, Out result, Real scale) {
  product(start.data(), 0, a, b, scale, Part::whole, result);
}

void multiply_add(const Factor& a, const Factor& b, Out result, Real scale, Part part) {
  product(result.data(), result.outerStride(), a, b, scale, part, result);
}

}  // namespace posbench
