// The index of each token: two levels, positions of digits, random draws.
#include <fmt/format.h>

#include <algorithm>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// The segments that separators (token 0) end, one after the other.
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

/// The row of its table that each token reads: row n is n.
RowMajor embedded_indices(Bench& bench, const std::string& table) {
  MatrixView rows = bench.learned(table);
  for (Index n = 0; n < rows.rows(); ++n) rows.row(n).setConstant(static_cast<Real>(n));
  Matrix x(bench.x);
  bench.encoding->embed(bench.sequence, bench.parameters, bench.tables, x, bench.recurrent_state);
  return x.col(0).transpose();
}

void check_intra(const Json& s, const std::string& options, const Json& expected) {
  Bench rope = bipe(s, "bipe_rope" + options, 1), alibi = bipe(s, "bipe_alibi" + options, 1);
  check_close(embedded_indices(rope, "bipe_rope.intra"), expected);
  check_close(embedded_indices(alibi, "bipe_alibi.intra"), expected);
}

const RegisterChecks bipe_checks{
    "bipe",
    {{"tokens_0_is_separator"},
     {{"inter_segment_id",
       [](const Json& s) {
         const Bench bench = bipe(s, "bipe_rope", 1);
         const std::vector<double>& at = bench.sequence.positions.at;
         check_close(Eigen::Map<const RowMajor>(at.data(), 1, static_cast<Index>(at.size())),
                     s.at("inter_segment_id"));
       }},
      {"intra_segment_id", [](const Json& s) { check_intra(s, "", s.at("intra_segment_id")); }},
      {"intra_clamped_to_train_scale_3",
       [](const Json& s) { check_intra(s, ":rows=3", s.at("intra_clamped_to_train_scale_3")); }},
      {"bipe_alibi_bias_slope1_row_last",
       [](const Json& s) {  // one head has the slope 2^-8
         Bench bench = bipe(s, "bipe_alibi:factor=256", 1);
         check_close(bench.score()[0].bottomRows(1), s.at("bipe_alibi_bias_slope1_row_last"));
       }},
      {"bipe_alibi_slopes_H4_times96", [](const Json& s) {  // the penalty of one segment
         Bench bench = bipe(s, "bipe_alibi", 4);
         RowMajor slopes(1, 4);
         for (Index h = 0; h < 4; ++h) slopes(0, h) = -bench.score()[static_cast<size_t>(h)](9, 8);
         check_close(slopes, s.at("bipe_alibi_slopes_H4_times96"));
       }}}}};

/// The section's tokens with the position of each digit in its run.
Sequence digits(const Json& s, bool training) {
  Sequence sequence;
  sequence.training = training;
  int position = 0;
  for (const Json& token : s.at("tokens")) {
    position = std::isdigit(token.get<std::string>()[0]) ? position + 1 : 0;
    sequence.digit_positions.push_back(position);
    sequence.tokens.push_back(0);
  }
  return sequence;
}

const RegisterChecks abacus{"abacus",
                            {{"tokens"},
                             {{"ids_eval",
                               [](const Json& s) {
                                 Bench bench("abacus", 10, 4, 1, true);
                                 bench.sequence = digits(s, false);
                                 bench.update();
                                 check_close(embedded_indices(bench, "abacus.table"), s.at("ids_eval"));
                               }},
                              {"ids_train_offset_k5", [](const Json& s) {  // among the draws, the one of 5
                                 Bench bench("abacus:max_offset=7", 10, 4, 1, true);
                                 bench.sequence = digits(s, true);
                                 Rng rng = stream(0, "abacus");
                                 std::vector<int> seen(8);
                                 for (int draw = 0; draw < 200; ++draw) {
                                   bench.sequence.positions = bench.encoding->positions(bench.sequence, rng);
                                   const int offset = static_cast<int>(bench.sequence.positions.at[0]) - 1;
                                   REQUIRE(offset >= 0);
                                   REQUIRE(offset <= 7);
                                   ++seen[static_cast<size_t>(offset)];
                                   if (offset == 5)
                                     check_close(embedded_indices(bench, "abacus.table"),
                                                 s.at("ids_train_offset_k5"));
                                 }
                                 CHECK(*std::min_element(seen.begin(), seen.end()) > 0);
                               }}}}};

/// Distances between tokens at these positions, query minus key.
RowMajor distances(const Positions& positions) {
  RowMajor d(positions.size(), positions.size());
  for (Index i = 0; i < d.rows(); ++i) {
    for (Index j = 0; j < d.cols(); ++j) d(i, j) = positions.distance(i, j);
  }
  return d;
}

/// Draws are ascending, distinct and cover first .. L - 1, from index `from` on.
void check_draws(const std::string& spec, int L, int from) {
  const Bench bench(spec, 4, 4, 1, false, 4);
  Rng rng = stream(0, "draws");
  std::vector<int> seen(static_cast<size_t>(L));
  for (int draw = 0; draw < 200; ++draw) {
    const Positions positions = bench.encoding->positions(bench.sequence, rng);
    REQUIRE(positions.size() == 4);
    for (Index t = from; t < 4; ++t) {
      REQUIRE((t == 0 || positions.at[t] > positions.at[t - 1]));
      ++seen.at(static_cast<size_t>(positions.at[t]));
    }
  }
  CHECK(*std::min_element(seen.begin() + from, seen.end()) > 0);
}

const RegisterChecks randomized{
    "randomized",
    {{"sorted_sample"},
     {{"L",
       [](const Json& s) {
         const int L = s.at("L");
         check_draws(fmt::format("randomized:max={}", L), L, 0);
         check_draws(fmt::format("randomized:base=shaw_k,sampling=distances,max={}", L), L, 1);
       }},
      {"remap_difference_pi_minus_pj",
       [](const Json& s) {
         check_close(distances({.at = numbers(s.at("sorted_sample"))}), s.at("remap_difference_pi_minus_pj"));
       }},
      {"official_relative_alibi", [](const Json& s) {
         const Json& expected = s.at("official_relative_alibi");
         Bench bench(
             fmt::format("randomized:base=(alibi:sides=offset),sampling=distances,max={}", s.at("L").dump()), 4, 4,
             1, false, 4);
         Positions& positions = bench.sequence.positions;
         REQUIRE(positions.sampled_distances);
         positions.at = numbers(expected.at("sorted_distance_sample_s1_s3"));
         positions.at.insert(positions.at.begin(), 0);
         check_close(-distances(positions), expected.at("key_minus_query_signed"));
         bench.encoding->tables(bench.parameters, positions, bench.tables);
         check_close(256 * bench.score()[0],
                     expected.at("alibi_slope1_with_half_offset"));  // one head has the slope 2^-8
       }}}}};

}  // namespace
}  // namespace posbench
