// Provides the base class of the BiPE encodings, with a position of the token in its segment and one of the
// segment in the sequence.
#pragma once
#include <string>
#include <vector>

#include "encodings/parts/decorator.h"

namespace posbench::inline POSBENCH_REAL {

/// x_t += P[min(intra(t), rows - 1)]. In the inner, relative encoding token t has the position stride inter(t).
class Bilevel : public Decorator {
 public:
  /// P is called NAME.intra. Throws as make_encoding(inner, ...) does.
  Bilevel(const std::string& name, int rows, double stride, const Spec& inner, const ModelConfig&,
          ParameterLayout&);

  Positions positions(const Sequence&, Rng&) const final;
  void embed(const Sequence&, const Parameters&, const Tables&, Matrix& x, Matrices& recurrent_state) const final;
  void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables, Gradients&) const final;

 private:
  double stride_;
  Parameter intra_;  // P (rows, C)
};

}  // namespace posbench::inline POSBENCH_REAL
