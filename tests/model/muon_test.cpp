#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/optimizer.h"
#include "tests/catch.h"
// After the macros of model/tensor.h.
#include <Eigen/SVD>

using namespace posbench;

namespace {

struct Trained {
  ParameterLayout layout;
  Parameters values;
  Gradients gradients;

  explicit Trained(ParameterLayout parts)
      : layout(std::move(parts)), values(initialize(layout, 1)), gradients(layout) {
    Rng rng = make_rng(2, "gradient");
    for (const ParameterLayout::Entry& e : layout.entries()) fill_normal(rng, 0.3, gradients[e.parameter]);
  }

  /// Makes one update with a new state.
  void update(const std::string& optimizer, double learning_rate, double weight_decay = 0) {
    const auto made = make_optimizer({.optimizer = Spec::parse(optimizer), .weight_decay = weight_decay}, layout);
    OptimizerState state = made->initial_state(layout);
    made->step(gradients, learning_rate, state, values);
  }
};

/// Returns a singular value of Muon's update for one of the gradient, relative to its Frobenius norm.
double iterated(double s) {
  for (int n = 0; n < 5; ++n) s = 3.4445 * s - 4.775 * std::pow(s, 3) + 2.0315 * std::pow(s, 5);
  return s;
}

}  // namespace

TEST_CASE("two steps of Muon agree with those of KellerJordan/Muon") {
  // SingleDeviceMuon(lr=0.02, weight_decay=0.1) of its commit 857d1ad, with .double() in place of .bfloat16().
  // With bfloat16 the largest difference from these numbers is 0.0106, in single precision 1.4e-7.
  const std::vector<double> expected{0.976458766672,  0.520797407484,  -0.390468845822, -0.974879054789,
                                     -0.663996603987, 0.287626784930,  0.967984661490,  0.742789157488,
                                     -0.147916760215, -0.881278960719, -0.839474592520, -0.020834533632,
                                     0.978578535957,  0.520971146416,  -0.398961444890, -0.982601515781,
                                     -0.663620386662, 0.293058935680,  0.965152491808,  0.727093409128};
  ParameterLayout layout;
  const Parameter wide = layout.constant("blocks.0.feed_forward.up.weight", 3, 4, 0);
  const Parameter tall = layout.constant("blocks.1.feed_forward.down.weight", 4, 2, 0);
  const auto muon = make_optimizer({.optimizer = Spec::parse("muon:rate=4"), .weight_decay = 0.1}, layout);
  OptimizerState state = muon->initial_state(layout);
  Parameters p(layout);
  Gradients g(layout);
  for (int step = 0; step <= 2; ++step) {
    for (const Parameter& m : {wide, tall}) {
      for (Index n = 0; n < m.size(); ++n) {
        const double i = static_cast<double>(n);
        if (step == 0) p[m].data()[n] = std::cos(i);
        g[m].data()[n] = std::sin(1.7 * i + step);
      }
    }
    if (step > 0) muon->step(g, 0.005, state, p);
  }
  for (Index n = 0; n < 12; ++n) CHECK(p[wide].data()[n] == Approx(expected[n]).margin(1e-11));
  for (Index n = 0; n < 8; ++n) CHECK(p[tall].data()[n] == Approx(expected[12 + n]).margin(1e-11));
}

TEST_CASE("Muon keeps the singular vectors of a gradient and makes its singular values nearly equal") {
  const auto [rows, cols] =
      GENERATE(std::pair<Index, Index>{24, 24}, std::pair<Index, Index>{16, 40}, std::pair<Index, Index>{40, 16});
  ParameterLayout layout;
  const Parameter weight = layout.constant("blocks.0.attention.out.weight", rows, cols, 0);
  Trained trained(std::move(layout));
  trained.update("muon:rate=1", 1);
  // One step from zero: the momentum is 0.05 g, and u a multiple of g.
  const Eigen::JacobiSVD<EigenMatrix> svd(trained.gradients[weight], Eigen::ComputeThinU | Eigen::ComputeThinV);
  const double aspect = std::sqrt(std::max(1.0, static_cast<double>(cols) / static_cast<double>(rows)));
  const EigenMatrix values =
      svd.matrixU().transpose() * -EigenMatrix(trained.values[weight]) * svd.matrixV() / aspect;
  const Vector relative = svd.singularValues() / svd.singularValues().norm();
  const EigenMatrix wanted = Vector(relative.unaryExpr(&iterated)).asDiagonal();
  CHECK((values - wanted).cwiseAbs().maxCoeff() < 1e-5);  // 1e-7 is added to the norm
  if (rows != cols) {
    CHECK(wanted.diagonal().minCoeff() > 0.6);
    CHECK(wanted.diagonal().maxCoeff() < 1.25);
  }
}

TEST_CASE("Muon orthogonalizes queries, keys and values separately") {
  ParameterLayout joint, separate;
  const Parameter qkv = joint.constant("blocks.0.attention.qkv.weight", 6, 18, 0);
  const Parameter key = separate.constant("blocks.0.attention.key.weight", 6, 6, 0);
  Trained together(std::move(joint)), alone(std::move(separate));
  alone.gradients[key] = together.gradients[qkv].middleCols(6, 6);
  together.update("muon", 0.01);
  alone.update("muon", 0.01);
  CHECK(together.values[qkv].middleCols(6, 6).isApprox(alone.values[key], 1e-12));
}

TEST_CASE("Muon leaves all but the matrices of dense layers in blocks to AdamW") {
  ParameterLayout layout;
  const Parameter matrix = layout.normal("blocks.0.attention.out.weight", 6, 6, 1);
  layout.no_decay(layout.normal("embedding.weight", 5, 6, 1));
  for (const char* name : {"output.weight", "cope.table.0", "blocks.0.convolution", "fox.gate.0.weight"})
    layout.normal(name, 6, 5, 1);
  for (const char* name : {"blocks.0.norm1.weight", "blocks.0.attention.out.bias"}) layout.normal(name, 1, 6, 1);
  Trained muon(layout), adamw(layout);
  muon.update("muon", 0.01, 0.5);
  adamw.update("adamw", 0.01, 0.5);
  CHECK((muon.values[matrix] - adamw.values[matrix]).norm() > 0.01);
  muon.values[matrix] = adamw.values[matrix];
  CHECK(muon.values.flat == adamw.values.flat);
}
