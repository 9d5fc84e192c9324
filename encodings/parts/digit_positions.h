// A learned vector for the position of a digit in its number: the common code of Abacus and position coupling.
#pragma once
#include <string>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench {

/// x_t += P[min(p_t, rows - 1)]: p_t is the decimal position of the digit at t, 0 where there is none or the task
/// marks none, plus, in training, one offset for the whole sequence.
class DigitPositions : public PositionEncoding {
 public:
  struct Options {
    int rows = 1024, max_offset = 99;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 2, 1 << 20, "rows of the table; indices beyond it share the last");
      o.integer("max_offset", max_offset, 0, 1 << 20, "in training, the offset is drawn from 0 up to this");
    }
  };

  /// Whether the offset moves the tokens that are no digits too.
  enum class Moved { digits, all };

  /// P is called NAME.table, (rows, C), N(0, C^-0.5).
  DigitPositions(const std::string& name, Moved, const Options&, const ModelShape&, ParameterLayout&);

  Positions positions(const Sequence&, Rng&) const final;
  void embed(const Sequence&, const Parameters&, const Tables&, Matrix& x, Matrices&) const final;
  void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix&, const Matrices&,
                      Matrix& d_x, Matrices&, Gradients&) const final;

 private:
  Index row(const Sequence& s, Index t) const {
    return std::min(static_cast<Index>(s.positions.at[t]), table_.rows - 1);
  }

  Moved moved_;
  int max_offset_;
  Parameter table_;
};

}  // namespace posbench
