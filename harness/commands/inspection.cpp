#include "harness/commands/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "results/document/page.h"

namespace posbench {
namespace {

constexpr Index kMaxTokens = 160;  // of maps on a page, which have a cell for every pair

/// A head of a layer.
struct Head {
  size_t layer = 0, head = 0;
  std::string name() const { return head_name(layer, head); }
};

std::vector<Head> heads_of(const Inspection& inspection) {
  std::vector<Head> heads;
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    if (inspection.layers[layer].empty()) continue;
    const size_t count = inspection.layers[layer].front().values.size();
    for (size_t head = 0; head < count; ++head) heads.push_back({layer, head});
  }
  return heads;
}

std::string position_text(const Inspection& inspection, Index t) {
  return fmt::format("{} {}", t, inspection.tokens[static_cast<size_t>(t)]);
}

/// Returns the locality of a head over all queries of the example.
Locality locality(const Inspection& inspection, const Head& at) {
  PositionTerm term;
  const Matrix& values = PositionTerm::map_of(inspection.layers[at.layer]).values[at.head];
  for (Index i = 0; i < inspection.length(); ++i) term.add(values, i, inspection.keys(i));
  return term.locality();
}

Table head_table(const Inspection& inspection) {
  Table table{.columns = {{"head"}, {"position term"}}};
  for (const Head& head : heads_of(inspection))
    table.rows.push_back({head.name(), to_string(locality(inspection, head))});
  return table;
}

/// Returns the table of a head, with a row for each key that the query sees.
Table key_table(const Inspection& inspection, const Head& at, Index query) {
  const std::vector<AttentionMap>& maps = inspection.layers[at.layer];
  Table table{.columns = {{"key"}}};
  for (const AttentionMap& map : maps) table.columns.push_back({map.name, Align::right});
  for (Index key = 0; key < inspection.keys(query); ++key) {
    table.rows.push_back({position_text(inspection, key)});
    for (const AttentionMap& map : maps)
      table.rows.back().push_back(fmt::format("{:.3f}", map.values[at.head](query, key)));
  }
  return table;
}

Json to_json(const Inspection& inspection) {
  Json json{{"task", inspection.id.task},      {"encoding", inspection.id.encoding}, {"seed", inspection.id.seed},
            {"split", inspection.split},       {"words", inspection.tokens},         {"scored", inspection.scored},
            {"expected", inspection.expected}, {"answered", inspection.answered},    {"maps", Json::array()},
            {"heads", Json::array()}};
  for (const Head& at : heads_of(inspection)) {
    for (const AttentionMap& map : inspection.layers[at.layer]) {
      Json rows = Json::array();
      for (Index i = 0; i < inspection.length(); ++i) {
        Json row = Json::array();
        for (Index j = 0; j < inspection.keys(i); ++j) row.push_back(round_for_page(map.values[at.head](i, j)));
        rows.push_back(std::move(row));
      }
      json["maps"].push_back(
          {{"layer", at.layer}, {"head", at.head}, {"name", map.name}, {"values", std::move(rows)}});
    }
    json["heads"].push_back(
        {{"layer", at.layer}, {"head", at.head}, {"position_term", locality_json(locality(inspection, at))}});
  }
  return json;
}

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
          {position_text(inspection, i), position_text(inspection, j), round_for_page(values(i, j))});
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
            .title = fmt::format("Layer {}: {} of query {}", layer, map.name, position_text(inspection, query)),
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
  Section section{fmt::format("Query {}", position_text(inspection, query)),
                  "The position term and the attention of one query, by the position of the key.",
                  {}};
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    const std::vector<AttentionMap>& maps = inspection.layers[layer];
    if (maps.empty()) continue;
    const auto attention = std::ranges::find(maps, AttentionMap::Kind::attention, &AttentionMap::kind);
    for (const AttentionMap* map : {&PositionTerm::map_of(maps), &*attention})
      section.plots.push_back(query_plot(inspection, layer, *map, query));
  }
  return section;
}

/// Returns the example, its answers, and an explanation of the maps, each as a paragraph.
std::vector<std::string> make_notes(const Inspection& inspection) {
  std::vector<std::string> notes{fmt::format("{} on {}, seed {}, an example of {}", inspection.id.encoding,
                                             inspection.id.task, inspection.id.seed, inspection.split)};
  if (!inspection.unfinished_run.empty()) notes.push_back(inspection.unfinished_run);
  for (size_t n = 0; n < inspection.scored.size(); ++n) {
    notes.push_back(fmt::format("at {}: the answer is {}, the model predicts {}",
                                position_text(inspection, inspection.scored[n]), inspection.expected[n],
                                inspection.answered[n]));
  }
  notes.push_back(
      "score = content + positional part. The content term is q k with the scale of the encoding; positions in the embeddings "
      "are part of q and k.");
  const std::vector<AttentionMap>& first = inspection.layers.front();
  if (!first.empty() && PositionTerm::map_of(first).kind == AttentionMap::Kind::position_position) {
    notes.push_back(
        "In layer 0 the four terms are those of E and P, the token embeddings and the positions that the encoding adds to them. The "
        "divisor of each row's norm is that of E + P. The four terms sum to the score.");
  }
  return notes;
}

Page make_page(const Inspection& inspection, Index query) {
  Page page{.title = fmt::format("Scores and attention of {}", inspection.id.encoding),
            .items = {.plural = "heads", .tasks = {inspection.id.task}},
            .sections = {query_section(inspection, query)}};
  for (const Head& head : heads_of(inspection)) {
    page.items.names.push_back(head.name());
    page.items.families.push_back(fmt::format("layer {}", head.layer));
  }
  if (inspection.length() > kMaxTokens) {
    page.notes.push_back(fmt::format(
        "The example has {} tokens. The maps of all queries are shown for up to {} tokens; --query chooses "
        "another query, and --format json has all.",
        inspection.length(), kMaxTokens));
    return page;
  }
  for (size_t layer = 0; layer < inspection.layers.size(); ++layer) {
    for (const AttentionMap& map : inspection.layers[layer]) {
      Section section{fmt::format("Layer {}: {}", layer, map.name), "", {}};
      for (size_t head = 0; head < map.values.size(); ++head)
        section.plots.push_back(map_plot(inspection, layer, head, map));
      page.sections.push_back(std::move(section));
    }
  }
  return page;
}

}  // namespace

Json locality_json(Locality locality) {
  return locality == Locality::none ? Json(nullptr) : Json(to_string(locality));
}

std::string head_name(size_t layer, size_t head) { return fmt::format("layer {}, head {}", layer, head); }

Document make_inspection_document(Inspection inspected, Index query) {
  const auto inspection = std::make_shared<const Inspection>(std::move(inspected));
  Document document;
  for (std::string& note : make_notes(*inspection)) document.blocks.emplace_back(Text{std::move(note)});
  document.blocks.emplace_back(Heading{"Heads"});
  document.blocks.emplace_back(head_table(*inspection));
  document.page_blocks = document.blocks;  // its plots replace the tables of the keys
  document.page_blocks.emplace_back(Note{kLocalityRule});
  for (const Head& head : heads_of(*inspection)) {
    document.blocks.emplace_back(
        Heading{fmt::format("{}, query {}", head.name(), position_text(*inspection, query))});
    document.blocks.emplace_back(key_table(*inspection, head, query));
  }
  document.page = [=] { return make_page(*inspection, query); };
  document.json = [=] { return to_json(*inspection); };
  return document;
}

}  // namespace posbench
