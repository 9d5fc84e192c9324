// Makes the index of a site, and the page that counts the claims.
#pragma once
#include <string>
#include <vector>

#include "harness/commands/describe.h"
#include "results/document/site.h"
#include "results/types/report.h"

namespace posbench {

/// Holds the names that a site has pages of. The results and the reference must outlive it.
struct Site {
  Site(const BoardResults&, const NamedReport& reference);

  const BoardResults& results;
  NamedReport reference;                      // whose page the site has
  std::vector<std::string> encodings, tasks;  // those that are registered, then others of the board
};

/// Returns the index of all encodings, tasks and claims.
Document index_document(const Site&);

/// Returns the verdicts by family and by kind, and the published and found values, at both sizes. `find_page`
/// finds the pages of the claims.
Document claims_document(const FindPage& find_page);

}  // namespace posbench
