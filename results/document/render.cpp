#include "results/document/render.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "results/document/page.h"
#include "results/document/wrap.h"

namespace posbench {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

/// Joins the blocks with blank lines. Notes that follow each other have no blank line between them if
/// `joins_notes`. Empty texts are left out.
template <class Render>
std::string join_blocks(const Document& document, bool joins_notes, Render render) {
  std::string text;
  bool was_note = false;
  for (const Document::Block& block : document.blocks) {
    const std::string part = std::visit(render, block);
    if (part.empty()) continue;
    const bool is_note = std::holds_alternative<Note>(block);
    if (!text.empty() && !(joins_notes && was_note && is_note)) text += '\n';
    text += part;
    was_note = is_note;
  }
  return text;
}

std::string console_facts(const Facts& facts, int width) {
  constexpr size_t kColumn = 16;
  std::string text;
  for (const Fact& fact : facts.facts) {
    if (fact.value.empty()) continue;
    const std::string value = to_printable_lines(fact.value);
    text += fmt::format("{:<15} {}\n", fact.name + ":",
                        width == 0 ? indent_lines(value, kColumn) : wrapped_lines(value, kColumn, width));
  }
  return text;
}

std::string console_lines(const Text& text, int width) {
  constexpr size_t kIndent = 4;
  const std::string lines = to_printable_lines(text.text);
  return std::string(kIndent, ' ') +
         (width == 0 ? indent_lines(lines, kIndent) : wrapped_lines(lines, kIndent, width)) + "\n";
}

/// Returns the tables of a document.
std::vector<const Table*> tables_of(const Document& document) {
  std::vector<const Table*> tables;
  for (const Document::Block& block : document.blocks) {
    if (const Table* table = std::get_if<Table>(&block)) tables.push_back(table);
  }
  return tables;
}

}  // namespace

void add_notes(const std::vector<std::string>& texts, std::vector<Document::Block>& blocks) {
  for (const std::string& text : texts) blocks.push_back(Note{text});
}

Json to_json(const Table& table) {
  Json rows = Json::array();
  for (const std::vector<Cell>& cells : table.rows) {
    Json row = Json::object();
    for (size_t column = 0; column < cells.size(); ++column)
      row[table.columns[column].header] = cells[column].text;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_console_text(const Document& document, const ConsoleStyle& style) {
  const auto paragraph = [&](const std::string& text, size_t indent) {
    const std::string printable = to_printable(text);
    return (style.width == 0 ? printable : wrap_text(printable, indent, style.width)) + "\n";
  };
  const std::string text = join_blocks(
      document, true,
      Overloaded{[&](const Heading& heading) { return paragraph(heading.text, 0); },
                 [&](const Text& text) {
                   return text.is_preformatted ? console_lines(text, style.width) : paragraph(text.text, 0);
                 },
                 [&](const Facts& facts) { return console_facts(facts, style.width); },
                 [&](const Table& table) { return table.rows.empty() ? "" : to_console_text(table, style); },
                 [&](const Note& note) { return paragraph(note.text, 2); }});
  return document.title.empty() ? text : paragraph(document.title, 0) + "\n" + text;
}

std::string to_markdown(const Document& document) {
  const std::string text =
      join_blocks(document, false,
                  Overloaded{[](const Heading& heading) { return "## " + escape_markdown(heading.text) + "\n"; },
                             [](const Text& text) {
                               return text.is_preformatted ? "    " + indent_lines(text.text, 4) + "\n"
                                                           : escape_markdown(text.text) + "\n";
                             },
                             [](const Facts& facts) {
                               std::string lines;
                               for (const Fact& fact : facts.facts) {
                                 if (fact.value.empty()) continue;
                                 lines += fmt::format("* **{}**: {}\n", escape_markdown(fact.name),
                                                      escape_markdown(fact.value));
                               }
                               return lines;
                             },
                             [](const Table& table) { return table.rows.empty() ? "" : to_markdown(table); },
                             [](const Note& note) { return escape_markdown(note.text) + "\n"; }});
  return document.title.empty() ? text : fmt::format("# {}\n\n{}", escape_markdown(document.title), text);
}

std::string to_latex(const Document& document) {
  const auto comment = [](const std::string& text) {
    std::string lines = "% ";
    for (const char c : to_printable_lines(text)) lines += c == '\n' ? "\n% " : std::string(1, c);
    return lines + "\n";
  };
  const auto facts = [&](const Facts& facts) {
    std::string lines;
    for (const Fact& fact : facts.facts) lines += fact.value.empty() ? "" : comment(fact.name + ": " + fact.value);
    return lines;
  };
  const bool has_paper = static_cast<bool>(document.paper);
  const std::string text = join_blocks(
      document, true,
      Overloaded{[&](const Heading& heading) { return comment(heading.text); },
                 [&](const Text& text) { return comment(text.text); }, facts,
                 [&](const Table& table) { return has_paper || table.rows.empty() ? "" : to_latex(table); },
                 [&](const Note& note) { return comment(note.text); }});
  return (document.title.empty() ? "" : comment(document.title)) + (has_paper ? to_latex(document.paper()) : "") +
         text;
}

std::string to_html(const Document& document) { return to_html(make_page(document)); }

std::string to_plots(const Document& document) { return to_compact_json(plots_json(make_page(document))) + "\n"; }

std::string to_csv(const Document& document) {
  if (document.rows) return to_csv(document.rows());
  const std::vector<const Table*> tables = tables_of(document);
  if (tables.size() == 1) return to_csv(*tables.front());
  throw InputError("this output has no rows for csv; use --format console or json, or another one of --help");
}

std::string to_json_text(const Document& document) {
  if (const std::optional<JsonList>& list = document.json_list) {
    std::string text;
    write_indented_json(document.json(), list->key, list->count, list->item,
                        [&](std::string_view piece) { text += piece; });
    return text;
  }
  if (document.json) return to_indented_json(document.json());
  Json json = {
      {"title", document.title}, {"texts", Json::array()}, {"facts", Json::array()}, {"tables", Json::array()}};
  const Overloaded add{[&](const Heading& heading) { json["texts"].push_back(heading.text); },
                       [&](const Text& text) { json["texts"].push_back(text.text); },
                       [&](const Facts& facts) {
                         for (const Fact& fact : facts.facts)
                           json["facts"].push_back({{"name", fact.name}, {"value", fact.value}});
                       },
                       [&](const Table& table) { json["tables"].push_back(to_json(table)); },
                       [&](const Note& note) { json["texts"].push_back(note.text); }};
  for (const Document::Block& block : document.blocks) std::visit(add, block);
  return to_indented_json(json);
}

const std::vector<Format>& formats() {
  static const std::vector<Format> formats{
      {"console", ".txt", [](const Document& d, const ConsoleStyle& style) { return to_console_text(d, style); }},
      {"html", ".html", [](const Document& d, const ConsoleStyle&) { return to_html(d); }},
      {"markdown", ".md", [](const Document& d, const ConsoleStyle&) { return to_markdown(d); }},
      {"csv", ".csv", [](const Document& d, const ConsoleStyle&) { return to_csv(d); }},
      {"json", ".json", [](const Document& d, const ConsoleStyle&) { return to_json_text(d); }},
      {"plots", ".plots", [](const Document& d, const ConsoleStyle&) { return to_plots(d); }},
      {"latex", ".tex", [](const Document& d, const ConsoleStyle&) { return to_latex(d); }}};
  return formats;
}

}  // namespace posbench
