#include "results/document/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "results/document/page_template.h"

namespace posbench {
namespace {

constexpr size_t kMaxDocument = 200'000;  // characters

Json write_plot(const Plot& plot) {
  Json columns = Json::array();
  for (const Plot::Column& column : plot.columns)
    columns.push_back({{"name", column.name}, {"title", column.title}});
  return {{"kind", plot.kind},       {"title", plot.title},     {"about", plot.about},     {"columns", columns},
          {"signals", plot.signals}, {"details", plot.details}, {"size", plot.rows.size()}};
}

/// Returns a column as a list of its values. If it has texts: each text once, and for each row the index of its
/// text.
Json write_column(const Json& rows, size_t column) {
  const bool has_texts = std::ranges::any_of(rows, [&](const Json& row) { return row[column].is_string(); });
  Json values = Json::array();
  if (!has_texts) {
    for (const Json& row : rows) values.push_back(row[column]);
    return values;
  }
  Json texts = Json::array();
  std::map<Json, size_t> index;
  for (const Json& row : rows) {
    const auto [text, is_new] = index.emplace(row[column], index.size());
    if (is_new) texts.push_back(row[column]);
    values.push_back(text->second);
  }
  return {{"texts", texts}, {"at", values}};
}

/// Returns the columns of each plot.
std::vector<Json> rows_of(const Page& page) {
  std::vector<Json> rows;
  for (const Section& section : page.sections) {
    for (const Plot& plot : section.plots) {
      Json& columns = rows.emplace_back(Json::array());
      for (size_t column = 0; column < plot.columns.size(); ++column)
        columns.push_back(write_column(plot.rows, column));
    }
  }
  return rows;
}

/// Stores the rows of each plot in a separate script, so that a browser parses them when the plot is drawn.
std::string row_scripts(const Page& page) {
  std::string text;
  size_t number = 0;
  for (const Json& columns : rows_of(page)) {
    text += fmt::format("<script type=\"application/json\" id=\"rows{}\">{}</script>\n", number++,
                        to_script_json(columns));
  }
  return text;
}

Json write_section(const Section& section) {
  return {{"title", section.title}, {"about", section.about}, {"plots", write_list(section.plots, write_plot)}};
}

Json data(const Page& page) {
  return {{"item_plural", page.items.plural},
          {"names", page.items.names},
          {"families", page.items.families},
          {"styles", page.items.styles},
          {"tasks", page.items.tasks},
          {"plots_first", page.plots_first},
          {"sections", write_list(page.sections, write_section)}};
}

std::string head(const Page& page) {
  std::string text;
  for (const std::string& note : page.notes) text += fmt::format("<p>{}</p>\n", escape_html(note));
  return text;
}

std::string documents(const Page& page) {
  std::string text;
  for (const PageJson& document : page.documents) {
    std::string json = to_indented_json(document.value);
    if (json.size() > kMaxDocument) {
      json.resize(kMaxDocument);
      json += "... (cut; the whole is in the report)";
    }
    text += fmt::format(
        "<details id=\"{}\"><summary>{}</summary><div class=\"scroll\" tabindex=\"0\"><pre>{}</pre></div></details>\n",
        escape_html(document.id), escape_html(document.title), escape_html(json));
  }
  return text;
}

/// Returns the data of a page of a site, and the scripts that draw its plots.
std::string site_scripts(const Page& page, const std::string& root) {
  if (page.sections.empty()) return "";
  return fmt::format(
      "<script type=\"application/json\" id=\"page\">{}</script>\n{}<script src=\"{}files/vega.js\"></script>\n"
      "<script src=\"{}files/plots.js\"></script>",
      to_script_json(data(page)), row_scripts(page), root, root);
}

using Parts = std::map<std::string_view, std::function<std::string()>>;

Parts common_parts(const Page& page) {
  return {{"title", [&] { return escape_html(page.title); }},
          {"head", [&] { return head(page); }},
          {"contents", [&] { return page.contents; }},
          {"content", [&] { return page.content; }},
          {"documents", [&] { return documents(page); }}};
}

/// Replaces each {{part}} of a template. The texts of the parts are not searched for parts.
std::string fill_in(std::string_view rest, const Parts& parts) {
  std::string text;
  for (size_t begin = rest.find("{{"); begin != rest.npos; begin = rest.find("{{")) {
    const std::string_view after = rest.substr(begin + 2);
    const auto part = parts.find(after.substr(0, after.find("}}")));
    text += rest.substr(0, begin);
    text += part == parts.end() ? "{{" : part->second();
    rest = part == parts.end() ? after : after.substr(part->first.size() + 2);
  }
  return text += rest;
}

}  // namespace

std::string_view find_part(std::string_view begin, std::string_view end) {
  const size_t at = kPageTemplate.find(begin);
  if (at == kPageTemplate.npos) throw std::logic_error(fmt::format("the page has no '{}'", begin));
  const std::string_view rest = kPageTemplate.substr(at + begin.size());
  return rest.substr(0, rest.find(end));
}

std::string_view plot_specifications() {
  return find_part("<script type=\"application/json\" id=\"specifications\">", "</script>");
}

Json plots_json(const Page& page) {
  return {{"page", data(page)}, {"specifications", Json::parse(plot_specifications())}, {"rows", rows_of(page)}};
}

std::string short_run_name(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == path.npos) return path;
  const std::string last = path.substr(slash + 1);
  constexpr std::string_view kReport = "report.json";
  if (!last.starts_with(kReport)) return last;
  const std::string folder = path.substr(0, slash);
  return folder.substr(folder.find_last_of('/') + 1) + last.substr(kReport.size());
}

std::string escape_html(std::string_view text) {
  static const std::map<char, std::string> kEntities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string safe;
  safe.reserve(text.size());
  for (const char c : to_valid_utf8(text)) {
    const auto entity = kEntities.find(c);
    safe += entity == kEntities.end() ? std::string(1, c) : entity->second;
  }
  return safe;
}

std::string to_script_json(const Json& value) {
  std::string safe;
  const std::string text = to_compact_json(value);
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {  // in JSON these occur in strings only
      safe += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      safe += c;
    }
  }
  return safe;
}

Json round_for_page(double value) {
  if (!std::isfinite(value)) return nullptr;
  const double rounded = six_decimals(value);
  return rounded == 1 && value < 1 - 1e-9 ? 0.999999 : rounded;
}

void Plot::add_row(Json row) {
  const auto round = [](Json& value) {
    if (value.is_number_float()) value = round_for_page(value.get<double>());
  };
  for (Json& value : row) {
    if (value.is_array()) {
      std::ranges::for_each(value, round);
    } else {
      round(value);
    }
  }
  rows.push_back(std::move(row));
}

std::string to_html(const Page& page) {
  Parts parts = common_parts(page);
  parts["data"] = [&] { return to_script_json(data(page)); };
  parts["rows"] = [&] { return row_scripts(page); };
  return fill_in(kPageTemplate, parts);
}

std::string to_html(const Page& page, const SitePart& site) {
  Parts parts = common_parts(page);
  const std::string root = escape_html(site.root);
  parts["root"] = [&] { return root; };
  parts["scripts"] = [&] { return site_scripts(page, root); };
  return fill_in(kSiteTemplate, parts);
}

}  // namespace posbench
