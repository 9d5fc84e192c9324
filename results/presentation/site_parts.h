// Provides the addresses of the pages of a site, and texts and tables of these pages as HTML.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/document/page.h"
#include "results/document/table.h"
#include "results/presentation/site_description.h"
#include "results/statistics/over_tasks.h"

namespace posbench {

/// The kind of page that the cells of a column link to.
enum class Named { nothing, task, encoding, claim };

/// A table, and the kind of page that each of its columns links to. Columns that are not listed have no links.
struct SiteTable {
  Table table;
  std::map<size_t, Named> names = {};
};

/// The addresses of the pages of encodings, tasks and claims, relative to the folder of the site.
class SiteAddresses {
 public:
  explicit SiteAddresses(const SiteContents&);

  /// Returns the address of a page; empty if there is none. Accepts the name of an encoding with the star of
  /// name_text.
  std::string find(Named kind, std::string name) const;

 private:
  void add(Named kind, const std::string& folder, const std::string& name);

  std::map<std::pair<Named, std::string>, std::string> addresses_;
  std::set<std::string> taken_;  // addresses in lower case, because some file systems ignore case
};

/// The contents with all that several pages need.
struct SiteSource {
  const SiteContents& contents;
  SiteAddresses addresses;
  Board board;       // out of distribution
  OverTasks common;  // over the tasks that most encodings ran
  OverTasks all;     // over all tasks
};

/// Collects the texts and tables of a page in sections.
class SiteText {
 public:
  /// `root` is the address of the site relative to the page.
  SiteText(const SiteSource&, std::string root);

  /// Begins a section. The id is its address in the page.
  void begin_section(const std::string& id, const std::string& title);
  void add_heading(const std::string& title);
  void add_paragraph(const std::string& text);
  void add_lines(const std::string& text);  // as they are: an equation, or commands
  void add_facts(std::span<const SiteFact>);
  /// Adds a table that can be sorted. Cells of columns with names are links to their pages.
  void add_table(const std::string& label, const SiteTable&);
  /// Adds "title: a, b" with links to the pages.
  void add_links(const std::string& title, Named kind, const std::vector<std::string>& names);

  SitePart finish() &&;

 private:
  std::string link(Named kind, const std::string& text) const;

  const SiteSource& source_;
  SitePart part_;
};

// Each returns one page. The claims of the page of an encoding or a task are those about it.
SiteFile make_index_page(const SiteSource&);
SiteFile make_encoding_page(const SiteSource&, const SiteEncoding&);
SiteFile make_task_page(const SiteSource&, const SiteTask&);
SiteFile make_claim_page(const SiteSource&, const SiteClaim&);
/// The verdicts by family and by kind, and the published and found values, at both sizes.
SiteFile make_claims_index(const SiteSource&);
SiteFile make_submit_page(const SiteSource&);
SiteFile make_licenses_page(const SiteSource&);

/// Returns the style, the scripts and the names that the search finds.
std::vector<SiteFile> make_shared_files(const SiteSource&);

/// Returns a row for each claim: name, verdicts, statement, kind and predicted verdict.
SiteTable claim_rows(const std::vector<const SiteClaim*>&);

}  // namespace posbench
