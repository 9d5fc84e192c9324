#include "results/presentation/site_parts.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace posbench {
namespace {

// Characters of a cell from which its text may be broken into lines.
constexpr size_t kMedium = 20, kLong = 40;

/// Returns a name that every file system and address accepts.
std::string to_file_name(const std::string& name) {
  constexpr size_t kMost = 120;
  std::string safe;
  for (const char c : name.substr(0, kMost)) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("._-").find(c) != std::string_view::npos;
    safe += is_plain ? c : '-';
  }
  if (safe.empty() || safe[0] == '.') safe.insert(safe.begin(), '-');
  return safe;
}

std::string class_attribute(const Column& column, const Cell& cell) {
  std::string classes = column.align == Align::right ? "number"
                        : cell.text.size() > kLong   ? "text"
                        : cell.text.size() > kMedium ? "wrap"
                                                     : "";
  const auto add = [&](const char* name) { classes += (classes.empty() ? "" : " ") + std::string(name); };
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

}  // namespace

SiteAddresses::SiteAddresses(const SiteContents& contents) {
  for (const SiteEncoding& encoding : contents.encodings) add(Named::encoding, "encodings", encoding.about.name);
  for (const SiteTask& task : contents.tasks) add(Named::task, "tasks", task.name);
  for (const SiteClaim& claim : contents.claims) add(Named::claim, "claims", claim.claim.name);
}

void SiteAddresses::add(Named kind, const std::string& folder, const std::string& name) {
  const std::string stem = folder + "/" + to_file_name(name);
  std::string address = stem + ".html";
  for (int number = 2; !taken_.insert(lower_case(address)).second; ++number)
    address = fmt::format("{}-{}.html", stem, number);
  addresses_[{kind, name}] = address;
}

std::string SiteAddresses::find(Named kind, std::string name) const {
  auto found = addresses_.find({kind, name});
  const size_t end = name.rfind(' ');  // before the mark of a task or the number of ties, as in "rope +2"
  if (found == addresses_.end() && end != name.npos && (name[end + 1] == '*' || name[end + 1] == '+')) {
    name.resize(end);
    found = addresses_.find({kind, name});
  }
  return found == addresses_.end() ? "" : found->second;
}

SiteText::SiteText(const SiteSource& source, std::string root) : source_(source), part_{.root = std::move(root)} {}

void SiteText::begin_section(const std::string& id, const std::string& title) {
  if (!part_.contents.empty()) part_.content += "</section>\n";
  part_.contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, escape_html(title));
  part_.content +=
      fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n", id, escape_html(title));
}

void SiteText::add_heading(const std::string& title) {
  part_.content += fmt::format("<h3>{}</h3>\n", escape_html(title));
}

void SiteText::add_paragraph(const std::string& text) {
  part_.content += fmt::format("<p>{}</p>\n", escape_html(text));
}

void SiteText::add_lines(const std::string& text) {
  part_.content += fmt::format("<pre class=\"block\" tabindex=\"0\">{}</pre>\n", escape_html(text));
}

void SiteText::add_facts(std::span<const SiteFact> facts) {
  std::string list;
  for (const SiteFact& fact : facts) {
    if (fact.text.empty()) continue;
    list += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(fact.name), escape_html(fact.text));
  }
  if (!list.empty()) part_.content += "<dl>\n" + list + "</dl>\n";
}

std::string SiteText::link(Named kind, const std::string& text) const {
  const std::string address = kind == Named::nothing ? "" : source_.addresses.find(kind, text);
  if (address.empty()) return kind == Named::nothing ? escape_html(text) : breakable(text);
  return fmt::format("<a href=\"{}\">{}</a>", escape_html(part_.root + address), breakable(text));
}

void SiteText::add_links(const std::string& title, Named kind, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + link(kind, name);
  part_.content += fmt::format("<p>{}: {}</p>\n", escape_html(title), list);
}

void SiteText::add_table(const std::string& label, const SiteTable& named) {
  const Table& table = named.table;
  const size_t naming =
      named.names.empty() ? 0 : named.names.begin()->first;  // the column with the names of the rows
  std::string html = fmt::format(
      "<div class=\"scroll wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {0}\">\n"
      "<table class=\"results sortable\" aria-label=\"{0}\">\n<thead><tr>",
      escape_html(label));
  for (const Column& column : table.columns)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", column.align == Align::right ? " class=\"number\"" : "",
                        escape_html(column.header));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (size_t column = 0; column < row.size(); ++column) {
      const char* tag = column == naming ? "th" : "td";
      const auto kind = named.names.find(column);
      html += fmt::format("<{}{}{}>{}</{}>", tag, column == naming ? " scope=\"row\"" : "",
                          class_attribute(table.columns[column], row[column]),
                          link(kind == named.names.end() ? Named::nothing : kind->second, row[column].text), tag);
    }
    html += "</tr>\n";
  }
  part_.content += html + "</tbody>\n</table>\n</div>\n";
}

SitePart SiteText::finish() && {
  if (!part_.contents.empty()) part_.content += "</section>\n";
  return std::move(part_);
}

}  // namespace posbench
