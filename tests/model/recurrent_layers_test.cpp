// Tests what recurrent layers compute, by a second implementation of their equations that loops over single
// numbers. contract_test.cpp and block_options_test.cpp test the gradients.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/training_step.h"
#include "tests/catch.h"
#include "tests/model/block_kinds.h"

using namespace posbench;

namespace {

using Numbers = std::vector<std::vector<double>>;  // a row for each token

const std::vector<int> kTokens{1, 4, 2, 0, 6, 3, 5, 2, 1, 0, 3};

/// One recurrent model with random parameters, of which some are zero at first.
struct Net {
  explicit Net(const std::string& block, int layers = 1, bool pre_norm = true)
      : config{{.layers = layers, .width = 6, .heads = 2, .pre_norm = pre_norm, .block = {block}},
               /*vocabulary=*/7},
        encoding(config),
        model(config, layout, encoding),
        parameters(initialize(layout, 1)) {
    Rng rng = make_rng(1, "recurrent layers");
    for (const auto& entry : layout.entries()) {
      MatrixView values = parameters[entry.parameter];
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += Real(0.3) * static_cast<Real>(normal(rng));
    }
  }

  Sequence sequence(const std::vector<int>& tokens) const {
    Sequence s;
    s.tokens = tokens;
    for (size_t t = 0; t < tokens.size(); ++t) s.target_positions.push_back(static_cast<int>(t));
    Rng rng;
    s.positions = encoding.positions(s, rng);
    return s;
  }
  EigenMatrix logits(const std::vector<int>& tokens, SequenceWorkspace& workspace) const {
    const Sequence s = sequence(tokens);
    StepCache step;
    model.prepare(parameters, s, step, nullptr);
    model.forward(parameters, s, step, nullptr, workspace);
    return workspace.logits;
  }
  double value(const std::string& name, Index row, Index col) const {
    return parameters[layout.at(name)](row, col);
  }

