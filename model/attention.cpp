#include "model/attention.h"

#include <algorithm>

#include "model/kernels.h"
#include "model/lanes.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

Part computed_part(bool causal) { return causal ? Part::up_to_diagonal : Part::whole; }
MatrixOperand visible_pairs(const In& pairs, bool causal) {
  return causal ? lower_triangle(pairs) : MatrixOperand(pairs);
}

}  // namespace

void dot_product(const In& q, const In& k, Real scale, bool causal, Out scores) {
  multiply(q, k.transpose(), scores, scale, computed_part(causal));
}

void dot_product_backward(const In& q, const In& k, Real scale, bool causal, const In& d_scores, Out d_q,
                          Out d_k) {
  multiply_add(visible_pairs(d_scores, causal), k, d_q, scale);
  multiply_add(visible_pairs(d_scores, causal).transpose(), q, d_k, scale);
}

void zero_future_keys(bool causal, Out attention) {
  if (!causal) return;
  const Index length = attention.rows();
  for (Index i = 0; i < length; ++i) {
    Real* row = attention.row(i).data();
    const Index end = std::min(length, i + 1 + kBand);
    for (Index j = (i + 1) / kLanes * kLanes; j < end; j += kLanes) {
      const Index lanes = std::min(kLanes, length - j);
      store(j <= i ? load(row + j, i + 1 - j, 0) : Lanes{}, row + j, lanes);
    }
  }
}

void softmax(const In& scores, bool causal, Out attention) {
  kernels().softmax(rows(scores), causal, rows(attention));
}

void softmax_backward(const In& attention, bool causal, const In& d_attention, Out d_scores) {
  kernels().softmax_backward(rows(attention), causal, rows(d_attention), rows(d_scores));
}

void weighted_sum(const In& attention, const In& v, bool causal, Out output) {
  multiply(visible_pairs(attention, causal), v, output);
}

void weighted_sum_backward(const In& attention, const In& v, bool causal, const In& d_output, Out d_attention,
                           Out d_v) {
  multiply(d_output, v.transpose(), d_attention, 1, computed_part(causal));
  multiply_add(visible_pairs(attention, causal).transpose(), d_output, d_v);
}

}  // namespace posbench::inline POSBENCH_REAL
