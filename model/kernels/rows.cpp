// Defines the kernels that run over rows of matrices: normalizations, activations, sums. Sums take kLanes numbers
// at a time, even if vectors hold more.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "model/kernels/functions.h"
#include "model/kernels/instances.h"

namespace posbench::inline POSBENCH_REAL {
inline namespace POSBENCH_ISA {
namespace {

constexpr Index kSideBySide = 8;  // rows processed together, because each step of a row waits for the one before

/// Returns the number of lanes from entry j on that may be written. A store of the last visible keys may include
/// future ones.
template <class Count>
Index writable_lanes(Index length, Index j, Count count) {
  return count == kWide ? kWide : std::min(kWide, length - j);
}

Real largest_of(const Real* row, Index size) {
  Wide top = Wide{} - INFINITY;
  for_each<Wide>(size, [&](Index j, auto count) { top = larger(load<Wide>(row + j, count, -INFINITY), top); });
  return largest(top);
}

/// Sets the entries after the visible keys of a row to zero, as far as products read them.
void zero_keys_of_row(Real* row, Index keys, Index length) {
  const Index end = std::min(length, keys + kBand);
  for (Index j = (keys + kWide - 1) / kWide * kWide; j < end; j += kWide)
    store(Wide{}, row + j, std::min(kWide, length - j));
}

void softmax(const ConstRows& scores, bool causal, const Rows& attention) {
  const Index length = scores.rows;
  for (Index first = 0; first < length; first += kSideBySide) {
    const Index end = std::min(first + kSideBySide, length);
    Real top[kSideBySide], inverse[kSideBySide];
    for (Index i = first; i < end; ++i)
      top[i - first] = largest_of(scores.data + i * scores.stride, num_visible_keys(i, length, causal));
    for (Index i = first; i < end; ++i) {
      const Real *row = scores.data + i * scores.stride, highest = top[i - first];
      Real* weights = attention.data + i * attention.stride;
      Lanes total{};
      for_each<Wide>(num_visible_keys(i, length, causal), [&](Index j, auto count) {
        const Wide weight = exponential(load<Wide>(row + j, count, -INFINITY) - highest);
        total = add(total, weight);
        store(weight, weights + j, writable_lanes(length, j, count));
      });
      inverse[i - first] = 1 / sum(total);
    }
    for (Index i = first; i < end; ++i) {
      const Index keys = num_visible_keys(i, length, causal);
      Real *weights = attention.data + i * attention.stride, scale = inverse[i - first];
      for_each<Wide>(keys, [&](Index j, auto count) {
        const Index lanes = writable_lanes(length, j, count);
        store(load<Wide>(weights + j, lanes, 0) * scale, weights + j, lanes);
      });
      zero_keys_of_row(weights, keys, length);
    }
  }
}

void softmax_backward(const ConstRows& attention, bool causal, const ConstRows& d_attention,
                      const Rows& d_scores) {
  const Index length = attention.rows;
  for (Index i = 0; i < length; ++i) {
    const Index keys = num_visible_keys(i, length, causal);
    const Real *weights = attention.data + i * attention.stride, *d = d_attention.data + i * d_attention.stride;
    Real* d_row = d_scores.data + i * d_scores.stride;
    Lanes along{};
    for_each_lanes(keys, [&](Index j, auto count) {
      along = fused(load(weights + j, count, 0), load(d + j, count, 0), along);
    });
    const Real mean = sum(along);
    for_each<Wide>(keys, [&](Index j, auto count) {
      store(load<Wide>(weights + j, count, 0) * (load<Wide>(d + j, count, 0) - mean), d_row + j,
            writable_lanes(length, j, count));
    });
    for (Index j = (keys + kWide - 1) / kWide * kWide; j < length; j += kWide)
      store(Wide{}, d_row + j, std::min(kWide, length - j));
  }
}

void layer_norm(const ConstRows& x, const Real* gain, const Real* bias, const Rows& normalized, Real* rstd,
                const Rows& y) {
  const Real fraction = 1 / static_cast<Real>(x.cols);
  for (Index first = 0; first < x.rows; first += kSideBySide) {
    const Index end = std::min(first + kSideBySide, x.rows);
    Real means[kSideBySide];
    for (Index t = first; t < end; ++t) {
      const Real* in = x.data + t * x.stride;
      Lanes total{};
      for_each_lanes(x.cols, [&](Index c, auto count) { total += load(in + c, count, 0); });
      means[t - first] = fraction * sum(total);
    }
    for (Index t = first; t < end; ++t) {
      const Real *in = x.data + t * x.stride, mean = means[t - first];
      Lanes squares{};
      for_each_lanes(x.cols, [&](Index c, auto count) {
        const Lanes off = load(in + c, count, mean) - mean;
        squares = fused(off, off, squares);
      });
      rstd[t] = 1 / std::sqrt(std::fma(fraction, sum(squares), kNormEpsilon));
    }
    for (Index t = first; t < end; ++t) {
      const Real *in = x.data + t * x.stride, mean = means[t - first], inverse = rstd[t];
      Real *z = normalized.data + t * normalized.stride, *out = y.data + t * y.stride;
      for_each<Wide>(x.cols, [&](Index c, auto count) {
        const Wide value = (load<Wide>(in + c, count, mean) - mean) * inverse;
        store(value, z + c, count);
        store(fused(value, load<Wide>(gain + c, count, 0), load<Wide>(bias + c, count, 0)), out + c, count);
      });
    }
  }
}

void layer_norm_backward(const Real* gain, const ConstRows& normalized, const Real* rstd, const ConstRows& d_y,
                         const Rows& d_x, Real* d_gain, Real* d_bias) {
  // With z the normalized row and g = gain * d_y:   d_x += (g - mean(g) - z mean(g z)) rstd
  const Real fraction = 1 / static_cast<Real>(d_y.cols);
  for (Index t = 0; t < d_y.rows; ++t) {
    const Real *z = normalized.data + t * normalized.stride, *d = d_y.data + t * d_y.stride;
    const Real inverse = rstd[t];
    Real* d_in = d_x.data + t * d_x.stride;
    Lanes total{}, along{};
    for_each_lanes(d_y.cols, [&](Index c, auto count) {
      const Lanes d_out = load(d + c, count, 0), value = load(z + c, count, 0);
      const Lanes g = d_out * load(gain + c, count, 0);
      total += g;
      along = fused(g, value, along);
      store(fused(d_out, value, load(d_gain + c, count, 0)), d_gain + c, count);
      store(load(d_bias + c, count, 0) + d_out, d_bias + c, count);
    });
    const Real mean = fraction * sum(total), slope = fraction * sum(along);
    for_each<Wide>(d_y.cols, [&](Index c, auto count) {
      const Wide g = load<Wide>(d + c, count, 0) * load<Wide>(gain + c, count, 0);
      const Wide off = fused(load<Wide>(z + c, count, 0), -slope, g - mean);
      store(fused(off, inverse, load<Wide>(d_in + c, count, 0)), d_in + c, count);
    });
  }
}

void gelu(const Rows& x, const Rows& y) {
  const Real scale = 2 * std::sqrt(2 / std::numbers::pi_v<Real>), cubic = scale * Real(0.044715);
  for (Index t = 0; t < x.rows; ++t) {
    Real *in = x.data + t * x.stride, *out = y.data + t * y.stride;
    for_each<Wide>(x.cols, [&](Index c, auto count) {
      const Wide value = load<Wide>(in + c, count, 0), square = value * value;
      const Wide open = sigmoid(value * fused(square, cubic, scale)), result = value * open;
      store(result, out + c, count);
      store(fused(fused(-result, open, result), fused(square, 3 * cubic, scale), open), in + c, count);
    });
  }
}

double cross_entropy(const ConstRows& logits, const int* targets, Real weight, const Rows& d_logits) {
  double loss = 0;
  for (Index n = 0; n < logits.rows; ++n) {
    const Real *in = logits.data + n * logits.stride, highest = largest_of(in, logits.cols);
    Real* d = d_logits.data + n * d_logits.stride;
    Lanes total{};
    for_each<Wide>(logits.cols, [&](Index c, auto count) {
      const Wide unnormalized = exponential(load<Wide>(in + c, count, -INFINITY) - highest);
      total = add(total, unnormalized);
      store(unnormalized, d + c, count);
    });
    const Real all = sum(total), scale = weight / all;
    loss += std::log(static_cast<double>(all)) + highest - in[targets[n]];
    for_each<Wide>(logits.cols,
                   [&](Index c, auto count) { store(load<Wide>(d + c, count, 0) * scale, d + c, count); });
    d[targets[n]] -= weight;
  }
  return loss;
}

void add_column_sums(const ConstRows& x, Real* sums) {
  if (x.rows == 0) return;
  for_each<Wide>(x.cols, [&](Index c, auto count) {
    const Real* in = x.data + c;
    const auto row = [&](Index t) { return load<Wide>(in + t * x.stride, count, 0); };
    Wide total = row(0);
    Index t = 1;
    for (; t + 4 <= x.rows; t += 4) total += (row(t) + row(t + 1)) + (row(t + 2) + row(t + 3));
    for (; t < x.rows; ++t) total += row(t);
    store(load<Wide>(sums + c, count, 0) + total, sums + c, count);
  });
}

/// Returns the sum over n of the terms of add(n, count, total), each of `count` lanes, in two alternating
/// accumulators.
template <class F>
Real sum_of(Index size, F add) {
  constexpr std::integral_constant<Index, kLanes> kAll;
  Lanes even{}, odd{};
  Index n = 0;
  for (; n + 2 * kLanes <= size; n += 2 * kLanes) {
    even = add(n, kAll, even);
    odd = add(n + kLanes, kAll, odd);
  }
  even += odd;
  if (n + kLanes <= size) {
    even = add(n, kAll, even);
    n += kLanes;
  }
  if (n < size) even = add(n, size - n, even);
  return sum(even);
}

Real dot(const Real* x, const Real* y, Index size) {
  return sum_of(size, [=](Index n, auto count, Lanes total) {
    return fused(load(x + n, count, 0), load(y + n, count, 0), total);
  });
}

template <class F>
void entrywise(const Real* x, Index size, Real* y, F f) {
  for_each<Wide>(size, [&](Index n, auto count) { store(f(load<Wide>(x + n, count, 0)), y + n, count); });
}

}  // namespace

const Kernels kernel_table{
    .multiply = multiply_kernel,
    .pack = pack_kernel,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .layer_norm = layer_norm,
    .layer_norm_backward = layer_norm_backward,
    .gelu = gelu,
    .cross_entropy = cross_entropy,
    .add_column_sums = add_column_sums,
    .sum =
        [](const Real* x, Index size) {
          return sum_of(size, [=](Index n, auto count, Lanes total) { return total + load(x + n, count, 0); });
        },
    .dot = dot,
    .exponential = [](const Real* x, Index size,
                      Real* y) { entrywise(x, size, y, [](Wide v) { return exponential(v); }); },
    .sigmoid = [](const Real* x, Index size,
                  Real* y) { entrywise(x, size, y, [](Wide v) { return sigmoid(v); }); },
    .softplus = [](const Real* x, Index size,
                   Real* y) { entrywise(x, size, y, [](Wide v) { return softplus(v); }); },
};

}  // namespace POSBENCH_ISA
}  // namespace posbench::inline POSBENCH_REAL
