// Learned absolute: a learned vector for each position, added to the token embedding.
//
//   x_t += P[min(p_t, N - 1)],   P (N, C), one table for the whole model
//
// Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2018, arXiv:1810.04805. N = 0 takes the longest sequence of
// any split: rows beyond the trained length exist and stay at their start, N(0, deviation); positions beyond the
// table read its last row. Deviation: 0.02 in GPT-2 and BERT beside embeddings of the same size, C^-0.5 in CoPE's
// baseline; ours start with deviation 1, so 0 (the default) takes C^-0.5.
#include "encodings/registry.h"

namespace posbench {
namespace {

class LearnedAbsolute final : public PositionEncoding {
 public:
  struct Options {
    int positions = 0;
    double deviation = 0;
    void describe(OptionTable& o) {
      o.integer("positions", positions, 0, 1 << 20, "rows of the table; 0: the longest sequence of any split");
      o.number("deviation", deviation, 0, 10, "standard deviation of the initial rows; 0: C^-0.5");
    }
  };

  LearnedAbsolute(const Options& options, const ModelShape& shape, ParameterLayout& layout)
      : PositionEncoding(shape) {
    const Index rows = options.positions > 0 ? options.positions : shape.longest;
    const double deviation = options.deviation > 0 ? options.deviation : 1 / std::sqrt(shape.width);
    table_ = layout.no_decay(layout.normal("learned_abs.table", rows, shape.width, deviation));
  }

  void embed(const Sequence& s, const Parameters& p, const Tables&, Matrix& x, Matrices&) const override {
    const auto table = p[table_];
    for (Index t = 0; t < x.rows(); ++t) x.row(t) += table.row(row(s, t));
  }
  void embed_backward(const Sequence& s, const Parameters&, const Tables&, const Matrix&, const Matrices&,
                      Matrix& d_x, Matrices&, Gradients& d) const override {
    auto d_table = d[table_];
    for (Index t = 0; t < d_x.rows(); ++t) d_table.row(row(s, t)) += d_x.row(t);
  }

 private:
  Index row(const Sequence& s, Index t) const {
    return std::min(static_cast<Index>(s.positions.at[t]), table_.rows - 1);
  }

  Parameter table_;  // (N, C)
};

const RegisterEncoding<LearnedAbsolute> registered{{
    .name = "learned_abs",
    .family = Family::absolute,
    .equation = "x_t += P[t],   P (N, C) learned",
    .source = "Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2018, arXiv:1810.04805",
    .notes =
        "Rows beyond the trained length exist and stay untrained; positions beyond the table read its last row.",
    .touches = "E",
    .learned = true,
    .takes_positions = TakesPositions::positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"positions=5"},
}};

}  // namespace
}  // namespace posbench
