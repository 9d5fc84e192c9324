// Confirms claims. Their seeds, settings and rules are registered before the only run that decides them.
#pragma once
#include <string>
#include <vector>

#include "harness/runs/claims.h"

namespace posbench {

/// Returns the hash of a claim: its file without the registration, and the settings of its runs at a size, but not
/// their seeds.
std::string claim_hash(const Claim&, ClaimSize = ClaimSize::confirmation);

/// Returns the names of the claims that match one of the patterns and have a registered confirmation; without
/// patterns, of all that have one; `only_open` leaves out the confirmed ones. Throws InputError if there is none.
std::vector<std::string> registered_claims(const std::vector<std::string>& patterns, bool only_open);

/// Throws InputError if a claim differs from the one that was registered, or if the rules of the program do and
/// the claim has no confirmation yet.
void check_frozen(const std::vector<Claim>&);

/// Throws InputError if a claim has been confirmed already.
void check_not_confirmed(const std::vector<Claim>&);

}  // namespace posbench
