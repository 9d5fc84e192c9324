// Computes matrix products. Columns of b, as many as two of the widest vectors hold, are copied into a panel that
// stays in the L1 cache, unless b is compact enough to be read directly. Some rows of the result are kept in
// registers while the kernel runs down the panel. Sums are split every kDepth terms and each part is summed in
// ascending order, so that the value of an entry depends on its row and column alone.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "model/kernels/instances.h"

namespace posbench::inline POSBENCH_REAL {
inline namespace POSBENCH_ISA {
namespace {

constexpr Index kDepth = 256;
constexpr Index kFewRows = 12;      // with so few rows of a, copying a panel costs more than it saves
constexpr Index kCopyStride = 128;  // a transposed a with this stride or more is copied into rows first ...
constexpr Index kManyColumns = 96;  // ... if the result has at least this many columns
constexpr Index kNearRows = 200;    // b with a stride below this is read directly, without a panel
constexpr Index kCopyPadding = 16;  // columns that the rows of a copy of a have in addition
constexpr Index kRegisters = kWide > kLanes ? 24 : 12;  // vectors of the result that are summed in registers

/// Keeps memory for the next call.
class Buffer {
 public:
  Real* of_size(Index size) {
    if (size > size_) {
      data_.reset(new (kLine) Real[static_cast<size_t>(size)]);
      size_ = size;
    }
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Delete {
    void operator()(Real* values) const { ::operator delete[](values, kLine); }
  };

  std::unique_ptr<Real[], Delete> data_;
  Index size_ = 0;
};

/// to[k stride + j] = from[j row_stride + k] for a square of vectors; zero from row `count` of `from` on.
void transpose_square(const Real* from, Index row_stride, Index count, Real* to, Index stride) {
  Lanes row[kLanes];
#pragma GCC unroll 8
  for (Index j = 0; j < kLanes; ++j) row[j] = j < count ? load(from + j * row_stride) : Lanes{};
  transpose(row);
#pragma GCC unroll 8
  for (Index k = 0; k < kLanes; ++k) store(row[k], to + k * stride);
}

/// panel (depth, width) = `count` columns of b from `first` on, in the rows from `top` on; zero in columns beyond.
/// The width is a multiple of a vector if b's columns are contiguous.
void pack_panel(const Operand& b, Index top, Index depth, Index first, Index count, Index width, Real* panel) {
  const Real* from = b.data + top * b.row_stride + first * b.col_stride;
  if (b.col_stride == 1) {
    for (Index k = 0; k < depth; ++k) {
      for (Index j = 0; j < width; j += kLanes)
        store(load(from + k * b.row_stride + j, std::clamp(count - j, Index{0}, kLanes), 0),
              panel + k * width + j);
    }
    return;
  }
  constexpr Index kLine = 2 * kLanes;  // squares two by two, so that whole lines of the cache are read and written
  // These rows and columns are copied by squares.
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

/// Returns whether rows with this stride evict each other from the L1 cache, in tiles with many rows.
constexpr bool aliases_in_l1(Index stride) { return kRegisters > 12 && stride % (2048 / sizeof(Real)) == 0; }

/// to (rows, stride) = `depth` columns of a from `top` on.
void copy_rows(const Operand& a, Index top, Index depth, Index stride, Real* to) {
  const Real* from = a.data + top * a.col_stride;
  if (a.row_stride != 1) {
    for (Index i = 0; i < a.rows; ++i)
      std::memcpy(to + i * stride, from + i * a.row_stride, static_cast<size_t>(depth) * sizeof(Real));
    return;
  }
  const Index rows = a.rows - a.rows % kLanes, cols = depth - depth % kLanes;
  for (Index i = 0; i < rows; i += kLanes) {
    for (Index k = 0; k < cols; k += kLanes)
      transpose_square(from + k * a.col_stride + i, a.col_stride, kLanes, to + i * stride + k, stride);
  }
  for (Index i = 0; i < a.rows; ++i) {
    for (Index k = i < rows ? cols : 0; k < depth; ++k) to[i * stride + k] = from[k * a.col_stride + i];
  }
}

/// Returns the columns of the next panel if `rest` are left: two of the widest vectors, one, or kLanes. The sum
/// over all panels is the next multiple of kLanes, as in packed_columns().
Index panel_width(Index rest) { return rest > 2 * kWide - kLanes ? 2 * kWide : rest > kLanes ? kWide : kLanes; }

/// The memory for some columns of the result, and the rows that they are added to, or null.
struct Target {
  Real* to;
  Index stride;  // between rows, in scalars
  const Real* start;
  Index start_stride;
  Index columns;  // fewer than the panel's if the last vector is not full; only with kPartial
};
#ifdef __AVX512VL__
constexpr bool kPartial = true;  // stores of a few lanes cost no more than others
#else
constexpr bool kPartial = false;
#endif

/// Computes R rows of N vectors from `row` on: scale times the sum over k < depth of column k of a times row k of
/// the panel. `stride` is the distance between rows of a, or between its columns if it is transposed.
template <class V, int R, int N, bool kTransposed, bool kAdd>
[[gnu::noinline]] void tile(const Real* a, Index stride, const Real* panel, Index panel_stride, Index depth,
                            Real scale, const Target& target, Index row) {
  Real* const to = target.to + row * target.stride;
  V sum[R][N];
#pragma GCC unroll 24
  for (int r = 0; r < R; ++r) {
    __builtin_prefetch(to + r * target.stride, 1);
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) sum[r][n] = V{};
  }
#pragma GCC unroll 4
  for (Index k = 0; k < depth; ++k, panel += panel_stride) {
    V b[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) b[n] = load<V>(panel + n * kLanesOf<V>);
#pragma GCC unroll 24
    for (int r = 0; r < R; ++r) {
      const V x = broadcast<V>(kTransposed ? a[k * stride + r] : a[r * stride + k]);
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[r][n] = fused(x, b[n], sum[r][n]);
    }
  }
  const auto finish = [&](auto last) {  // lanes of the last vector
#pragma GCC unroll 24
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) {
        const Index column = n * kLanesOf<V>, lanes = n + 1 < N ? kLanesOf<V> : Index{last};
        const Real* start = kAdd ? target.start + (row + r) * target.start_stride + column : nullptr;
        store(kAdd ? fused(sum[r][n], scale, load<V>(start, lanes, 0)) : scale * sum[r][n],
              to + r * target.stride + column, lanes);
      }
    }
  };
  const Index last = target.columns - (N - 1) * kLanesOf<V>;
  if (!kPartial || last == kLanesOf<V>)
    finish(std::integral_constant<Index, kLanesOf<V>>{});
  else
    finish(last);
}

/// The rows of b from `top` to `bottom`, in some of its columns, as vectors side by side.
struct Panel {
  Index top, bottom;
  const Real* data;
  Index stride;  // between rows, in scalars
};

/// Computes `count` rows, at most R, from `row` on, of some columns of the result. a begins at column panel.top.
template <class V, int R, int N, bool kTransposed, bool kAdd>
inline void rows_at_once(const Operand& a, Index row, Index count, const Panel& panel, Real scale,
                         const Target& target) {
  if constexpr (R > 1) {
    if (count < R) return rows_at_once<V, R - 1, N, kTransposed, kAdd>(a, row, count, panel, scale, target);
  }
  Index begin = panel.top, end = panel.bottom;
  if (a.zeros == Operand::Zeros::left_of_diagonal) begin = std::clamp(row - a.diagonal, begin, end);
  if (a.zeros == Operand::Zeros::right_of_diagonal) end = std::clamp(row + R + a.diagonal, begin, end);
  tile<V, R, N, kTransposed, kAdd>(
      a.data + row * a.row_stride + (begin - panel.top) * a.col_stride, kTransposed ? a.col_stride : a.row_stride,
      panel.data + (begin - panel.top) * panel.stride, panel.stride, end - begin, scale, target, row);
}

/// Computes rows [row, end), at most R at a time, in groups of about equal size: with few rows, sums wait for each
/// other.
template <class V, int R, int N, bool kTransposed, bool kAdd>
void strip(const Operand& a, Index row, Index end, const Panel& panel, Real scale, const Target& target) {
  const auto rows = static_cast<unsigned>(end - row), tiles = (rows + R - 1) / R;
  if (tiles == 0) return;
  const unsigned fewest = rows / tiles, larger = rows % tiles;  // `larger` tiles have one row more than the others
  for (unsigned n = 0; n < tiles; ++n) {
    const Index count = fewest + (n < larger);
    rows_at_once<V, R, N, kTransposed, kAdd>(a, row, count, panel, scale, target);
    row += count;
  }
}

template <class V, int N>
void columns(const Operand& a, Index row, Index end, const Panel& panel, Real scale, const Target& target) {
  const bool add = target.start != nullptr;
  constexpr int R = N == 2 ? kRegisters / 2 : 12;
  if (a.col_stride == 1) {
    add ? strip<V, R, N, false, true>(a, row, end, panel, scale, target)
        : strip<V, R, N, false, false>(a, row, end, panel, scale, target);
  } else {
    add ? strip<V, R, N, true, true>(a, row, end, panel, scale, target)
        : strip<V, R, N, true, false>(a, row, end, panel, scale, target);
  }
}

/// Computes `width` columns of the result: from row `row` on, and those of a second vector from row `second_row`
/// on.
void columns(Index width, const Operand& a, Index row, Index second_row, const Panel& panel, Real scale,
             const Target& target) {
  if (width == 2 * kWide) {
    if (row < second_row) {
      const Target first{target.to, target.stride, target.start, target.start_stride, kWide};
      columns<Wide, 1>(a, row, second_row, panel, scale, first);
    }
    columns<Wide, 2>(a, second_row, a.rows, panel, scale, target);
  } else if (kWide > kLanes && width == kWide) {
    columns<Wide, 1>(a, row, a.rows, panel, scale, target);
  } else {
    columns<Lanes, 1>(a, row, a.rows, panel, scale, target);
  }
}

}  // namespace

void pack_kernel(const Operand& b, Real* packed) {
  for (Index top = 0; top < b.rows; top += kDepth) {
    const Index depth = std::min(kDepth, b.rows - top);
    for (Index first = 0; first < b.cols; first += panel_width(b.cols - first)) {
      const Index rest = b.cols - first, width = panel_width(rest);
      pack_panel(b, top, depth, first, std::min(rest, width), width, packed);
      packed += depth * width;
    }
  }
}

void multiply_kernel(const Operand& a, const Operand& b, const Real* start, Index start_stride, Real scale,
                     Index last_diagonal, Real* result, Index stride) {
  static thread_local Buffer packed, edge, unpacked_a;
  for (Index top = 0; top < std::max<Index>(b.rows, 1); top += kDepth) {
    const Index bottom = std::min(top + kDepth, b.rows), depth = bottom - top;
    const bool in_place = b.col_stride == 1 && (a.rows <= kFewRows || b.row_stride < kNearRows);
    // `left` is a from column `top` on. The members are copied one by one because they were just written one by
    // one: a load of several at once would wait until those writes reach the cache.
    Operand left;
    left.data = a.data + top * a.col_stride;
    left.rows = a.rows;
    left.cols = a.cols;
    left.row_stride = a.row_stride;
    left.col_stride = a.col_stride;
    left.zeros = a.zeros;
    left.diagonal = a.diagonal;
    if (b.cols >= kManyColumns &&
        (a.row_stride == 1 ? a.col_stride >= kCopyStride : aliases_in_l1(a.row_stride))) {
      const Index row_stride = depth + kCopyPadding;
      Real* rows = unpacked_a.of_size(a.rows * row_stride);
      copy_rows(a, top, depth, row_stride, rows);
      left.data = rows;
      left.row_stride = row_stride;
      left.col_stride = 1;
    }
    for (Index first = 0; first < b.cols;) {
      const Index rest = b.cols - first, width = panel_width(rest), count = std::min(rest, width);
      // Rows above these do not need the columns, or those in the second vector.
      const Index row = std::clamp(first - last_diagonal, Index{0}, a.rows);
      const Index second_row = std::clamp(first + kWide - last_diagonal, Index{0}, a.rows);
      Panel panel{top, bottom, b.data + top * b.row_stride + first, b.row_stride};
      if (b.packed != nullptr) {
        panel = {top, bottom, b.packed + top * packed_columns(b.cols) + first * depth, width};
      } else if (!in_place || count < width) {
        Real* copy = packed.of_size(depth * width);
        pack_panel(b, top, depth, first, count, width, copy);
        panel = {top, bottom, copy, width};
      }
      Real* const to = result + first;
      const bool whole = kPartial || count == width;  // else the last columns do not fill their vectors
      const Target target = whole ? Target{to, stride, start ? start + first : nullptr, start_stride, count}
                                  : Target{edge.of_size(a.rows * width), width, nullptr, 0, width};
      columns(width, left, row, second_row, panel, whole ? scale : 1, target);
      if (!whole) {
        for (Index i = row; i < a.rows; ++i) {
          for_each_lanes(count, [&](Index j, Index lanes) {
            const Lanes sum = load(target.to + i * width + j);
            store(start ? fused(sum, scale, load(start + i * start_stride + first + j, lanes, 0)) : scale * sum,
                  to + i * stride + j, lanes);
          });
        }
      }
      first += count;
    }
    start = result;  // the next parts are added
    start_stride = stride;
  }
}

}  // namespace POSBENCH_ISA
}  // namespace posbench::inline POSBENCH_REAL
