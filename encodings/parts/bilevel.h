// Two levels of position, a token's in its segment and the segment's in the sequence: the common code of the BiPE
// encodings.
#pragma once
#include <string>

#include "encodings/parts/decorator.h"

namespace posbench {

/// f(token, inter, intra): the number of segments before the token's, and of tokens before it in its segment.
template <class F>
void for_each_position(const std::vector<int>& segments, F f) {
  int inter = 0, intra = 0;
  for (size_t t = 0; t < segments.size(); ++t) {
    const bool first = t > 0 && segments[t] != segments[t - 1];
    inter += first;
    intra = t == 0 || first ? 0 : intra + 1;
    f(static_cast<Index>(t), inter, intra);
  }
}

/// x_t += P[min(intra(t), rows - 1)]; in the inner, relative encoding token t has the position `stride` inter(t).
class Bilevel : public Decorator {
 public:
  /// P is called NAME.intra. Throws what making the inner encoding throws.
  Bilevel(const std::string& name, int rows, double stride, const Spec& inner, const ModelShape&,
          ParameterLayout&);

  Positions positions(const Sequence&, Rng&) const final;
  void embed(const Sequence&, const Parameters&, const Tables&, Matrix& x, Matrices& recurrent_state) const final;
  void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix& x,
                      const Matrices& d_recurrent_state, Matrix& d_x, Matrices& d_tables, Gradients&) const final;

 private:
  double stride_;
  Parameter intra_;  // (rows, C)
};

}  // namespace posbench
