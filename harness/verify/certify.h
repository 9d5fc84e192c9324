// The interface of the double-precision build of the sources.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#ifdef posbench  // compiled as part of that build
namespace posbench {
#else
namespace posbench_double {
#endif

/// What `posbench check` reports of an encoding: the worst relative error of its hand-written gradients, causal
/// and bidirectional where defined, with pre- and post-norm; causality to the bit; finite results at length 1 and
/// at four times the trained length; sensitivity to order and to a shift; the four properties of properties.h; and
/// whether all of that passed. The declared properties hold for the default options and are compared for these
/// only. Throws std::invalid_argument for a bad spec.
nlohmann::ordered_json certify(const std::string& spec);

/// The gradients of an encoding in models with each of the options of blocks, and with all of them together: the number
/// of certificates, and those that failed. An option that the encoding refuses counts as refused.
nlohmann::ordered_json certify_blocks(const std::string& spec);

/// The gradients of a composition ("sum", "layers", "heads") over one encoding and each that is not before it in the
/// alphabet: the number of certificates, of the pairs that it refuses, and those that failed.
nlohmann::ordered_json certify_pairs(const std::string& composition, const std::string& first);

/// The four properties only: for each the measured value, the declared value and the numbers behind it.
nlohmann::ordered_json properties(const std::string& spec);
}
