// Writes a document in each format.
#pragma once
#include <string>

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

/// Returns an object for each row, with the headers as keys.
Json to_json(const Table&);

}  // namespace posbench
