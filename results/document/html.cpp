#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "results/document/render.h"

namespace posbench {
namespace {

// Characters of a cell from which its text may be broken into lines.
constexpr size_t kMedium = 20, kLong = 40;

std::string class_attribute(const Column& column, const Cell& cell) {
  const bool is_number = column.align == Align::right;
  std::string classes = cell.text.size() > kLong ? "text" : cell.text.size() > kMedium && !is_number ? "wrap" : "";
  const auto add = [&](const char* name) { classes += (classes.empty() ? "" : " ") + std::string(name); };
  if (is_number) add("number");
  if (cell.tone == Tone::good) add("good");
  if (cell.tone == Tone::bad) add("bad");
  if (cell.tone == Tone::faint) add("faint");
  return classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
}

/// Escapes a name, which a narrow window may break after "_" and ":".
std::string breakable(const std::string& name) {
  std::string html;
  for (const char c : escape_html(name)) {
    html += c;
    if (c == '_' || c == ':') html += "<wbr>";
  }
  return html;
}

/// Returns an address in a page: the letters and digits of a text.
std::string make_id(const std::string& text) {
  std::string id;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    id += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  return id;
}

class PageWriter {
 public:
  PageWriter(Page& page, const FindPage& find_page) : page_(page), find_page_(find_page) {}

  void add(const std::vector<Document::Block>& blocks) {
    for (const Document::Block& block : blocks) std::visit([this](const auto& one) { add(one); }, block);
    close_section();
  }

 private:
  void add(const Heading& heading) {
    close_section();
    heading_ = heading;
  }

  void add(const Text& text) {
    if (text.text.empty()) return;
    if (text.is_preformatted)
      return add_html(fmt::format("<pre class=\"block\" tabindex=\"0\">{}</pre>\n", escape_html(text.text)));
    if (heading_.text.empty() && page_.content.empty()) return page_.notes.push_back(text.text);
    add_html(fmt::format("<p>{}</p>\n", escape_html(text.text)));
    if (text.text.ends_with(':')) label_ = text.text.substr(0, text.text.size() - 1);
  }

  void add(const Note& note) { add_html(fmt::format("<p class=\"about\">{}</p>\n", escape_html(note.text))); }

  void add(const Facts& facts) {
    std::string list;
    for (const Fact& fact : facts.facts) {
      if (fact.value.empty()) continue;
      list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(fact.name), links(fact));
    }
    if (!list.empty()) add_html("<dl>\n" + list + "</dl>\n");
  }

  void add(const Table& table) {
    if (table.rows.empty()) return;
    std::string html = fmt::format(
        "<div class=\"scroll wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {0}\">\n"
        "<table class=\"results sortable\" aria-label=\"{0}\">\n<thead><tr>",
        escape_html(!label_.empty()          ? label_
                    : !heading_.text.empty() ? heading_.text
                                             : page_.title));
    for (const Column& column : table.columns) {
      html += fmt::format("<th scope=\"col\"{}>{}</th>", column.align == Align::right ? " class=\"number\"" : "",
                          escape_html(column.header));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& cells : table.rows) html += row(table, cells);
    add_html(html + "</tbody>\n</table>\n</div>\n");
  }

  /// Adds HTML to the section of the last heading, which the first one opens.
  void add_html(const std::string& html) {
    label_.clear();
    if (!is_open_ && !heading_.text.empty()) {
      const std::string id = escape_html(heading_.id.empty() ? make_id(heading_.text) : heading_.id);
      const std::string title = escape_html(heading_.text);
      page_.contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, title);
      page_.content += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", id, title);
      is_open_ = true;
    }
    page_.content += html;
  }

  void close_section() {
    if (std::exchange(is_open_, false)) page_.content += "</section>\n";
  }

  std::string row(const Table& table, const std::vector<Cell>& cells) const {
    std::string html = "<tr>";
    for (size_t n = 0; n < cells.size(); ++n) {
      const Column& column = table.columns[n];
      const char* tag = n == 0 ? "th" : "td";
      html += fmt::format("<{}{}{}>{}</{}>", tag, n == 0 ? " scope=\"row\"" : "",
                          class_attribute(column, cells[n]), link(column.names, cells[n].text), tag);
    }
    return html + "</tr>\n";
  }

  std::string link(Names names, const std::string& text) const {
    if (names == Names::none) return escape_html(text);
    const std::string address = find_page_(names, text);
    return address.empty() ? breakable(text)
                           : fmt::format("<a href=\"{}\">{}</a>", escape_html(address), breakable(text));
  }

  std::string links(const Fact& fact) const {
    if (fact.names == Names::none) return escape_html(fact.value);
    constexpr std::string_view kSeparator = ", ";
    std::string html;
    for (size_t begin = 0, end = 0; end != fact.value.npos; begin = end + kSeparator.size()) {
      end = fact.value.find(kSeparator, begin);
      html += (html.empty() ? "" : ", ") + link(fact.names, fact.value.substr(begin, end - begin));
    }
    return html;
  }

  Page& page_;
  const FindPage& find_page_;
  Heading heading_;       // of the section
  std::string label_;     // the text in front of a table, which names it
  bool is_open_ = false;  // the section has texts
};

}  // namespace

Page make_page(const Document& document, const FindPage& find_page) {
  Page page = document.page ? document.page() : Page{};
  if (page.title.empty()) page.title = document.title;
  for (Section& section : page.sections)
    std::erase_if(section.plots, [](const Plot& plot) { return plot.rows.empty(); });
  std::erase_if(page.sections, [](const Section& section) { return section.plots.empty(); });
  const FindPage find = [&](Names names, const std::string& name) {
    const std::string there = find_page ? find_page(names, name) : "";
    return there.empty() && document.find_page ? document.find_page(names, name) : there;
  };
  PageWriter(page, find).add(document.page_blocks.empty() ? document.blocks : document.page_blocks);
  return page;
}

}  // namespace posbench
