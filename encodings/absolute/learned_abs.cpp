// Adds a learned vector for each position to the token embedding.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/registry.h"

namespace posbench::learned_abs {
namespace {

const EncodingInfo kInfo{
    .name = "learned_abs",
    .family = Family::absolute,
    .equation =
        "x_t += P[min(p_t, N - 1)],   P (N, C) learned, one table for the whole model\n"
        "axial=true: x_t += sum over n of P_n[min(c_n(t), N - 1)],   c_n(t) coordinate n of the position",
    .source = "Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2018, arXiv:1810.04805",
    .used_in = {"BERT", "RoBERTa", "GPT", "GPT-2", "GPT-3", "OPT"},
    .notes =
        "N is the longest sequence of any split, unless option positions sets it. Rows beyond the trained "
        "length keep their initial values. Positions beyond the table read its last row. The initial rows "
        "have deviation C^-0.5, as in CoPE's baseline. GPT-2 and BERT use 0.02 for these rows and for the "
        "token embeddings, which start with deviation 1 here. axial=true has a table for each coordinate that the task "
        "states, such as the column and the row of a cell. On a task without coordinates it is the same as without axial.",
    .learned = true,
    .takes_positions = TakesPositions::whole_positions,
    .extrapolates = Extrapolation::no,
    .relative = Relative::no,
    .content_dependent = "no",
    .variants = {"positions=5", "axial=true"},
};

class LearnedAbsolute final : public PositionEncoding {
 public:
  struct Options {
    int positions = 0;
    double deviation = 0;
    bool axial = false;
    bool chooses_positions() const { return axial; }
    void describe(OptionTable& o) {
      o.integer("positions", positions, 0, 1 << 20, "rows of the table; 0: the longest sequence of any split");
      o.number("deviation", deviation, 0, 10, "standard deviation of the initial rows; 0: C^-0.5");
      o.flag("axial", axial, "a table for each coordinate that the task states");
    }
  };

  LearnedAbsolute(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : PositionEncoding(config), reads_coordinates_(options.axial && config.coordinates > 0) {
    const Index rows = options.positions > 0 ? options.positions : config.longest;
    const double deviation = options.deviation > 0 ? options.deviation : 1 / std::sqrt(config.width);
    const int axes = reads_coordinates_ ? config.coordinates : 1;
    for (int n = 0; n < axes; ++n) {
      const std::string name = axes == 1 ? "learned_abs.table" : fmt::format("learned_abs.table.{}", n);
      tables_.push_back(layout.no_decay(layout.normal(name, rows, config.width, deviation)));
    }
  }

  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions positions = PositionEncoding::positions(s, rng);
    if (reads_coordinates_) positions.coordinates = stated_coordinates(s);
    return positions;
  }

  void embed(const Sequence& s, const Parameters& p, const Tables&, Matrix& x, Matrices&) const override {
    for (size_t n = 0; n < tables_.size(); ++n) {
      const auto table = p[tables_[n]];
      for (Index t = 0; t < x.rows(); ++t) x.row(t) += table.row(row(s, n, t));
    }
  }
  void embed_backward(const Sequence& s, const Parameters&, const Tables&, const Matrix&, const Matrices&,
                      Matrix& d_x, Matrices&, Gradients& d) const override {
    for (size_t n = 0; n < tables_.size(); ++n) {
      auto d_table = d[tables_[n]];
      for (Index t = 0; t < d_x.rows(); ++t) d_table.row(row(s, n, t)) += d_x.row(t);
    }
  }

 private:
  Index row(const Sequence& s, size_t n, Index t) const {
    return std::min(static_cast<Index>(s.positions.coordinate(n)[t]), tables_[n].rows - 1);
  }

  bool reads_coordinates_;
  std::vector<Parameter> tables_;  // (N, C), for each coordinate, or one
};

const RegisterEncoding<LearnedAbsolute> registered{kInfo};
const RegisterAliases aliases{kInfo.name, {"learned", "absolute", "ape"}};

}  // namespace
}  // namespace posbench::learned_abs
