// Provides the base class of TUPE-A and TUPE-R, with scores of positions with positions that are separate from
// content.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "base/options.h"
#include "encodings/parts/additive_bias.h"

namespace posbench::inline POSBENCH_REAL {

/// States the models in which the scores of token 0, the [CLS] of an encoder, are reset: they do not depend on
/// positions.
enum class Reset { bidirectional, always, never };

struct TupeOptions {
  int positions = 0;
  Reset reset = Reset::bidirectional;
  void describe(OptionTable& o) {
    o.integer("positions", positions, 0, 1 << 20,
              "number of positions with a vector; 0: the longest sequence of any split");
    o.choice("reset", reset, {"bidirectional", "always", "never"},
             "models in which the scores of token 0 do not depend on positions");
  }
};

/// score_h(i, j) = (q_i . k_j + (U_Q n_i)_h . (U_K n_j)_h) / sqrt(2 D),   n_t = LayerNorm(P[t]), with the reset
/// LayerNorm(P[t + 1])
///
/// P (N, C), or (N + 1, C) with the reset, U_Q, U_K (C, C) and their biases, and the normalization's gain and
/// bias, all shared by all layers. Positions beyond the table read its last row. With the reset, row 0 of the
/// product is one number for each head, and the rest of column 0 another. These are the products of row 0 of P
/// with itself and of row 1 with itself; the other tokens read the rows from 2 on.
class Tupe : public AdditiveBias {
 public:
  Tupe(const std::string& name, const TupeOptions&, const ModelConfig&, ParameterLayout&);

  bool learned() const final { return true; }
  void bias(const Parameters&, const Positions&, Matrices& bias) const override;
  void bias_backward(const Parameters&, const Positions&, const Matrices& d_bias, Gradients&) const override;

 protected:
  bool reset() const { return reset_; }

 private:
  /// The rows of P that a sequence reads, with their normalization and projections. With the reset, rows 0 and 1
  /// come first.
  struct Projected {
    std::vector<Index> rows;     // (R)
    Matrix normalized, y, q, k;  // (R, C)
    Matrix rstd;                 // (R, 1)
  };
  Projected project(const Parameters&, const Positions&) const;
  Real content_scale() const final { return 1 / std::sqrt(static_cast<Real>(2 * config_.head_width())); }

  bool reset_;
  Index rows_;                                     // N
  Parameter table_, gain_, shift_;                 // (N, C) or (N + 1, C); (1, C), (1, C)
  Parameter query_, query_bias_, key_, key_bias_;  // (C, C), (1, C)
};

}  // namespace posbench::inline POSBENCH_REAL
