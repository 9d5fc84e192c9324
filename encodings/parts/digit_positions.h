// Provides the base class of encodings with learned vectors for the positions that a task states: that of a digit
// in its number, or several coordinates.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "base/options.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// x_t += P[min(p_t, rows - 1)], where p_t is the decimal position of the digit at t, or 0 if token t is not a
/// digit. With coordinates, x_t += the sum of P_n[min(c_n(t), rows - 1)] over the coordinates c_n of token t. In
/// training, one random offset of each coordinate is added for the whole sequence.
class DigitPositions : public PositionEncoding {
 public:
  struct Options {
    int rows = 1024, max_offset = 99;
    void describe(OptionTable& o) {
      o.integer("rows", rows, 2, 1 << 20, "rows of the table; indices beyond it share the last row");
      o.integer("max_offset", max_offset, 0, 1 << 20, "largest random offset in training");
    }
  };

  /// Selects the tokens to whose positions the offset is added.
  enum class Moved { stated, all };  // stated: those with a position above 0

  /// Selects the positions that are read, and names their tables.
  struct Reading {
    std::string name;     // prefix of the tables: NAME.table, or NAME.table.N for coordinate N
    Moved digits;         // tokens whose digit positions get the offset; for coordinates it is always `stated`
    int coordinates = 0;  // number of coordinates; 0: digit positions are read
    bool shared = false;  // true: all coordinates read NAME.table
  };

  /// The tables start with deviation C^-0.5.
  DigitPositions(const Reading&, const Options&, const ModelConfig&, ParameterLayout&);

  Positions positions(const Sequence&, Rng&) const final;
  void embed(const Sequence&, const Parameters&, const Tables&, Matrix& x, Matrices&) const final;
  void embed_backward(const Sequence&, const Parameters&, const Tables&, const Matrix&, const Matrices&,
                      Matrix& d_x, Matrices&, Gradients&) const final;

 private:
  /// Returns positions with a random offset in training. `stated`: (T), or empty if all are 0.
  std::vector<Real> with_offset(const Sequence&, const std::vector<int>& stated, Moved, Rng&) const;
  Index row(const Sequence& s, size_t n, Index t) const {
    return std::min(static_cast<Index>(s.positions.coordinate(n)[t]), tables_[n].rows - 1);
  }

  Moved digits_;
  bool reads_coordinates_;
  int max_offset_;
  std::vector<Parameter> tables_;  // P (rows, C), or P_n for each coordinate
};

}  // namespace posbench::inline POSBENCH_REAL
