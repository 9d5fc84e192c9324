// Provides the base class of encodings that add a learned vector for each clipped distance to the keys.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "encodings/parts/relative_rows.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

struct RelativeKeysOptions {
  int clip = 16;
  bool shared_table = false;
  void describe(OptionTable&);
};

/// score_h(i, j) = q_i . (k_j + A[clip(j - i, -K, K) + K]) / sqrt(D)
class RelativeKeys : public PositionEncoding {
 public:
  /// A is called NAME.keys, or NAME.keys.LAYER if layers do not share it. Its initial deviation is D^-0.5.
  RelativeKeys(const RelativeKeysOptions&, const std::string& name, const ModelConfig&, ParameterLayout&);

  void tables(const Parameters&, const Positions&, Tables&) const final;
  void score(const AttentionInput&, Heads& scores) const final;
  void score_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const final;

 protected:
  /// Returns tables (2K + 1, D) that heads share, one for all layers, or one for each.
  std::vector<Parameter> add_tables(std::string_view kind, double deviation, ParameterLayout&) const;
  /// Returns the rows of a table that pairs of a query and a key read.
  PairVectors pair_vectors(const In& table, const AttentionInput& in) const {
    return {table, in.tables.constants<PairRows>(), config_.causal, in.scratch};
  }

 private:
  std::string name_;
  Index clip_;  // K
  bool shared_table_;
  std::vector<Parameter> keys_;  // A
};

}  // namespace posbench::inline POSBENCH_REAL
