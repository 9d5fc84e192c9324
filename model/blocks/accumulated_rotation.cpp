#include "model/blocks/accumulated_rotation.h"

#include <cmath>
#include <numbers>

#include "model/numeric.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Real kPi = static_cast<Real>(std::numbers::pi);

/// Calls f(t, angle, component) for the first component of each pair of every query and key: `angle` is a column
/// of the angles, and `component` one of qkv.
template <class F>
void for_each_pair(const AccumulatedAngles& a, Index width, F f) {
  const Index N = a.turn.cols(), H = a.step.cols();
  for (Index t = 0; t < a.turn.rows(); ++t) {
    for (Index head = 0; head < 2 * H; ++head) {
      for (Index n = 0; n < N; ++n) f(t, head % H * N + n, head * width + 2 * n);
    }
  }
}

}  // namespace

void accumulate_angles(const AccumulatedAngles& a) {
  const Index N = a.turn.cols();
  Matrix& angle = a.cosine;
  for (Index t = 0; t < angle.rows(); ++t) {
    for (Index n = 0; n < angle.cols(); ++n) {
      const Real before = t > 0 ? angle(t - 1, n) : 0;
      // The angle stays small, so that it keeps its precision. IEEE 754 defines the remainder to the bit.
      angle(t, n) = std::remainder(before + kPi * a.step(t, n / N) * a.turn(t, n % N), 2 * kPi);
    }
  }
  sine_cosine(angle, a.sine, a.cosine);
}

void accumulate_angles_backward(const AccumulatedAngles& a, Matrix& d_angle, Matrix& d_turn, Matrix& d_step) {
  const Index N = a.turn.cols();
  d_turn.setZero();
  d_step.setZero();
  for (Index t = d_angle.rows(); t-- > 0;) {
    if (t + 1 < d_angle.rows()) d_angle.row(t) += d_angle.row(t + 1);
    for (Index n = 0; n < d_angle.cols(); ++n) {
      d_step(t, n / N) += kPi * d_angle(t, n) * a.turn(t, n % N);
      d_turn(t, n % N) += kPi * d_angle(t, n) * a.step(t, n / N);
    }
  }
}

void rotate_queries_and_keys(const AccumulatedAngles& a, Index width, Matrix& qkv) {
  for_each_pair(a, width, [&](Index t, Index angle, Index component) {
    const Real c = a.cosine(t, angle), s = a.sine(t, angle);
    const Real x = qkv(t, component), y = qkv(t, component + 1);
    qkv(t, component) = c * x - s * y;
    qkv(t, component + 1) = s * x + c * y;
  });
}

void rotate_queries_and_keys_backward(const AccumulatedAngles& a, Index width, const Matrix& rotated,
                                      Matrix& d_qkv, Matrix& d_angle) {
  d_angle.setZero();
  for_each_pair(a, width, [&](Index t, Index angle, Index component) {
    const Real c = a.cosine(t, angle), s = a.sine(t, angle);
    const Real d_x = d_qkv(t, component), d_y = d_qkv(t, component + 1);
    d_angle(t, angle) += d_y * rotated(t, component) - d_x * rotated(t, component + 1);
    d_qkv(t, component) = c * d_x + s * d_y;
    d_qkv(t, component + 1) = c * d_y - s * d_x;
  });
}

}  // namespace posbench::inline POSBENCH_REAL
