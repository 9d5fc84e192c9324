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
///   curve   lines over x: the columns name, x, y; and values, a list with a dot for each seed
///   heat    a cell for each row and column: row, column, value; and where cells have texts: text, which is the value rounded,
///           mark, which is shown beside it, note, which is shown instead of it if it is not empty; least and greatest,
///           between which a bar is drawn in the cell
///   dots    values with intervals, a line for each row: row, series, value, low, high
///   strip   a dot for each seed and their mean, a line for each row: row, series, mean, values, threshold and need (where the
///           mean must lie, and in words), published; the signal labels has a text for each row, at the right
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
  Json rows = Json::array();      // each row a list: a text, a number, a list of numbers or null for each column
  Json signals = Json::object();  // values of the signals of the specification
  Json details = Json::object();  // for page.js: task, of a plot of one task; splits, whose counts are in it
};

struct Section {
  std::string title, about;
  std::vector<Plot> plots;
};

/// JSON that the page shows on demand.
struct Document {
  std::string id;  // in the page, for links
  std::string title;
  const Json& value;
};

struct Page {
  std::string title;
  std::vector<std::string> notes;         // paragraphs at the top
  std::string item_plural = "encodings";  // noun for the names, in messages of the page
  std::vector<std::string> names;         // in the order of their colours and of maps
  std::vector<std::string> families;      // of each of them
  std::vector<std::string> tasks;
  std::vector<std::string> runs;  // the configuration of the n-th is the document configurationN
  std::vector<Section> sections;
  std::vector<Document> documents;
};

std::string html(const Page&);

/// Escapes a text for HTML: as content, or as a quoted attribute value.
std::string html_text(std::string_view);

/// JSON for a <script> element: on one line, escaped so that it cannot end the element.
std::string script_json(const Json&);

/// A number as pages show it, with six digits after the point; null if it is not finite. Only 1 is 1: what is less stays
/// less.
Json page_number(double);

}  // namespace posbench
