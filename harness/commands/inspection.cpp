#include "harness/commands/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "results/document/page.h"

namespace posbench {
namespace {

constexpr Index kMaxTokens = 160;  // of maps on a page, which have a cell for every pair

/// Returns the values of the first and the last color of a map. Early queries have all their attention on few
/// keys, so the largest hundredth of the attention is ignored.
std::pair<double, double> color_range(AttentionMap::Kind kind, std::vector<double> values) {
  if (kind == AttentionMap::Kind::gate) return {0, 1};
  std::sort(values.begin(), values.end());
  if (values.empty()) return {0, 1};
  const bool is_attention = kind == AttentionMap::Kind::attention;
  const double low = is_attention ? 0 : values.front();
  const double high = is_attention ? values[(values.size() - 1) * 99 / 100] : values.back();
  return low < high ? std::pair(low, high) : std::pair(low - 0.5, low + 0.5);
}

Plot map_plot(const Inspection& inspection, size_t layer, size_t head, const AttentionMap& map) {
  const std::string& name = map.name;
  const Matrix& values = map.values[head];
  Plot plot{.kind = "heat",
            .title = fmt::format("Layer {}, head {}: {}", layer, head, name),
            .columns = {{"row", "query"}, {"column", "key"}, {"value", name}}};
  std::vector<double> finite;
  for (Index i = 0; i < inspection.length(); ++i) {
    for (Index j = 0; j < inspection.keys(i); ++j) {
      if (std::isfinite(values(i, j))) finite.push_back(values(i, j));
      plot.rows.push_back(
          {inspection.position_text(i), inspection.position_text(j), round_for_page(values(i, j))});
    }
  }
  const auto [low, high] = color_range(map.kind, std::move(finite));
  if (map.kind == AttentionMap::Kind::attention)
    plot.about = fmt::format("Values from {:.2f} on have one color.", high);
  plot.signals = {{"labels", false},
                  {"domain", {round_for_page(low), round_for_page(high)}},
                  {"x_title", "key"},
                  {"y_title", "query"}};
  plot.details = {{"pairs", true}};
  return plot;
}

/// Returns a curve for each head of a layer: the values of one query by key. Hidden keys have none. Without a
/// value other than 0 the plot has no rows.
Plot query_plot(const Inspection& inspection, size_t layer, const AttentionMap& map, Index query) {
  Plot plot{.kind = "curve",
            .title = fmt::format("Layer {}: {} of query {}", layer, map.name, inspection.position_text(query)),
            .columns = {{"name", "head"}, {"x", "key"}, {"y", map.name}, {"token", "token"}, {"values", "value"}},
            .details = {{"task", inspection.id.task}}};
  double smallest = 0, largest = 0;
  for (size_t head = 0; head < map.values.size(); ++head) {
    for (Index j = 0; j < inspection.keys(query); ++j) {
      const double value = map.values[head](query, j);
      if (!std::isfinite(value)) continue;
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
      plot.rows.push_back({head_name(layer, head), j, round_for_page(value),
                           inspection.tokens[static_cast<size_t>(j)], Json::array({round_for_page(value)})});
    }
  }
  if (smallest == largest) plot.rows = Json::array();
  plot.signals = {{"x_title", "key"},
                  {"y_title", map.name},
                  {"least", round_for_page(smallest)},
                  {"greatest", round_for_page(largest)}};
  return plot;
}

Section query_section(const Inspection& inspection, Index query) {
  Section section{fmt::format("Query {}", inspection.position_text(query)),
                  "The position term and the attention of one query, by the position of the key.",
                  {}};
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    const std::vector<AttentionMap>& maps = inspection.layers[layer];
    const auto attention = std::ranges::find(maps, AttentionMap::Kind::attention, &AttentionMap::kind);
    for (const AttentionMap* map : {&PositionTerm::map_of(maps), &*attention}) {
      Plot plot = query_plot(inspection, layer, *map, query);
      if (!plot.rows.empty()) section.plots.push_back(std::move(plot));
    }
  }
  return section;
}

Section head_section(const Inspection& inspection) {
  Plot plot{.kind = "table",
            .title = "Heads",
            .about = kLocalityRule,
            .columns = {{"cell", "head"}, {"cell", "position term"}}};
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head)
      plot.rows.push_back({head_name(layer, head), to_string(inspection.locality(layer, head))});
  }
  return {"Heads", "", {std::move(plot)}};
}

}  // namespace

Json locality_json(Locality locality) {
  return locality == Locality::none ? Json(nullptr) : Json(to_string(locality));
}

std::string Inspection::position_text(Index t) const {
  return fmt::format("{} {}", t, tokens[static_cast<size_t>(t)]);
}

Locality Inspection::locality(size_t layer, size_t head) const {
  PositionTerm term;
  const Matrix& values = PositionTerm::map_of(layers[layer]).values[head];
  for (Index i = 0; i < length(); ++i) term.add(values, i, keys(i));
  return term.locality();
}

std::string head_name(size_t layer, size_t head) { return fmt::format("layer {}, head {}", layer, head); }

std::vector<std::string> make_notes(const Inspection& inspection) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}, an example of {}", inspection.id.encoding,
                                             inspection.id.task, inspection.id.seed, inspection.split)};
  if (!inspection.unfinished_run.empty()) notes.push_back(inspection.unfinished_run);
  for (size_t n = 0; n < inspection.scored.size(); ++n) {
    notes.push_back(fmt::format("at {}: the answer is {}, the model predicts {}",
                                inspection.position_text(inspection.scored[n]), inspection.expected[n],
                                inspection.answered[n]));
  }
  notes.push_back(
      "score = content + positional part. The content term is q k with the scale of the encoding; positions in the embeddings "
      "are part of q and k.");
  const AttentionMap& term = PositionTerm::map_of(inspection.layers.front());
  if (term.kind == AttentionMap::Kind::position_position) {
    notes.push_back(
        "In layer 0 the four terms are those of E and P, the token embeddings and the positions that the encoding adds to them. The "
        "divisor of each row's norm is that of E + P. The four terms sum to the score.");
  }
  return notes;
}

std::string make_page(const Inspection& inspection, Index query) {
  Page page{.title = fmt::format("Scores and attention of {}", inspection.id.encoding),
            .notes = make_notes(inspection),
            .items = {.plural = "heads", .tasks = {inspection.id.task}}};
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (size_t head = 0; head < inspection.num_heads(layer); ++head) {
      page.items.names.push_back(head_name(layer, head));
      page.items.families.push_back(fmt::format("layer {}", layer));
    }
  }
  page.sections = {head_section(inspection), query_section(inspection, query)};
  if (inspection.length() > kMaxTokens) {
    page.notes.push_back(fmt::format(
        "The example has {} tokens. The maps of all queries are shown for up to {} tokens; --query chooses "
        "another query, and --format json has all.",
        inspection.length(), kMaxTokens));
    return to_html(page);
  }
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (const AttentionMap& map : inspection.layers[layer]) {
      Section section{fmt::format("Layer {}: {}", layer, map.name), "", {}};
      for (size_t head = 0; head < map.values.size(); ++head)
        section.plots.push_back(map_plot(inspection, layer, head, map));
      page.sections.push_back(std::move(section));
    }
  }
  return to_html(page);
}

}  // namespace posbench