  ModelConfig config;
  PositionEncoding encoding;
  ParameterLayout layout;
  Transformer model;
  Parameters parameters;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double silu_of(double x) { return x * sigmoid_of(x); }

/// Returns x w + b for one row. Without a bias, `bias` is empty.
std::vector<double> dense(const Net& net, const std::vector<double>& x, const std::string& name, size_t outputs,
                          bool bias) {
  std::vector<double> y(outputs);
  for (size_t o = 0; o < outputs; ++o) {
    y[o] = bias ? net.value(name + ".bias", 0, static_cast<Index>(o)) : 0;
    for (size_t i = 0; i < x.size(); ++i)
      y[o] += x[i] * net.value(name + ".weight", static_cast<Index>(i), static_cast<Index>(o));
  }
  return y;
}

std::vector<double> layer_norm_of(const Net& net, const std::vector<double>& x, const std::string& name) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
  std::vector<double> y(x.size());
  for (size_t c = 0; c < x.size(); ++c) {
    y[c] = (x[c] - mean) / std::sqrt(variance + 1e-5) * net.value(name + ".weight", 0, static_cast<Index>(c)) +
           net.value(name + ".bias", 0, static_cast<Index>(c));
  }
  return y;
}

/// The LSTM layer, one hidden unit at a time.
Numbers lstm(const Net& net, const Numbers& x) {
  const std::string name = "blocks.0.lstm";
  const size_t C = x[0].size();
  std::vector<double> h(C, 0), c(C, 0);
  Numbers result;
  for (const std::vector<double>& row : x) {
    const std::vector<double> from_x = dense(net, row, name + ".input", 4 * C, true),
                              from_h = dense(net, h, name + ".hidden", 4 * C, false);
    const auto gate = [&](size_t kind, size_t unit) { return from_x[kind * C + unit] + from_h[kind * C + unit]; };
    for (size_t n = 0; n < C; ++n) {
      c[n] = sigmoid_of(gate(1, n) + 1) * c[n] + sigmoid_of(gate(0, n)) * std::tanh(gate(3, n));
      h[n] = sigmoid_of(gate(2, n)) * std::tanh(c[n]);
    }
    result.push_back(h);
  }
  return result;
}

/// Returns row t of silu(convolution(x W)), from the projections of all tokens.
std::vector<double> convolved(const Net& net, const Numbers& projected, size_t t) {
  std::vector<double> y(projected[0].size());
  for (size_t n = 0; n < y.size(); ++n) {
    double sum = 0;
    for (size_t back = 0; back < 4 && back <= t; ++back) {
      sum += net.value("blocks.0.gated_delta.convolution", static_cast<Index>(back), static_cast<Index>(n)) *
             projected[t - back][n];
    }
    y[n] = silu_of(sum);
  }
  return y;
}

std::vector<double> unit_vector(const std::vector<double>& from, size_t first, size_t size) {
  double squares = 1e-6;
  for (size_t n = 0; n < size; ++n) squares += from[first + n] * from[first + n];
  std::vector<double> y(size);
  for (size_t n = 0; n < size; ++n) y[n] = from[first + n] / std::sqrt(squares);
  return y;
}

/// S <- S diag(a) (I - b k k^T) + b v k^T, as this product of matrices.
void update(Numbers& S, const std::vector<double>& a, double b, const std::vector<double>& k, const double* v) {
  const Numbers before = S;
  const size_t D = k.size();
  for (size_t i = 0; i < D; ++i) {
    for (size_t j = 0; j < D; ++j) {
      double product = 0;
      for (size_t n = 0; n < D; ++n) product += before[i][n] * a[n] * ((n == j ? 1 : 0) - b * k[n] * k[j]);
      S[i][j] = product + b * v[i] * k[j];
    }
  }
}

/// S <- S R^T, for the rotation R of each pair of components by its angle.
void rotate(Numbers& S, const std::vector<double>& angles) {
  for (std::vector<double>& row : S) {
    for (size_t n = 0; n < angles.size(); ++n) {
      const double x = row[2 * n], y = row[2 * n + 1], c = std::cos(angles[n]), s = std::sin(angles[n]);
      row[2 * n] = c * x - s * y;
      row[2 * n + 1] = s * x + c * y;
    }
  }
}

/// The rates of one head at one token. The angles are those of a rotation of the state, not of keys and queries.
struct Rates {
  std::vector<double> decay, angles;
  double strength = 0;
};
Rates rates_of(const Net& net, const std::vector<double>& x, size_t h) {
  const std::string name = "blocks.0.gated_delta", text = net.config.block.text();
  const size_t C = x.size(), H = static_cast<size_t>(net.config.heads), D = C / H;
  const auto number = [&](const std::string& part, size_t n) {
    return net.value(name + part, 0, static_cast<Index>(n));
  };
  const bool by_channel = text.find("decay=channel") != std::string::npos;
  const std::vector<double> rates =
      by_channel ? dense(net, dense(net, x, name + ".decay_down", D, false), name + ".decay_up", C, false)
                 : dense(net, x, name + ".rates", 2 * H, false);
  Rates result;
  double step = 0;
  for (size_t n = 0; n < D; ++n) {
    const size_t at = by_channel ? h * D + n : h;
    step = std::log1p(std::exp(rates[at] + number(".step_bias", at)));
    result.decay.push_back(std::exp(-std::exp(number(".decay_speed", h)) * step));
  }
  result.strength = sigmoid_of(by_channel ? dense(net, x, name + ".strength", H, false)[h] : rates[H + h]);
  if (text.find("strength=2") != std::string::npos) result.strength *= 2;
  if (text.find("rotation=true") == std::string::npos) return result;
  for (const double turn : dense(net, x, name + ".angle", D / 2, false))
    result.angles.push_back(-3.14159265358979323846 * step * std::tanh(turn));
  return result;
}

/// The gated delta rule, one head at a time, with the state as in the papers.
Numbers gated_delta(const Net& net, const Numbers& x) {
  const std::string name = "blocks.0.gated_delta";
  const size_t T = x.size(), C = x[0].size(), H = static_cast<size_t>(net.config.heads), D = C / H;
  Numbers projected, joined(T, std::vector<double>(C));
  for (const std::vector<double>& row : x) projected.push_back(dense(net, row, name + ".qkv", 3 * C, false));
  for (size_t h = 0; h < H; ++h) {
    Numbers S(D, std::vector<double>(D, 0));
    for (size_t t = 0; t < T; ++t) {
      const std::vector<double> qkv = convolved(net, projected, t), q = unit_vector(qkv, h * D, D),
                                k = unit_vector(qkv, C + h * D, D),
                                gate = dense(net, x[t], name + ".gate", C, false);
      const Rates rates = rates_of(net, x[t], h);
      rotate(S, rates.angles);
      update(S, rates.decay, rates.strength, k, &qkv[2 * C + h * D]);
      std::vector<double> o(D, 0);
      double squares = 0;
      for (size_t i = 0; i < D; ++i) {
        for (size_t j = 0; j < D; ++j) o[i] += S[i][j] * q[j] / std::sqrt(static_cast<double>(D));
        squares += o[i] * o[i] / static_cast<double>(D);
      }
      for (size_t i = 0; i < D; ++i) {
        joined[t][h * D + i] = o[i] / std::sqrt(squares + 1e-5) *
                               net.value(name + ".norm.weight", 0, static_cast<Index>(i)) *
                               silu_of(gate[h * D + i]);
      }
    }
  }
  Numbers result;
  for (const std::vector<double>& row : joined) result.push_back(dense(net, row, name + ".out", C, false));
  return result;
}

void add(std::vector<double>& to, const std::vector<double>& other) {
  for (size_t n = 0; n < to.size(); ++n) to[n] += other[n];
}

/// The logits of a model with one pre-norm block.
Numbers naive_logits(const Net& net, const std::vector<int>& tokens) {
  Numbers x, input;
  for (const int token : tokens) {
    x.emplace_back();
    for (Index c = 0; c < net.config.width; ++c) x.back().push_back(net.value("embedding.weight", token, c));
    input.push_back(layer_norm_of(net, x.back(), "blocks.0.norm1"));
  }
  const bool is_lstm = net.config.block.text() == "lstm";
  const Numbers mixed = is_lstm ? lstm(net, input) : gated_delta(net, input);
  for (size_t t = 0; t < x.size(); ++t) {
    add(x[t], mixed[t]);
    if (!is_lstm) {
      std::vector<double> up = dense(net, layer_norm_of(net, x[t], "blocks.0.norm2"), "blocks.0.feed_forward.up",
                                     static_cast<size_t>(net.config.inner_width()), true);
      for (double& u : up)
        u = u / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (u + 0.044715 * u * u * u)));
      add(x[t], dense(net, up, "blocks.0.feed_forward.down", x[t].size(), true));
    }
    x[t] = dense(net, layer_norm_of(net, x[t], "final_norm"), "output", static_cast<size_t>(net.config.vocabulary),
                 true);
  }
  return x;
}

