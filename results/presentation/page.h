// A page of plots and tables: one HTML file that opens offline, in any browser, and fetches nothing.
//
// How it looks and works is in results/presentation/page/, which CMake puts into the program: page.html, page.css, page.js, and
// a Vega specification for each kind of plot. Nothing here is trusted: texts are escaped, and scripts other than
// the page's own are forbidden by its Content-Security-Policy, which knows them by their hashes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/json/json.h"

namespace posbench {

/// A table, and how it is drawn. Its kind is
///   curve   lines over x: the columns name, x, y, low, high
///   heat    a cell for each row and column: row, column, value; and mark, which stands beside the value
///   dots    values with intervals, a line for each row: row, series, value, low, high
///   table   not drawn
/// Further columns stand in the table only.
struct Plot {
  struct Column {
    const char* name;   // in the specification
    std::string title;  // in the table
  };
  const char* kind;
  std::string title, about;
  std::vector<Column> columns;
  Json rows = Json::array();      // lists: a text, a number or null for each column
  Json signals = Json::object();  // what signals of the specification are set to
};

struct Section {
  std::string title, about;
  std::vector<Plot> plots;
};

/// JSON to be read where someone asks for it.
struct Document {
  std::string title;
  const Json& value;
};

struct Page {
  std::string title;
  std::vector<std::string> notes;  // paragraphs at its head
  std::vector<std::string> names;  // of curves, in the order in which they take colours
  std::vector<Section> sections;
  std::vector<Document> documents;
};

std::string html(const Page&);

/// A text for HTML: as content, or between quotes as the value of an attribute.
std::string html_text(std::string_view);

/// JSON for a <script> element: on one line, and without what could end the element.
std::string script_json(const Json&);

/// A number as pages show it, to six digits after the point; null where it is not finite.
Json page_number(double);

}  // namespace posbench
