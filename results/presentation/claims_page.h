// Makes the document of judged claims, and its plots.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/reports/claim_json.h"
#include "results/statistics/claims.h"

namespace posbench {

/// The explanation of claim_plot.
inline constexpr const char* kAboutEvidence =
    "A dot is a seed, a colored bar the mean. The red bar is the median of the encoding that should be lower plus "
    "the bound, or the level that more than half of all seeds must reach. A gray diamond is the published "
    "value, if it is an accuracy or an error.";

/// Returns the verdicts of claims, which judge_claims() found with `alpha` by the runs in a directory. The page
/// has the published and the found values. The arguments must outlive the document.
Document make_claims_document(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&, ClaimSize,
                              double alpha, const std::string& directory);

/// Returns plots with a dot for each claim whose source has numbers: the published and the found difference of
/// order rules, and the published and the found accuracy of level rules. `address_of`, if there is one, returns
/// the address that the dot of a claim opens.
std::vector<Plot> published_plots(std::span<const Claim>, std::span<const ClaimResult>, const AllEvidence&,
                                  const std::function<std::string(const Claim&)>& address_of = {});

/// Returns a plot of the evidence of a claim: the seeds, their means, the bound of the mean, and the published
/// value if it is an accuracy or an error.
Plot claim_plot(const Claim&, const AllEvidence&);

}  // namespace posbench
