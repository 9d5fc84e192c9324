// Writes a document in each format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/document/document.h"
#include "results/document/table.h"

namespace posbench {

/// A format of documents.
struct Format {
  std::string name;                                             // the value of --format
  std::string extension;                                        // of files, as in ".md"
  std::string (*render)(const Document&, const ConsoleStyle&);  // only a console has a style
};

/// Returns all formats; the first is that of standard output. Options, their help, completion and messages read
/// this table.
const std::vector<Format>& formats();

// The renderers. Plots are part of pages only; a console, Markdown and LaTeX have the tables beside them.
std::string to_console_text(const Document&, const ConsoleStyle& = {});
std::string to_markdown(const Document&);
std::string to_latex(const Document&);
std::string to_html(const Document&);
std::string to_json_text(const Document&);
std::string to_plots(const Document&);  // JSON of the plots of the page, for notebooks
/// Throws InputError if the document has no rows and not exactly one table.
std::string to_csv(const Document&);

/// Returns a page of a document. Texts before the first heading become notes at the top. Each heading begins a
/// section, whose tables the reader can sort. Plots are drawn by scripts, in sections after all texts. Names are
/// links to their pages, or else to their places in this page.
Page make_page(const Document&, const FindPage& = {});

/// Returns a tabular of the package booktabs. Cells that the console prints in green are bold: the best tier, what
/// is solved, better or reproduced. A column of long texts breaks its lines.
std::string to_latex(const Table&);

/// Returns a text in which no character is a command of LaTeX.
std::string escape_latex(std::string_view);

/// Returns an object for each row, with the headers as keys.
Json to_json(const Table&);

}  // namespace posbench
