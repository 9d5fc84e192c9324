// FIRE's network: a bias of each head as a learned function of a distance that is a fraction of a position.
#pragma once
#include <cmath>
#include <string>

#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// f(xi) = W2 a(xi w1 + b1) + b2,   xi = sign psi(d) / (psi(max(p, |mu| L)) + 1e-6),   psi(n) = log(|c| n + 1)
///
/// d are the distances of a row, p and sign its position and sign. a is the ReLU or a LeakyReLU.
class FractionNetwork {
 public:
  struct Settings {
    Index hidden;
    Real length;  // L
    Real leak;    // slope of the activation below 0
  };
  struct Row {
    Real position;
    Real sign;
    Index keys;  // the number of distances
  };
  struct Workspace {
    Workspace(Index keys, Index hidden, Index heads);
    Eigen::Matrix<Real, 1, Eigen::Dynamic> distance, xi, d_xi;
    EigenMatrix hidden, activated;  // (hidden, keys): before and after the activation
    EigenMatrix output;             // (H, keys): f(xi), or its gradient
  };

  /// Adds fire.cSUFFIX, .mu, .w1 (1, hidden), .b1, .w2 (hidden, H) and .b2.
  FractionNetwork(const std::string& suffix, const Settings&, const ModelConfig&, ParameterLayout&);

  /// |mu| L: the position up to which xi does not depend on the position.
  Real threshold(const Parameters& p) const { return std::abs(p[mu_](0, 0)) * settings_.length; }

  /// Computes work.output from work.distance.
  void forward(const Parameters&, const Row&, Workspace&) const;
  /// Adds the gradients of the parameters. work.output is the gradient of the output; the workspace is
  /// overwritten.
  void backward(const Parameters&, const Row&, Workspace&, Gradients&) const;

 private:
  /// The denominator of xi, and max(p, |mu| L).
  struct Denominator {
    Real position, value;
    bool is_threshold;
  };
  Denominator hidden_values(const Parameters&, const Row&, Workspace&) const;

  Settings settings_;
  Parameter c_, mu_, w1_, b1_, w2_, b2_;
};

}  // namespace posbench::inline POSBENCH_REAL
