#include "harness/runs/attention_statistics.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace posbench {
namespace {

const Matrix& find(const std::vector<AttentionMap>& maps, const std::string& name, size_t head) {
  for (const AttentionMap& map : maps) {
    if (map.name == name) return map.values.at(head);
  }
  throw std::logic_error("no map " + name);
}

}  // namespace

void HeadStatistics::add(const std::vector<AttentionMap>& maps, size_t head, const Query& query) {
  const auto attention = find(maps, "attention", head).row(query.at),
             score = find(maps, "score", head).row(query.at),
             positional = find(maps, "positional part", head).row(query.at);
  double entropy_of_query = 0;
  for (Index j = 0; j < query.keys; ++j) {
    const double a = attention(j);
    if (a > 0) entropy_of_query -= a * std::log(a);
    AtDistance& at = by_distance[query.at - j];
    at.attention.add(a);
    at.positional.add(positional(j));
  }
  entropy.add(entropy_of_query);
  if (!query.source) return;
  const Index source = *query.source, reach = std::abs(query.at - source);
  double mass_nearer = 0, mass_farther = 0;
  Mean content_nearer;
  for (Index j = 0; j < query.keys; ++j) {
    if (std::abs(j - source) <= kMaxOffset) by_offset[j - source].add(attention(j));
    if (j == source) continue;
    const bool is_nearer = std::abs(query.at - j) < reach;
    (is_nearer ? mass_nearer : mass_farther) += attention(j);
    if (is_nearer && j != query.at) content_nearer.add(score(j) - positional(j));
  }
  on_source.add(attention(source));
  nearer.add(mass_nearer);
  farther.add(mass_farther);
  if (content_nearer.count > 0) content_margin.add(score(source) - positional(source) - content_nearer.value());
  for (const AttentionMap& map : maps) {
    Part& part = parts[map.name];
    for (Index j = 0; j < query.keys; ++j)
      (j == source ? part.source : part.others).add(map.values[head](query.at, j));
    if (map.name == "contextual position" && query.distance)
      counts[*query.distance].push_back(map.values[head](query.at, source));
  }
}

std::optional<double> HeadStatistics::position_margin(Index farthest) const {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, largest = 0;
  for (const auto& [distance, at] : by_distance) {
    if (distance < 0 || distance > farthest) continue;
    const auto d = static_cast<double>(distance), p = at.positional.value();
    n += 1, x += d, y += p, xx += d * d, xy += d * p;
    largest = std::max(largest, std::abs(p));
  }
  if (n < 2 || largest == 0) return std::nullopt;
  return -(n * xy - x * y) / (n * xx - x * x);
}

std::optional<double> HeadStatistics::predicted_reach(Index farthest) const {
  const std::optional<double> margin = position_margin(farthest);
  if (!margin || *margin <= 0 || content_margin.count == 0 || content_margin.value() <= 0) return std::nullopt;
  return content_margin.value() / *margin;
}

}  // namespace posbench
