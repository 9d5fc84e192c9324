// Defines Muon (Jordan et al. 2024, kellerjordan.github.io/posts/muon), for the matrices of dense layers in
// blocks. AdamW updates the other parameters: embeddings, the output layer, encodings, biases, gains and
// convolutions.
//
//   m = m + (1 - mu) (g - m),   u = g + mu (m - g),   mu = 0.95                                (Nesterov momentum)
//   x = u / (|u| + 1e-7),   then five times   a = x x^T,   x = 3.4445 x + (-4.775 a + 2.0315 a^2) x
//   p = keep p - rate max(1, outputs / inputs)^(1/2) x,   keep = 1 - rate weight_decay
//
// |u| is the Frobenius norm. The iteration brings the singular values to about 1 (0.7 to 1.2), so that x is near
// the orthogonal matrix that is closest to u. Queries, keys and values are three matrices, although one parameter
// has them side by side.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "model/kernels.h"
#include "model/optimizer.h"
#include "model/optimizers/adamw.h"
#include "model/product.h"

namespace posbench::muon {
namespace {

constexpr Real kMomentum = Real(0.95), kNormEpsilon = Real(1e-7);
constexpr int kIterations = 5;
constexpr Real kLinear = Real(3.4445), kCubic = Real(-4.775), kQuintic = Real(2.0315);

/// Returns whether Muon updates a parameter.
bool is_matrix_of_block(const ParameterLayout::Entry& entry) {
  return entry.decays && entry.name.starts_with("blocks.") && entry.name.ends_with(".weight");
}

bool is_other(const ParameterLayout::Entry& entry) { return !is_matrix_of_block(entry); }

/// The memory of an update, which all matrices reuse.
struct Workspace {
  Matrix x, next, gram, polynomial;
};

/// Returns a matrix with the singular vectors of w.x and singular values of about 1. It changes w.x.
const Matrix& orthogonalized(Workspace& w) {
  const Index rows = w.x.rows(), cols = w.x.cols(), smaller = std::min(rows, cols);
  w.x /= std::sqrt(kernels().dot(w.x.data(), w.x.data(), w.x.size())) + kNormEpsilon;
  w.next.resize(rows, cols);
  w.gram.resize(smaller, smaller);
  w.polynomial.resize(smaller, smaller);
  Matrix *x = &w.x, *next = &w.next;
  for (int n = 0; n < kIterations; ++n) {
    const MatrixOperand operand(*x), transposed = operand.transpose();
    rows <= cols ? multiply(operand, transposed, w.gram) : multiply(transposed, operand, w.gram);
    w.polynomial = kCubic * w.gram;
    multiply_add(w.gram, w.gram, w.polynomial, kQuintic);
    *next = kLinear * *x;
    rows <= cols ? multiply_add(w.polynomial, operand, *next) : multiply_add(operand, w.polynomial, *next);
    std::swap(x, next);
  }
  return *x;
}

class Muon final : public Optimizer {
 public:
  struct Options {
    double rate = 7;

    void describe(OptionTable& o) {
      o.number("rate", rate, 1e-6, 1e6, "learning rate of these matrices as a multiple of learning_rate");
    }
  };

  Muon(const OptimizerOptions& options, const ParameterLayout& layout)
      : rate_(read_options<Options>(options.optimizer, "optimizer").rate),
        weight_decay_(options.weight_decay),
        others_(options, layout, is_other) {
    for (const ParameterLayout::Entry& entry : layout.entries()) {
      if (is_matrix_of_block(entry))
        matrices_.push_back({entry.parameter, entry.name.ends_with(".qkv.weight") ? 3 : 1});
    }
  }

  OptimizerState initial_state(const ParameterLayout& layout) const override {
    return others_.initial_state(layout);
  }

  void step(const Gradients& gradients, double learning_rate, OptimizerState& state,
            Parameters& parameters) const override {
    others_.step(gradients, learning_rate, state, parameters);
    const double rate = rate_ * learning_rate;
    const Real keep = static_cast<Real>(1 - rate * weight_decay_);
    Parameters& means = state.tensors.at("mean");
    Workspace w;
    for (const auto& [parameter, parts] : matrices_) {
      const Index inputs = parameter.rows, outputs = parameter.cols / parts;
      const double aspect = static_cast<double>(outputs) / static_cast<double>(inputs);
      const Real scaled = static_cast<Real>(rate * std::sqrt(std::max(1.0, aspect)));
      for (Index part = 0; part < parts; ++part) {
        const auto g = gradients[parameter].middleCols(part * outputs, outputs);
        auto mean = means[parameter].middleCols(part * outputs, outputs);
        auto p = parameters[parameter].middleCols(part * outputs, outputs);
        mean += (1 - kMomentum) * (g - mean);
        w.x.resize(inputs, outputs);
        w.x = g + kMomentum * (mean - g);
        p = keep * p - scaled * orthogonalized(w);
      }
    }
  }

 private:
  struct Treated {
    Parameter parameter;
    Index parts;  // matrices side by side
  };

  double rate_, weight_decay_;
  adamw::AdamW others_;
  std::vector<Treated> matrices_;
};

const RegisterOptimizer<Muon> registered{
    {.name = "muon",
     .summary = "Muon for the matrices of dense layers in blocks, AdamW for all other parameters"}};

}  // namespace
}  // namespace posbench::muon
