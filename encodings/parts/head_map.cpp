#include "encodings/parts/head_map.h"

#include <string>

#include "model/numeric.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {

HeadMap::HeadMap(const std::string& name, Index hidden, const ModelConfig& config, ParameterLayout& layout)
    : heads_(config.heads),
      up_(layout.constant(name + ".up", hidden, config.heads, 0)),
      gate_(layout.normal(name + ".gate", config.width, hidden, 0.02)),
      down_(layout.normal(name + ".down", config.heads, hidden, 0.02)) {}

HeadMap::Maps HeadMap::maps(const AttentionInput& in, const Matrix& feed_forward) const {
  const Index T = in.length(), E = up_.rows;
  const auto up = in.parameters[up_], down = in.parameters[down_];
  const Maps maps{in.scratch(T, E), in.scratch(E, heads_ * heads_), in.scratch(T, heads_ * heads_)};
  for (Index e = 0; e < E; ++e) head_map(maps.products, e).noalias() = down.col(e) * up.row(e);
  Matrix& gates = in.scratch(T, E);
  if (feed_forward.size() > 0) {
    multiply(feed_forward, in.parameters[gate_], maps.gate_logits);
  } else {
    maps.gate_logits.setZero();
  }
  sigmoid(maps.gate_logits, gates);
  gates.array() *= maps.gate_logits.array();
  multiply(gates, maps.products, maps.by_token);
  return maps;
}

void HeadMap::maps_backward(const AttentionInput& in, const Matrix& feed_forward, const Maps& maps,
                            const Matrix& d_by_token, Matrix& d_feed_forward, Gradients& d) const {
  const Index T = in.length(), E = up_.rows;
  const auto up = in.parameters[up_], down = in.parameters[down_];
  auto d_up = d[up_], d_down = d[down_];
  Matrix& gate_logits = maps.gate_logits;
  Matrix &open = in.scratch(T, E), &d_logits = in.scratch(T, E), &d_products = in.scratch(E, heads_ * heads_);
  sigmoid(gate_logits, open);
  multiply(d_by_token, maps.products.transpose(), d_logits);
  d_logits.array() *= open.array() * (1 + gate_logits.array() * (1 - open.array()));
  gate_logits.array() *= open.array();
  multiply(gate_logits.transpose(), d_by_token, d_products);
  for (Index e = 0; e < E; ++e) {
    const auto d_product = head_map(d_products, e);
    multiply_add(down.col(e).transpose(), d_product, d_up.row(e));
    multiply_add(d_product, up.row(e).transpose(), d_down.middleCols(e, 1));
  }
  if (feed_forward.size() == 0) return;
  multiply_add(feed_forward.transpose(), d_logits, d[gate_]);
  multiply_add(d_logits, in.parameters[gate_].transpose(), d_feed_forward);
}

void HeadMap::apply(const Maps& maps, Matrix& state, Matrix& next) const {
  for (Index t = 0; t < state.rows(); ++t) {
    by_head(next, t) = by_head(state, t);
    multiply_add(head_map(maps.by_token, t), by_head(state, t), by_head(next, t));
  }
}

void HeadMap::apply_backward(const Maps& maps, Matrix& state, Matrix& d_next, Matrix& d_state,
                             Matrix& d_by_token) const {
  d_state = d_next;
  for (Index t = 0; t < state.rows(); ++t) {
    multiply_add(by_head(d_next, t), by_head(state, t).transpose(), head_map(d_by_token, t));
    multiply_add(head_map(maps.by_token, t).transpose(), by_head(d_next, t), by_head(d_state, t));
  }
}

}  // namespace posbench::inline POSBENCH_REAL
