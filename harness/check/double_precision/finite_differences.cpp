#include "harness/check/double_precision/finite_differences.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "model/numeric.h"
#include "model/parameters.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

/// Returns |slope of f at 0 - derivative| / size. The slope is a central difference over steps of h, from two
/// points, and from four if these disagree, for functions with a large curvature. A kink of f between the points
/// makes the difference wrong. A smaller step rarely includes it, so the smallest disagreement counts. The size
/// has a lower bound, since a derivative far below f itself is rounding error.
double disagreement(const std::function<double(double)>& f, double derivative, double size) {
  constexpr double kEnough = 1e-7;
  double smallest = INFINITY;
  for (const bool four_points : {false, true}) {
    for (const double h : {1e-5, 2e-6, 4e-7, 8e-8}) {
      const double above = f(h), near = above - f(-h);
      const double slope = four_points ? (8 * near - (f(2 * h) - f(-2 * h))) / (12 * h) : near / (2 * h);
      const double least = 1e-3 * std::max(1.0, std::abs(above));
      smallest = std::min(smallest, std::abs(slope - derivative) / std::max(size, least));
      if (smallest < kEnough) return smallest;
    }
  }
  return smallest;
}

}  // namespace

void check_along(const std::string& where, Rng& rng, Out values, const In& gradient,
                 const std::function<double()>& f, Worst& worst) {
  if (values.size() == 0) return;
  const EigenMatrix start = values;
  EigenMatrix direction(values.rows(), values.cols());
  fill_normal(rng, 1, direction);
  const double derivative = gradient.cwiseProduct(direction).sum();
  const double error = disagreement(
      [&](double h) {
        values = start + static_cast<Real>(h) * direction;
        const double result = f();
        values = start;
        return result;
      },
      derivative, gradient.norm() * direction.norm());
  worst.add({error, where});
}

}  // namespace posbench::inline POSBENCH_REAL
