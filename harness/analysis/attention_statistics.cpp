#include "harness/analysis/attention_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/hidden.h"

namespace posbench {
namespace {

const Matrix& find_map(const std::vector<AttentionMap>& maps, AttentionMap::Kind kind, size_t head) {
  for (const AttentionMap& map : maps) {
    if (map.kind == kind) return map.values.at(head);
  }
  throw std::logic_error("the layer has no map of this kind");
}

constexpr double kNegligible = 1e-5;   // difference of means that a float's rounding can cause
constexpr double kMajority = 3.0 / 4;  // of the pairs of distances

}  // namespace

std::string to_string(Locality locality) {
  switch (locality) {
    case Locality::none:
      return "-";
    case Locality::local:
      return "local";
    case Locality::anti_local:
      return "anti-local";
    case Locality::mixed:
      return "mixed";
  }
  return "";
}

const AttentionMap& PositionTerm::map_of(const std::vector<AttentionMap>& maps) {
  using Kind = AttentionMap::Kind;
  const auto find = [&](Kind kind) { return std::ranges::find(maps, kind, &AttentionMap::kind); };
  const auto of_embeddings = find(Kind::position_position);
  return of_embeddings != maps.end() ? *of_embeddings : *find(Kind::positional_part);
}

void PositionTerm::add(const Matrix& term, Index query, Index keys) {
  for (Index j = 0; j < keys; ++j) {
    Mean& mean = by_distance_[std::abs(query - j)];
    if (!is_hidden(term(query, j))) mean.add(term(query, j));
  }
}

Locality PositionTerm::locality() const {
  std::vector<double> means;  // by distance
  for (const auto& [distance, mean] : by_distance_)
    means.push_back(mean.count > 0 ? mean.value() : -std::numeric_limits<double>::infinity());
  std::int64_t nearer = 0, farther = 0;  // pairs with the greater mean at the smaller distance, and at the greater
  for (size_t near = 0; near < means.size(); ++near) {
    for (size_t far = near + 1; far < means.size(); ++far) {
      nearer += means[near] > means[far] + kNegligible;
      farther += means[far] > means[near] + kNegligible;
    }
  }
  const double majority = kMajority * static_cast<double>(nearer + farther);
  if (nearer + farther == 0) return Locality::none;
  if (static_cast<double>(nearer) >= majority) return Locality::local;
  return static_cast<double>(farther) >= majority ? Locality::anti_local : Locality::mixed;
}

void HeadStatistics::add(const std::vector<AttentionMap>& maps, size_t head, const Query& query) {
  using Kind = AttentionMap::Kind;
  const auto attention = find_map(maps, Kind::attention, head).row(query.at),
             score = find_map(maps, Kind::score, head).row(query.at),
             positional = find_map(maps, Kind::positional_part, head).row(query.at);
  const auto is_visible = [&](Index j) { return !is_hidden(score(j)); };
  position_term.add(PositionTerm::map_of(maps).values.at(head), query.at, query.keys);
  double entropy_of_query = 0;
  for (Index j = 0; j < query.keys; ++j) {
    const double a = attention(j);
    if (a > 0) entropy_of_query -= a * std::log(a);
    AtDistance& at = by_distance[query.at - j];
    at.attention.add(a);
    if (is_visible(j)) at.positional.add(positional(j));
  }
  entropy.add(entropy_of_query);
  if (!query.evidence) return;
  const Index evidence = *query.evidence, distance = std::abs(query.at - evidence);
  double mass_nearer = 0, mass_farther = 0;
  for (Index j = 0; j < query.keys; ++j) {
    if (j == evidence) continue;
    (std::abs(query.at - j) < distance ? mass_nearer : mass_farther) += attention(j);
  }
  on_evidence.add(attention(evidence));
  nearer.add(mass_nearer);
  farther.add(mass_farther);
  for (const AttentionMap& map : maps) {
    Part& part = parts[map.name];
    for (Index j = 0; j < query.keys; ++j)
      if (is_visible(j)) (j == evidence ? part.evidence : part.others).add(map.values[head](query.at, j));
  }
}

}  // namespace posbench
