// Provides the base class of encodings with a learned vector for the position of a digit in its number.
#pragma once
#include <algorithm>
#include <string>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench {

/// x_t += P[min(p_t, rows - 1)], where p_t is the decimal position of the digit at t, or 0 if token t is not a
/// digit. In training, one random offset is added for the whole sequence.
class DigitPositions : public PositionEncoding {
 public:
  struct Options {
    int rows = 1024, max_offset = 99;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 2, 1 << 20, "rows of the table; indices beyond it share the last row");
      o.integer("max_offset", max_offset, 0, 1 << 20, "largest random offset in training");
    }
  };

  /// States the tokens to whose position the offset is added.
  enum class Moved { digits, all };

  /// P is called NAME.table and starts with deviation C^-0.5.
  DigitPositions(const std::string& name, Moved, const Options&, const ModelConfig&, ParameterLayout&);

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
  Parameter table_;  // P (rows, C)
};

}  // namespace posbench
