// Adds a learned vector for each position to the token embedding.
#include <algorithm>
#include <cmath>

#include "encodings/aliases.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

const EncodingInfo kInfo{
    .name = "learned_abs",
    .family = Family::absolute,
    .equation = "x_t += P[min(p_t, N - 1)],   P (N, C) learned, one table for the whole model",
    .source = "Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2018, arXiv:1810.04805",
    .used_in = {"BERT", "RoBERTa", "GPT", "GPT-2", "GPT-3", "OPT"},
    .notes =
        "N is the longest sequence of any split, unless option positions sets it. Rows beyond the trained "
        "length keep their initial values. Positions beyond the table read its last row. The initial rows "
        "have deviation C^-0.5, as in CoPE's baseline. GPT-2 and BERT use 0.02 for these rows and for the "
        "token embeddings, which start with deviation 1 here.",
    .learned = true,
    .takes_positions = TakesPositions::whole_positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"positions=5"},
};

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

  LearnedAbsolute(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config) {
    const Index rows = options.positions > 0 ? options.positions : config.longest;
    const double deviation = options.deviation > 0 ? options.deviation : 1 / std::sqrt(config.width);
    table_ = layout.no_decay(layout.normal("learned_abs.table", rows, config.width, deviation));
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

const RegisterEncoding<LearnedAbsolute> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"learned", "absolute", "ape"}};

}  // namespace
}  // namespace posbench
