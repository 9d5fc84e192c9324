// The one bridge to the half of the program that computes in double precision.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#ifdef posbench  // compiled as part of that half
namespace posbench {
#else
namespace posbench_double {
#endif

/// What `posbench check` states of an encoding: the worst relative error of its hand-written gradients, causal and
/// bidirectional where defined, pre- and post-norm; causality to the bit; finite results at length 1 and at four
/// times the trained length; sensitivity to order and to a shift; the four properties of properties.h beside this file;
/// and whether all of that passed. What the taxonomy states holds for the default options, and is compared for
/// these alone. Throws std::invalid_argument for a bad spec.
nlohmann::ordered_json certify(const std::string& spec);

/// The four properties alone: each with its word measured and stated, and the numbers behind it.
nlohmann::ordered_json properties(const std::string& spec);
}
