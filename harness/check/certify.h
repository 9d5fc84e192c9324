// Declares the checks of encodings that run in double precision.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#ifdef posbench  // compiled as part of the double-precision part
namespace posbench {
#else
namespace posbench_double {
#endif

/// Returns the certificate of an encoding, as `posbench check` reports it: the worst relative error of its
/// hand-written gradients, causal and bidirectional where defined, with pre- and post-norm; causality bit for bit;
/// finite results at length 1 and at four times the trained length; sensitivity to order and to a shift; the four
/// properties of properties.h; and "passed". The declared properties are those of the default options and are
/// compared for these only. Throws InputError for a bad spec.
nlohmann::ordered_json certify(const std::string& spec);

/// Checks the gradients of an encoding in models with each option of blocks, and with all of them. Returns the
/// number of certificates, the number of options that the encoding refuses, and the failures.
nlohmann::ordered_json certify_blocks(const std::string& spec);

/// Checks the gradients of a composition ("sum", "layers", "heads") of one encoding with each encoding that does
/// not precede it in the alphabet. Returns the number of certificates, the number of refused pairs, and the
/// failures.
nlohmann::ordered_json certify_pairs(const std::string& composition, const std::string& first);

/// Returns the four properties only: for each the measured value, the declared value and the numbers behind it.
nlohmann::ordered_json properties(const std::string& spec);
}
