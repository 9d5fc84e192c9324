// Writes the texts, facts and tables of a document as HTML.
#pragma once
#include <functional>
#include <string>

#include "results/document/document.h"
#include "results/document/page.h"

namespace posbench {

/// Returns the address of the page about a name. Empty if there is none.
using FindPage = std::function<std::string(Names, const std::string& name)>;

/// Returns a page of a document. Texts before the first heading become notes at the top. Each heading begins a
/// section, whose tables the reader can sort. Plots are drawn by scripts, in sections after all texts. Names are
/// links to their pages.
Page make_page(const Document&, const FindPage& = {});

}  // namespace posbench
