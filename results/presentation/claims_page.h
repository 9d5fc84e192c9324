// Writes judged claims as a page.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/document/page.h"
#include "results/statistics/claims.h"

namespace posbench {

/// Returns one HTML file. It opens with the numbers of verdicts by family and by kind, the published and the found
/// values, and a table of all claims. Then it has for each claim its statement, source and verdict, and a plot of
/// the evidence: the seeds, their means, the bound of the mean, and the published value if it is an accuracy or an
/// error.
std::string make_claims_page(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&,
                             const std::string& size, const std::string& directory);

/// Returns plots with a dot for each claim whose source has numbers: the published and the found difference of
/// order rules, and the published and the found accuracy of level rules. `address_of` returns the address that the
/// dot of a claim opens. Empty if there are none.
std::vector<Plot> published_plots(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&,
                                  const std::function<std::string(const Claim&)>& address_of);

/// Returns the statement, the source and the verdict of a claim, and a plot of its evidence.
Plot claim_plot(const Claim&, const ClaimResult&, const AllEvidence&);

}  // namespace posbench
