// A page of plots and tables: one HTML file that opens offline, in any browser, and fetches nothing.
//
// Its layout and behaviour are in results/presentation/page/, which CMake embeds into the program: page.html,
// page.css, page.js, and a Vega specification for each kind of plot. No input is trusted: texts are escaped, and
// the Content-Security-Policy forbids scripts other than the page's own, which it lists by their hashes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/json/json.h"

namespace posbench {

/// A table and how it is drawn. The kinds are
///   curve   lines over x: the columns name, x, y, low, high
///   heat    a cell for each row and column: row, column, value; and mark, which is shown beside the value
///   dots    values with intervals, a line for each row: row, series, value, low, high
///   forest  differences with intervals around 0, a line for each row: row, verdict, value, low, high
///   table   not drawn
/// Further columns are shown in the table only.
struct Plot {
  struct Column {
    const char* name;   // in the specification
    std::string title;  // in the table
  };
  const char* kind;
  std::string title, about;
  std::vector<Column> columns;
  Json rows = Json::array();      // each row a list: a text, a number or null for each column
  Json signals = Json::object();  // values of the signals of the specification
};

struct Section {
  std::string title, about;
  std::vector<Plot> plots;
};

/// JSON that the page shows on demand.
struct Document {
  std::string title;
  const Json& value;
};

struct Page {
  std::string title;
  std::vector<std::string> notes;  // paragraphs at the top
  std::vector<std::string> names;  // of curves, in the order of their colours
  std::vector<Section> sections;
  std::vector<Document> documents;
};

std::string html(const Page&);

/// Escapes a text for HTML: as content, or as a quoted attribute value.
std::string html_text(std::string_view);

/// JSON for a <script> element: on one line, escaped so that it cannot end the element.
std::string script_json(const Json&);

/// A number as pages show it, with six digits after the point; null if it is not finite.
Json page_number(double);

}  // namespace posbench
