// Writes judged claims as a page.
#pragma once
#include <span>
#include <string>

#include "results/presentation/page.h"
#include "results/statistics/claims.h"

namespace posbench {

/// Returns one HTML file. It opens with the numbers of verdicts and a table of all claims. Then it has for each
/// claim its statement, source and verdict, and a plot of the evidence: the seeds, their means, the bound of the
/// mean, and the published value if it is an accuracy or an error.
std::string make_claims_page(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&,
                             const std::string& size, const std::string& directory);

/// Returns the statement, the source and the verdict of a claim, and a plot of its evidence.
Plot claim_plot(const Claim&, const ClaimResult&, const AllEvidence&);

}  // namespace posbench