void check_equal(const EigenMatrix& logits, const Numbers& expected) {
  REQUIRE(logits.rows() == static_cast<Index>(expected.size()));
  double worst = 0;
  for (Index t = 0; t < logits.rows(); ++t) {
    for (Index v = 0; v < logits.cols(); ++v)
      worst = std::max(worst, std::abs(logits(t, v) - expected[static_cast<size_t>(t)][static_cast<size_t>(v)]));
  }
  CHECK(worst < 1e-10);
}

}  // namespace

TEST_CASE("a recurrent layer agrees with loops over its equations, also for one token") {
  const std::string block =
      GENERATE("lstm", "gated_delta", "gated_delta:strength=2", "gated_delta:strength=2,decay=channel",
               "gated_delta:strength=2,rotation=true");
  INFO(block);
  const Net net(block);
  SequenceWorkspace workspace;
  check_equal(net.logits(kTokens, workspace), naive_logits(net, kTokens));
  check_equal(net.logits({4}, workspace), naive_logits(net, {4}));
}

TEST_CASE("a sequence has the same logits and gradients whichever sequence used the memory before") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/true)));
  for (const bool pre_norm : {true, false}) {
    INFO(block << (pre_norm ? ", pre" : ", post"));
    const Net net(block, /*layers=*/2, pre_norm);
    const Sequence first = net.sequence(kTokens), second = net.sequence({5, 0, 1, 6}), third = net.sequence({2});
    const std::vector<int> targets{3, 1, 2, 5, 0, 6, 1, 2, 3, 4, 5};
    const auto part = [&](size_t count) { return std::vector<int>(targets.begin(), targets.begin() + count); };
    const auto gradient = [&](std::vector<const Sequence*> batch) {
      TrainingWorkspace workspace(net.layout);
      std::vector<std::vector<int>> all;
      std::vector<LabeledSequence> labeled;
      all.reserve(batch.size());
      for (const Sequence* s : batch) {
        all.push_back(part(s->tokens.size()));
        labeled.push_back({*s, all.back()});
      }
      loss_and_gradient(
          net.model, net.parameters, labeled, 1, [](size_t) { return Rng(); }, workspace);
      return workspace.gradients.flat;
    };
    const Vector sum = gradient({&first}) + gradient({&second}) + gradient({&third});
    CHECK(sum.norm() > 1e-3);
    CHECK((gradient({&first, &second, &third}) - sum).norm() < 1e-12 * sum.norm());
    CHECK((gradient({&third, &first, &second}) - sum).norm() < 1e-12 * sum.norm());

    SequenceWorkspace fresh, used;
    const EigenMatrix expected = net.logits(second.tokens, fresh);
    net.logits(kTokens, used);
    CHECK((net.logits(second.tokens, used) == expected));
  }
}

TEST_CASE("the multiply-adds of a recurrent model grow in proportion to the length") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/true)));
  const Net net(block);
  const double one = net.model.multiply_adds(1, 1);
  CHECK(net.model.multiply_adds(10, 10) == Approx(10 * one));
  const double C = 6, H = 2, D = 3, output = C * 7;
  CHECK(one - output == (block == "lstm" ? 8 * C * C : 5 * C * C + 2 * C * H + 4 * 3 * C + 4 * C * D + 8 * C * C));
}

TEST_CASE("a recurrent model has no attention maps, and a rotation with a decay of each channel is refused") {
  const Net net("gated_delta");
  SequenceWorkspace workspace;
  net.logits(kTokens, workspace);
  CHECK(net.model.inspect(net.parameters, net.sequence(kTokens), Tables(), 0, workspace).empty());
  CHECK_THROWS_WITH(
      Net("gated_delta:decay=channel,rotation=true"),
      "block 'gated_delta': rotation=true needs one decay for each head, and decay is channel; leave out one");
}
