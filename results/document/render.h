// Writes a document in each format.
#pragma once
#include <string>
#include <string_view>

#include "results/document/document.h"
#include "results/document/table.h"

namespace posbench {

enum class Format { console, markdown, csv, json, html, latex };

/// Returns the document in a format. The style applies to the console only.
/// Throws InputError if the format is CSV and the document has no rows and not exactly one table.
std::string render(const Document&, Format, const ConsoleStyle& = {});

// The renderers. Plots are part of pages only; a console, Markdown and LaTeX have the tables beside them.
std::string to_console_text(const Document&, const ConsoleStyle& = {});
std::string to_markdown(const Document&);
std::string to_latex(const Document&);
std::string to_html(const Document&);
std::string to_csv(const Document&);
std::string to_json_text(const Document&);

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
