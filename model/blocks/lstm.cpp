// An LSTM layer (Hochreiter and Schmidhuber 1997) in place of attention and feed-forward: the recurrent baseline
// of Deletang et al. 2022 (arXiv:2207.02098) and of FLaRe (Butoi et al. 2024, arXiv:2411.07107). The cell is that
// of haiku, which the first paper uses; its forget gate has an offset of 1.
//
//   (i_t  f_t  o_t) = sigmoid(x_t W + h_{t-1} U + b + (0  1  0)),   g_t = tanh(x_t W + h_{t-1} U + b)
//   c_t = f_t c_{t-1} + i_t g_t,   h_t = o_t tanh(c_t),   c_0 = h_0 = 0
//
// W and U (C, 4 C) and b (1, 4 C) have the columns of i, f, o and g. The layer's result is h.
//
// Departures: both papers stack such layers, of 256 hidden units in the first. Here the layer has the width of the
// model, and the block adds its result to the residual stream, with the normalization of other blocks. FLaRe
// learns h_0 and has no offset.
#include <string>

#include "model/block.h"

namespace posbench::lstm {
namespace {

class LstmLayer final : public RecurrentLayer {
 public:
  using Options = NoOptions;

  LstmLayer(const Options&, const ModelConfig& config, const std::string& name, ParameterLayout& layout)
      : width_(config.width),
        input_(add_dense(layout, name + ".input", width_, 4 * width_, config.biases)),
        hidden_(add_dense(layout, name + ".hidden", width_, 4 * width_, /*biases=*/false)) {}

  void pack(const Parameters& p, bool backward, RecurrentWeights& weights) const override {
    weights.resize(kNumWeights);
    weights[kInput].fill(p[input_.weight], backward);
    weights[kHidden].fill(p[hidden_.weight], backward);
  }

  void forward(const RecurrentContext& c, Matrix& result) const override {
    const Values v = values(c.values);
    const Index T = c.input.rows(), C = width_;
    v.gates.resize(T, 4 * C);
    for (Matrix* matrix : {&v.cell, &v.tanh_cell, &v.hidden}) matrix->resize(T, C);
    linear(c.input, c.weights[kInput], c.parameters[input_.bias], v.gates);
    v.gates.middleCols(C, C).array() += 1;
    for (Index t = 0; t < T; ++t) {
      auto gates = v.gates.middleRows(t, 1);
      if (t > 0) multiply_add(v.hidden.middleRows(t - 1, 1), c.weights[kHidden], gates);
      sigmoid(gates.leftCols(3 * C), gates.leftCols(3 * C));
      hyperbolic_tangent(gates.rightCols(C), gates.rightCols(C));
      const auto i = gates.middleCols(0, C).array(), f = gates.middleCols(C, C).array(),
                 o = gates.middleCols(2 * C, C).array(), g = gates.middleCols(3 * C, C).array();
      auto cell = v.cell.middleRows(t, 1), tanh_cell = v.tanh_cell.middleRows(t, 1);
      cell.array() = i * g;
      if (t > 0) cell.array() += f * v.cell.middleRows(t - 1, 1).array();
      hyperbolic_tangent(cell, tanh_cell);
      v.hidden.middleRows(t, 1).array() = o * tanh_cell.array();
    }
    result = v.hidden;
  }

  void backward(const RecurrentContext& c, const Matrix& d_result, Matrix& d_input, Gradients& d) const override {
    const Values v = values(c.values);
    const MatrixOperand& hidden_weight = c.weights[kHidden];
    const Index T = c.input.rows(), C = width_;
    Matrix &d_gates = c.scratch(T, 4 * C), &d_hidden = c.scratch(1, C), &d_cell = c.scratch(1, C);
    d_cell.setZero();
    for (Index t = T; t-- > 0;) {
      d_hidden = d_result.middleRows(t, 1);
      if (t + 1 < T) multiply_add(d_gates.middleRows(t + 1, 1), hidden_weight.transpose(), d_hidden);
      const auto i = v.gates.block(t, 0, 1, C).array(), f = v.gates.block(t, C, 1, C).array(),
                 o = v.gates.block(t, 2 * C, 1, C).array(), g = v.gates.block(t, 3 * C, 1, C).array(),
                 tanh_cell = v.tanh_cell.block(t, 0, 1, C).array();
      auto d_i = d_gates.block(t, 0, 1, C).array(), d_f = d_gates.block(t, C, 1, C).array(),
           d_o = d_gates.block(t, 2 * C, 1, C).array(), d_g = d_gates.block(t, 3 * C, 1, C).array();
      auto d_h = d_hidden.array(), d_c = d_cell.array();
      d_o = d_h * tanh_cell * o * (1 - o);
      d_c += d_h * o * (1 - tanh_cell * tanh_cell);
      d_g = d_c * i * (1 - g * g);
      d_i = d_c * g * i * (1 - i);
      d_f.setZero();
      if (t > 0) d_f = d_c * v.cell.block(t - 1, 0, 1, C).array() * f * (1 - f);
      d_c *= f;
    }
    if (T > 1) multiply_add(v.hidden.topRows(T - 1).transpose(), d_gates.bottomRows(T - 1), d[hidden_.weight]);
    linear_backward(c.input, c.weights[kInput], d_gates, d_input, d[input_.weight], d[input_.bias],
                    Accumulate::no);
    c.scratch.release();
  }

  double multiply_adds(Index length) const override {
    return static_cast<double>(length) * 2 * static_cast<double>(width_) * 4 * static_cast<double>(width_);
  }

 private:
  enum : size_t { kInput, kHidden, kNumWeights };
  struct Values {
    Matrix& gates;                      // (T, 4 C): i, f, o and g
    Matrix &cell, &tanh_cell, &hidden;  // (T, C): c, tanh(c) and h
  };
  static Values values(Matrices& m) {
    m.resize(4);
    return {.gates = m[0], .cell = m[1], .tanh_cell = m[2], .hidden = m[3]};
  }

  Index width_;  // C
  DenseParameters input_, hidden_;
};

const RegisterRecurrentLayer<LstmLayer> registered{
    {.name = "lstm", .summary = "an LSTM layer alone", .in_block = "attention"}};

}  // namespace
}  // namespace posbench::lstm
