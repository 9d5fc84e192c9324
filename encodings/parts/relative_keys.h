// A learned vector for each clipped distance, added to the keys: the common code of Shaw's encodings.
#pragma once
#include <string>

#include "encodings/parts/relative_rows.h"

namespace posbench {

/// score_h(i, j) += q_i . A[clip(j - i, -K, K) + K] / sqrt(D)
class RelativeKeys {
 public:
  /// One table (2 K + 1, D) called NAME.keys for all layers, or one for each; heads share it. N(0, D^-0.5).
  RelativeKeys(const std::string& name, Index clip, bool shared_table, const ModelShape&, ParameterLayout&);

  /// Stage 0: the row of A for each pair, constant.
  void rows(const Positions&, Tables&) const;
  void add(const AttentionInput&, Heads& scores) const;
  void add_backward(const AttentionInput&, const Heads& d_scores, AttentionGradient&) const;
  static const PairRows& pairs(const AttentionInput& in) { return in.tables.constants<PairRows>(); }

 private:
  const Parameter& table(int layer) const { return tables_[tables_.size() == 1 ? 0 : layer]; }
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(tables_[0].cols)); }

  bool causal_;
  Index clip_;                     // K
  std::vector<Parameter> tables_;  // one, or one for each layer
};

}  // namespace posbench
