// Writes a page of plots and tables as one HTML file, which opens offline in any browser and fetches nothing.
//
// Its layout and behavior are in results/document/page/, which CMake embeds into the program: page.html,
// page.css, page.js, and a Vega specification for each kind of plot. No input is trusted: texts are escaped, and
// the Content-Security-Policy forbids scripts other than the page's own, which it lists by their hashes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/json/json.h"

namespace posbench {

/// A table and the kind of its plot. The kinds and their columns are
///   curve   lines over x: name, x, y, and values, a list with a dot for each seed
///   heat    a cell for each row and column: row, column, value. Cells with texts have also text (the rounded
///           value), mark (a letter next to it), note (shown instead of it, or empty), least and greatest (the
///           ends of a bar in the cell)
///   dots    values with intervals, a line for each row: row, series, value, low, high
///   strip   a dot for each seed and their mean, a line for each row: row, series, mean, values, threshold and
///           need (the bound of the mean, and its text), published. The signal labels has a text for each row, at
///           the right
///   scatter a dot for each row, with an interval: row, series, x, y, low, high. The signal addresses has the
///           address that the dot of a row opens; x_title and y_title are the titles of the axes, and bound the
///           slope of a dotted line, if any
///   forest  differences with intervals around 0, a line for each row: row, verdict, value, low, high
/// The table shows further columns too.
struct Plot {
  struct Column {
    std::string name;   // in the specification
    std::string title;  // in the table
  };
  const char* kind;
  std::string title, about;
  std::vector<Column> columns;
  Json rows = Json::array();      // each row a list: a text, a number, a list of numbers or null for each column
  Json signals = Json::object();  // values of the signals of the specification
  Json details =
      Json::object();  // for page.js: task, of a plot of one task; splits, whose counts are in it; pairs, of a map
                       // of queries and keys, whose rows are not the names

  /// Adds a row, whose numbers it rounds by round_for_page().
  void add_row(Json row);
};

struct Section {
  std::string title, about;
  std::vector<Plot> plots;
};

/// JSON that the page shows on demand.
struct PageJson {
  std::string id;  // in the page, for links
  std::string title;
  const Json& value;
};

/// The reader of a page can select these.
struct PageItems {
  std::string plural = "encodings";   // noun for the names, in messages of the page
  std::vector<std::string> names;     // in the order of their colors and of maps
  std::vector<std::string> families;  // of each of them
  std::vector<int> styles;            // of each of them: the number of its color, which is the same on all pages
  std::vector<std::string> tasks;
};

/// A page, or what a document adds to its page.
struct Page {
  std::string title = {};               // empty: that of the document
  std::vector<std::string> notes = {};  // paragraphs at the top
  PageItems items = {};
  std::vector<Section> sections = {};
  std::vector<PageJson> documents = {};
  std::string contents = {};  // HTML: entries of the list of contents, before those of the sections
  std::string content = {};   // HTML: texts and tables
  bool plots_first = false;   // the sections are before the content, and not after it
};

/// The place of a page that belongs to a site. The style and the scripts of the page are files of the site.
struct SitePart {
  std::string root;  // address of the site relative to the page: "../", or empty
};

std::string to_html(const Page&);

/// Returns a page of a site.
std::string to_html(const Page&, const SitePart&);

/// Returns the plots for other programs: what the page states about them, the Vega specification of each kind, and
/// the columns of each plot. A column of texts has each text once, and for each row the index of its text.
Json plots_json(const Page&);

/// Returns the part of the page template between two texts. Throws std::logic_error if it is missing.
std::string_view find_part(std::string_view begin, std::string_view end);
/// Returns the Vega specification of each kind of plot, as JSON.
std::string_view plot_specifications();

/// Returns the last folder or file of a run's path, for titles: "mine" for "runs/mine" and
/// "runs/mine/report.json".
std::string short_run_name(const std::string& path);

/// Escapes a text for HTML: as content, or as a quoted attribute value.
std::string escape_html(std::string_view);

/// Returns JSON on one line for a <script> element, escaped so that it cannot end the element.
std::string to_script_json(const Json&);

/// Returns a number as pages show it, with six digits after the point; null if it is not finite. Only 1 is 1: what
/// is less stays less.
Json round_for_page(double);

}  // namespace posbench
