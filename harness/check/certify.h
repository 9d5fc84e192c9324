// Declares the checks of encodings. They run in double precision, in code that is compiled for it; what they
// return is independent of the precision.
#pragma once
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/spec.h"

namespace posbench {

/// The largest disagreement, and its parameter or argument: "blocks.0.norm1.weight", "score: q".
struct Worst {
  double error = 0;
  std::string where;

  /// Keeps the larger of two disagreements. One that is not a number is the largest.
  void add(const Worst& other) {
    if (!std::isnan(error) && !(other.error <= error)) *this = other;
  }
};

/// The measurements of four properties that the literature asks for, on one causal layer of attention. All tokens
/// are equal, so that only positions can make a difference.
struct Properties {
  int trained = 0, longest = 0;  // tokens: the trained length L, and 4 L

  /// Distinct positions: the number of keys before the last query whose attention no other key has.
  int distinct = 0, distinct_far = 0;  // among L keys, among 4 L

  /// Extrapolation: the number of parameter rows that a sequence of 4 L reads and sequences up to L do not, and
  /// how much scores at 4 L exceed the largest up to L, as a fraction of their range. Scores are relative to that
  /// of the query's own token, and lower scores count as in range.
  int untrained_rows = 0;
  double growth = 0;
  bool finite = false;

  /// Dependence on relative positions only: the largest change of a score if query and key are both one segment
  /// later, relative to the largest score. The first segment is not measured, since it has no predecessor.
  bool positional = false;  // true if positions make a difference at all
  double moved = 0;

  /// Decay with distance: the fraction of heads, over draws, whose attention decreases with distance. Heads whose
  /// attention does not depend on the position are not counted.
  double falling = 0;
};

/// One measurement as a word, and the word that the encoding states. Words after a comma or semicolon qualify the
/// stated word and are not compared.
struct PropertyWord {
  std::string measured;
  std::string stated;    // from EncodingInfo
  std::string expected;  // the measurement that fits the stated word, or that of the base for `as_base`
};

/// The measurements of an encoding, compared with its registration.
struct PropertyReport {
  Properties measured;
  PropertyWord distinct, extrapolates, relative, distance_decay;
  std::vector<std::string> corrections;  // of the registration
  bool agrees = false;
  std::string not_measured;  // the reason, if the options exclude the longest sequence

  std::vector<std::pair<std::string, PropertyWord>> words() const {
    return {{"distinct", distinct},
            {"extrapolates", extrapolates},
            {"relative", relative},
            {"distance_decay", distance_decay}};
  }
};

/// The largest errors of the gradients of an encoding.
struct GradientReport {
  bool causal = true, pre_norm = true;  // of the models
  Worst worst;
};

/// The certificate of an encoding.
struct EncodingCertificate {
  std::string encoding;  // its spec
  std::vector<GradientReport> gradients;
  std::string failure;  // an index outside a matrix; then nothing else is measured
  Worst worst;          // of all gradients
  bool causal = false;  // bit for bit
  bool finite = false;  // at length 1 and at four times the trained length
  double order_sensitivity = 0, shift_sensitivity = 0;
  PropertyReport properties;
  bool passed = false;
};

/// The certificates of the gradients of many models of one encoding.
struct ModelsCertificate {
  int certificates = 0;
  int refused = 0;  // options or pairs that the encoding does not allow
  Worst worst;
  std::vector<std::string> failures;

  bool passed() const { return failures.empty() && certificates > 0; }
  void add(const ModelsCertificate&);
};

/// Checks an encoding: its hand-written gradients, causal and bidirectional where defined, with pre- and
/// post-norm; causality; finite results; sensitivity to order and to a shift; and the four properties. The
/// declared properties are those of the default options and are compared for these only. Throws InputError for a
/// bad spec.
EncodingCertificate certify(const Spec&);

/// Checks the gradients of an encoding in models with each option of blocks, and with all of them.
ModelsCertificate certify_blocks(const Spec&);

/// Checks the gradients of a composition ("sum", "layers", "heads") of one encoding with each encoding that does
/// not precede it in the alphabet.
ModelsCertificate certify_pairs(const std::string& composition, const std::string& first);

/// Measures the four properties only.
PropertyReport measure_properties(const Spec&);

}  // namespace posbench
