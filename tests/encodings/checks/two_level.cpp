// Reference checks of the encodings in encodings/two_level.
#include <string>
#include <vector>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns the segment of each token. Separators (token 0) end segments.
std::vector<int> segments(const Json& s) {
  std::vector<int> segments;
  int segment = 0;
  for (const int token : s.at("tokens_0_is_separator")) {
    segments.push_back(segment);
    segment += token == 0;
  }
  return segments;
}

Bench bipe(const Json& s, const std::string& spec, int heads) {
  const std::vector<int> ids = segments(s);
  Bench bench(spec, static_cast<int>(ids.size()), 4 * heads, heads, true);
  bench.sequence.segments = ids;
  bench.update();
  return bench;
}

void check_intra(const Json& s, const std::string& options, const Json& expected) {
  Bench rope = bipe(s, "bipe_rope" + options, 1), alibi = bipe(s, "bipe_alibi" + options, 1);
  check_close(embedded_rows(rope, "bipe_rope.intra"), expected);
  check_close(embedded_rows(alibi, "bipe_alibi.intra"), expected);
}

const RegisterChecks bipe_checks{
    "bipe",
    {{"tokens_0_is_separator"},
     {{"inter_segment_id",
       [](const Json& s) {
         const Bench bench = bipe(s, "bipe_rope", 1);
         const std::vector<double>& at = bench.sequence.positions.at;
         check_close(Eigen::Map<const EigenMatrix>(at.data(), 1, static_cast<Index>(at.size())),
                     s.at("inter_segment_id"));
       }},
      {"intra_segment_id", [](const Json& s) { check_intra(s, "", s.at("intra_segment_id")); }},
      {"intra_clamped_to_train_scale_3",
       [](const Json& s) { check_intra(s, ":rows=3", s.at("intra_clamped_to_train_scale_3")); }},
      {"bipe_alibi_bias_slope1_row_last",
       [](const Json& s) {  // One head has the slope 2^-8.
         Bench bench = bipe(s, "bipe_alibi:factor=256", 1);
         check_close(bench.score()[0].bottomRows(1), s.at("bipe_alibi_bias_slope1_row_last"));
       }},
      {"bipe_alibi_slopes_H4_times96", [](const Json& s) {  // The penalty of one segment is the slope.
         Bench bench = bipe(s, "bipe_alibi", 4);
         EigenMatrix slopes(1, 4);
         for (Index h = 0; h < 4; ++h) slopes(0, h) = -bench.score()[static_cast<size_t>(h)](9, 8);
         check_close(slopes, s.at("bipe_alibi_slopes_H4_times96"));
       }}}}};

}  // namespace
}  // namespace posbench
