#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/presets.h"
#include "encodings/requirements.h"
#include "harness/commands/describe.h"
#include "harness/config/embedded_data.h"
#include "harness/console/read_reports.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "results/presentation/claims_text.h"
#include "results/presentation/encoding_card.h"

namespace posbench {
namespace {

/// Returns the registered encoding of a name on the board. Null if it is the user's.
const EncodingEntry* find_entry(const std::string& name) {
  const std::string base = spec_name(name);
  return encodings().contains(base) ? &encodings().find(base) : nullptr;
}

/// A registered fact: its key in JSON, its title in texts, which is empty if another text has it, and its value.
struct EncodingFact {
  const char* key;
  const char* title;
  Json value;
  bool is_first = false;  // a definition has it, and not the properties
};

std::vector<EncodingFact> facts_of(const EncodingInfo& info) {
  return {{"id", "", info.name},
          {"aliases", "also called", aliases_of(info.name), true},
          {"family", "", to_string(info.family)},
          {"equation", "", info.equation},
          {"source", "source", info.source, true},
          {"used_in", "used in", info.used_in, true},
          {"notes", "notes", info.notes},
          {"causal_only", "causal only", info.causal_only},
          {"learned", "learned", info.learned},
          {"extrapolates", "extrapolates", to_string(info.extrapolates)},
          {"relative", "relative", to_string(info.relative)},
          {"content_dependent", "content", info.content_dependent},
          {"distinct", "distinct", to_string(info.distinct)},
          {"distance_decay", "distance decay", to_string(info.distance_decay)},
          {"kernel", "kernel", to_string(kernel_of({info.name, {}}))},
          {"cacheable", "keys can be cached", to_string(cacheable({info.name, {}}))},
          {"cached", "cached besides them", cached_values({info.name, {}})},
          {"variants", "", info.variants}};
}

using Blocks = std::vector<Document::Block>;

void add(Blocks blocks, Blocks& to) { std::ranges::move(blocks, std::back_inserter(to)); }

std::string fact_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "));
}

/// Returns the facts that are shown first, or the others.
Facts select_facts(const EncodingInfo& info, bool is_first) {
  Facts facts;
  for (const EncodingFact& fact : facts_of(info)) {
    if (*fact.title != '\0' && fact.is_first == is_first)
      facts.facts.push_back({fact.title, fact_text(fact.value)});
  }
  return facts;
}

/// Returns the kernel of an encoding on the board, given "rope" or "rope (runs/mine)"; "-" if it is the user's.
std::string kernel_text(const std::string& row) {
  const std::string encoding = row.substr(0, row.find(" ("));
  return find_entry(encoding) == nullptr ? "-" : to_string(kernel_of(Spec::parse(encoding)));
}

/// Returns the keys of `list --json` and those of the results.
Json document_json(const std::string& name, const EncodingCard& card, const BoardTexts& texts) {
  const EncodingEntry* entry = find_entry(name);
  Json json = entry == nullptr ? Json{{"family", family_of(name)}} : to_json(*entry);
  json["encoding"] = name;
  json.update(to_json(card, texts));
  json["claims"] = Json::array();
  for (const ClaimFile* file : claims_about(name, encodings_of)) {
    json["claims"].push_back(
        {{"claim", file->claim.name},
         {"confirmation", confirmation_cell(stored_result(*file, ClaimSize::confirmation)).text},
         {"verdict", to_string(stored_result(*file, ClaimSize::reduced).verdict)},
         {"at_full_size", to_string(stored_result(*file, ClaimSize::full).verdict)},
         {"statement", file->claim.statement}});
  }
  return json;
}

}  // namespace

BoardResults make_board_results(BoardReport all) {
  Board board = make_board(all);
  std::vector<AspectTasks> aspects = tasks_by_aspect(all);
  return {.all = std::move(all), .board = std::move(board), .aspects = std::move(aspects), .texts = board_texts()};
}

BoardTexts board_texts() {
  const auto about = [](const std::string& spec) {
    const std::string name = spec_name(spec);
    if (!tasks().contains(name)) return std::string();
    const TaskInfo& info = tasks().find(name).info;
    return info.requirement.empty() ? info.definition : info.definition + " " + info.requirement;
  };
  return {.about = about,
          .family = family_of,
          .style = style_of,
          .cost_source = board_costs().source,
          .kernel = kernel_text};
}

std::vector<Document::Block> definition(const EncodingEntry& entry) {
  if (const Preset* preset = find_preset(entry.info.name)) {
    return {Facts{{{"spec", preset->spec},
                   {"models", preset->model},
                   {"source", preset->source},
                   {"pattern", preset->pattern},
                   {"here", preset->scaling}}}};
  }
  std::vector<std::string> options;
  for (const OptionInfo& option : entry.options) options.push_back(option.name + "=" + option.value);
  Facts facts = select_facts(entry.info, /*is_first=*/true);
  facts.facts.push_back({"defaults", fmt::format("{}", fmt::join(options, ", "))});
  return {Text{entry.info.equation, /*is_preformatted=*/true}, std::move(facts)};
}

std::vector<Document::Block> properties(const EncodingEntry& entry) {
  if (find_preset(entry.info.name)) return {};
  std::vector<Document::Block> blocks{select_facts(entry.info, /*is_first=*/false)};
  if (!entry.options.empty()) blocks.push_back(options_table(entry.options));
  return blocks;
}

std::string in_short(const EncodingInfo& info) {
  const std::vector<std::string> aliases = aliases_of(info.name);
  return fmt::format("{}{}{}", info.causal_only ? "causal only; " : "",
                     aliases.empty() ? "" : fmt::format("also {}; ", fmt::join(aliases, ", ")),
                     info.source.substr(0, info.source.find("; ")));
}

Document encoding_document(const std::string& name, const BoardResults& results) {
  const EncodingEntry* entry = find_entry(name);
  const auto card =
      std::make_shared<const EncodingCard>(make_card(name, results.all, results.board, results.aspects));
  Document document{.title = find_preset(name) ? name + " (preset)"
                             : entry == nullptr
                                 ? name + " (encoding, of a report)"
                                 : fmt::format("{} (encoding, {})", name, to_string(entry->info.family)),
                    .blocks = entry == nullptr ? Blocks{} : definition(*entry)};
  add(card_summary(*card), document.blocks);
  document.brief = document.blocks;
  document.rest = "results on each task, claims, properties and options, as far as there are any";
  add(card_details(*card), document.blocks);
  add_claims(claims_about(name, encodings_of), document);
  document.page_blocks = card_summary(*card);  // a page begins with the results
  document.page_blocks.insert(document.page_blocks.end(),
                              document.blocks.begin() + static_cast<std::ptrdiff_t>(document.brief.size()),
                              document.blocks.end());
  if (entry != nullptr) {
    add({Heading{"Definition"}}, document.page_blocks);
    add(definition(*entry), document.page_blocks);
    if (find_preset(name) == nullptr) {
      for (Blocks* blocks : {&document.blocks, &document.page_blocks}) {
        add({Heading{"Properties"}}, *blocks);
        add(properties(*entry), *blocks);
      }
    }
  }
  document.page = [card] { return card_page(*card); };
  document.json = [card, name, texts = results.texts] { return document_json(name, *card, texts); };
  return document;
}

Json to_json(const EncodingEntry& entry) {
  Json json;
  for (EncodingFact& fact : facts_of(entry.info)) json[fact.key] = std::move(fact.value);
  json["options"] = to_json(entry.options);
  return json;
}

}  // namespace posbench
