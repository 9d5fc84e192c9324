#include "encodings/parts/dape_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "model/attention.h"
#include "model/lanes.h"
#include "model/product.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr Real kLeak = Real(0.01);  // slope of LeakyReLU below 0
constexpr Index kColumns =
    192;  // columns of a block: efficient for matrix products, and small enough for the L1 cache

/// Successive queries whose keys are columns of one matrix, with `reach` columns between the keys of two queries.
struct Block {
  Index first, end, columns;
};

/// to = f(from) for `size` entries.
template <class F>
void transform(const Real* from, Index size, Real* to, F f) {
  for_each_lanes(size, [&](Index n, auto count) { store(f(load(from + n, count, 0)), to + n, count); });
}
void copy(const Real* from, Index size, Real* to) {
  transform(from, size, to, [](Lanes a) { return a; });
}
/// to = f(to, from) for `size` entries.
template <class F>
void combine(Real* to, const Real* from, Index size, F f) {
  for_each_lanes(size, [&](Index n, auto count) {
    store(f(load(to + n, count, 0), load(from + n, count, 0)), to + n, count);
  });
}
/// to += a * b for `size` entries.
void add_products(const Real* a, const Real* b, Index size, Real* to) {
  for_each_lanes(size, [&](Index n, auto count) {
    store(load(to + n, count, 0) + load(a + n, count, 0) * load(b + n, count, 0), to + n, count);
  });
}
constexpr auto plus = [](Lanes a, Lanes b) { return a + b; };
constexpr auto times = [](Lanes a, Lanes b) { return a * b; };

}  // namespace

void DapeNetwork::Options::describe(OptionTable& o) {
  o.text("base", base, "a bias by distance, a rotary encoding, or none",
         "the biases or scores that the network adapts");
  o.integer("hidden", hidden, 1, 4096, "inner width of the network");
  o.choice("combine", combine, {"concatenate", "add", "multiply"},
           "combination of scores and biases that is the network's input");
  o.flag("residual", residual, "add the bias itself to the score, in addition to the network's output");
}

DapeNetwork::DapeNetwork(const std::string& name, Index taps, const Options& options, const ModelConfig& config,
                         ParameterLayout& layout)
    : Decorator(config, make_encoding(Spec::parse(options.base), config, layout)),
      options_(options),
      bias_(inner().as_additive_bias()),
      taps_(taps),
      channels_((bias_ && options.combine == Combine::concatenate ? 2 : 1) * config.heads) {
  const std::string base = Spec::parse(options.base).name;
  const Family family = encodings().find(base).info.family;
  // TUPE adds a bias too, but the content of its scores has another scale.
  const bool has_bias = bias_ != nullptr && family == Family::bias_by_distance;
  if (!has_bias && base != "none" && family != Family::rotary) {
    throw InputError(fmt::format(
        "encoding '{}': base is '{}', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
        "encoding (rope, ...) or none",
        name, options.base));
  }
  if (bias_ == nullptr && (options.combine != Combine::concatenate || !options.residual)) {
    throw InputError(fmt::format("encoding '{}': with base {} there is no bias; leave out combine and residual",
                                 name, options.base));
  }
  if (bias_ && bias_->hides_keys()) {
    throw InputError(fmt::format(
        "encoding '{}': base '{}' hides keys, for which the network has no input; expected a bias that is a "
        "number for every key, as that of alibi",
        name, options.base));
  }
  const Index inputs = taps * channels_, H = config.heads;
  const double in_bound = 1 / std::sqrt(inputs), out_bound = 1 / std::sqrt(taps * options.hidden);
  for (int layer = 0; layer < config.layers; ++layer) {
    const auto add = [&](const char* part, Index rows, Index cols, double bound) {
      return layout.uniform(fmt::format("{}.{}.{}", name, layer, part), rows, cols, -bound, bound);
    };
    in_weights_.push_back(add("in.weight", options.hidden, inputs, in_bound));
    in_biases_.push_back(add("in.bias", 1, options.hidden, in_bound));
    out_weights_.push_back(add("out.weight", taps * H, options.hidden, out_bound));
    out_biases_.push_back(add("out.bias", 1, H, out_bound));
  }
}

/// The network of one layer, evaluated for a block of queries at a time. In all matrices rows are channels and
/// columns keys.
struct DapeNetwork::LayerNetwork {
  LayerNetwork(const DapeNetwork& dape, const AttentionInput& in)
      : dape(dape),
        in(in),
        T(in.length()),
        H(dape.config_.heads),
        reach(dape.taps_ / 2),
        in_weight(in.parameters[dape.in_weights_[in.layer]]),
        in_bias(in.parameters[dape.in_biases_[in.layer]]),
        out_weight(in.parameters[dape.out_weights_[in.layer]]),
        out_bias(in.parameters[dape.out_biases_[in.layer]]),
        inputs(buffer(in_weight.cols())),
        hidden(buffer(in_weight.rows())),
        outputs(buffer(out_weight.rows())) {}

  Matrix& buffer(Index rows) const { return in.scratch(rows, std::max(kColumns, T + 3 * reach + kRowPadding)); }
  const Matrix& bias(Index h) const { return dape.bias_->bias_of(in.tables, in.layer, static_cast<size_t>(h)); }
  Index keys(Index i) const { return num_visible_keys(i, T, dape.config_.causal); }
  /// The number of keys whose hidden values the second map reads: the visible keys and, if it exists, the next
  /// one.
  Index live(Index i) const { return std::min(keys(i) + reach, T); }

  template <class F>
  void for_each_block(F f) const {
    for (Block b{0, 0, 0}; b.end < T;) {
      b = {b.end, b.end, reach};
      while (b.end < T && (b.end == b.first || b.columns + live(b.end) + reach <= kColumns)) {
        b.columns += live(b.end++) + reach;
      }
      f(b);
    }
  }
  /// Calls f(query, the column of its key 0, its number of keys) for each query of the block.
  template <class F>
  void for_each_query(const Block& b, F f) const {
    for (Index i = b.first, column = reach; i < b.end; ++i) {
      f(i, column, keys(i));
      column += live(i) + reach;
    }
  }
  /// The place of the query's first key in an input channel of tap t, which reads t - reach keys ahead.
  Real* input_of_tap(Matrix& m, Index t, Index channel, Index column) const {
    return m.row(t * dape.channels_ + channel).data() + column + reach - t;
  }
  /// The place of the query's first key in the output of tap t for head h, which is read t - reach keys ahead.
  Real* output_of_tap(Matrix& m, Index t, Index h, Index column) const {
    return m.row(t * H + h).data() + column + t - reach;
  }

  /// Computes `inputs` and `hidden` of a block from the heads' content scores.
  void forward(const Block& b, const Heads& content) {
    auto x = inputs.leftCols(b.columns), y = hidden.leftCols(b.columns);
    if (reach > 0) x.setZero();
    for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index t = 0; t < dape.taps_; ++t) {
        for (Index h = 0; h < H; ++h) {
          Real* channel = input_of_tap(inputs, t, h, column);
          copy(content[h].row(i).data(), keys, channel);
          if (dape.bias_ == nullptr) continue;
          const Real* row = bias(h).row(i).data();
          switch (dape.options_.combine) {
            case Combine::concatenate:
              copy(row, keys, input_of_tap(inputs, t, H + h, column));
              break;
            case Combine::add:
              combine(channel, row, keys, plus);
              break;
            case Combine::multiply:
              combine(channel, row, keys, times);
              break;
          }
        }
      }
    });
    multiply(in_weight, x, y);
    for (Index n = 0; n < y.rows(); ++n) {
      const Real shift = in_bias(0, n);
      transform(y.row(n).data(), b.columns, y.row(n).data(),
                [=](Lanes v) { return larger(v + shift, kLeak * (v + shift)); });
    }
    zero_gaps(b, hidden);
  }

  /// Sets the columns between the queries to zero, which the second map reads.
  void zero_gaps(const Block& b, Matrix& m) const {
    if (reach == 0) return;
    m.leftCols(reach).setZero();
    for_each_query(b, [&](Index i, Index column, Index) { m.middleCols(column + live(i), reach).setZero(); });
  }

  const DapeNetwork& dape;
  const AttentionInput& in;
  Index T, H, reach;
  ConstMatrixView in_weight, in_bias;    // (hidden, taps channels), (1, hidden)
  ConstMatrixView out_weight, out_bias;  // (taps H, hidden), (1, H)
  Matrix& inputs;                        // (taps channels, columns), tap by tap
  Matrix& hidden;                        // (hidden, columns), after the LeakyReLU
  Matrix& outputs;                       // (taps H, columns), tap by tap
};

void DapeNetwork::adapted_scores(const AttentionInput& in, Heads& scores) const {
  bias_ ? PositionEncoding::score(in, scores) : inner().score(in, scores);
}

void DapeNetwork::content(const AttentionInput& in, Heads& content) const {
  bias_ ? PositionEncoding::content(in, content) : inner().content(in, content);
}

void DapeNetwork::score(const AttentionInput& in, Heads& scores) const {
  adapted_scores(in, scores);
  LayerNetwork network(*this, in);
  const Index next_tap = network.H * network.outputs.cols() + 1;  // from the output of a tap to the next tap's
  network.for_each_block([&](const Block& b) {
    network.forward(b, scores);
    multiply(network.out_weight, network.hidden.leftCols(b.columns), network.outputs.leftCols(b.columns));
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < network.H; ++h) {
        Real* row = scores[h].row(i).data();
        const Real* bias = bias_ && options_.residual ? network.bias(h).row(i).data() : nullptr;
        const Real *output = network.output_of_tap(network.outputs, 0, h, column), shift = network.out_bias(0, h);
        for_each_lanes(keys, [&](Index j, auto count) {
          Lanes v = load(row + j, count, 0) + shift;
          if (bias) v += load(bias + j, count, 0);
          for (Index t = 0; t < taps_; ++t) v += load(output + t * next_tap + j, count, 0);
          store(v, row + j, count);
        });
      }
    });
  });
}

std::vector<AttentionMap> DapeNetwork::inspect(const AttentionInput& in) const {
  const Index T = in.length();
  AttentionMap before{"bias before the network", {}}, after{"bias after the network", {}};
  Heads content(config_.heads, Matrix(T, T));
  after.values = content;
  adapted_scores(in, content);
  score(in, after.values);
  for (size_t h = 0; h < content.size(); ++h) {
    after.values[h] -= content[h];
    if (bias_) before.values.emplace_back(bias_->bias_of(in.tables, in.layer, h).topLeftCorner(T, T));
  }
  return bias_ ? std::vector<AttentionMap>{before, after} : std::vector<AttentionMap>{after};
}

/// The gradients of a layer's network.
struct DapeNetwork::LayerGradient {
  LayerGradient(const LayerNetwork& network, AttentionGradient& d)
      : network(network),
        dape(network.dape),
        d(d),
        learned(dape.bias_ && dape.bias_->learned()),
        inputs(network.buffer(learned || dape.taps_ > 1 ? network.inputs.rows() : network.H)),
        hidden(network.buffer(network.hidden.rows())),
        outputs(network.buffer(network.outputs.rows())),
        out_weight_by_column(network.in.scratch(network.out_weight.cols(), network.out_weight.rows())) {
    out_weight_by_column = d.parameters[dape.out_weights_[network.in.layer]].transpose();
  }

  void outputs_backward(const Block& b, const Heads& d_scores) {
    auto d_bias = d.parameters[dape.out_biases_[network.in.layer]];
    if (network.reach > 0) outputs.leftCols(b.columns).setZero();
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < network.H; ++h) {
        const Real* row = d_scores[h].row(i).data();
        d_bias(0, h) += kernels().sum(row, keys);
        for (Index t = 0; t < dape.taps_; ++t) copy(row, keys, network.output_of_tap(outputs, t, h, column));
      }
    });
  }

  /// The backward of the second map, LeakyReLU and the first map.
  void maps_backward(const Block& b) {
    const auto x = network.inputs.leftCols(b.columns), y = network.hidden.leftCols(b.columns);
    auto d_x = inputs.leftCols(b.columns), d_y = hidden.leftCols(b.columns), d_z = outputs.leftCols(b.columns);
    auto d_in_weight = d.parameters[dape.in_weights_[network.in.layer]];
    auto d_in_bias = d.parameters[dape.in_biases_[network.in.layer]];
    multiply_add(y, d_z.transpose(), out_weight_by_column);
    multiply(network.out_weight.transpose(), d_z, d_y);
    for (Index n = 0; n < d_y.rows(); ++n) {
      combine(d_y.row(n).data(), y.row(n).data(), b.columns,
              [](Lanes d, Lanes value) { return value > 0 ? d : kLeak * d; });
    }
    network.zero_gaps(b, hidden);
    for (Index n = 0; n < d_y.rows(); ++n) d_in_bias(0, n) += kernels().sum(d_y.row(n).data(), d_y.cols());
    multiply_add(d_y, x.transpose(), d_in_weight);
    multiply(network.in_weight.leftCols(inputs.rows()).transpose(), d_y, d_x);
  }

  /// Adds to d_content and to the gradients of learned biases.
  void inputs_backward(const Block& b, const Heads& content, const Heads& d_scores, Heads& d_content) {
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < network.H; ++h) {
        const Real *bias = dape.bias_ ? network.bias(h).row(i).data() : nullptr, *row = content[h].row(i).data();
        Real *d_row = d_content[h].row(i).data(), *d_bias = learned ? d_bias_of(h).row(i).data() : nullptr;
        if (learned && dape.options_.residual) combine(d_bias, d_scores[h].row(i).data(), keys, plus);
        for (Index t = 0; t < dape.taps_; ++t) {
          const Real* d_channel = network.input_of_tap(inputs, t, h, column);
          switch (dape.options_.combine) {
            case Combine::concatenate:
              combine(d_row, d_channel, keys, plus);
              if (learned) combine(d_bias, network.input_of_tap(inputs, t, network.H + h, column), keys, plus);
              break;
            case Combine::add:
              combine(d_row, d_channel, keys, plus);
              if (learned) combine(d_bias, d_channel, keys, plus);
              break;
            case Combine::multiply:
              add_products(d_channel, bias, keys, d_row);
              if (learned) add_products(d_channel, row, keys, d_bias);
              break;
          }
        }
      }
    });
  }

  Matrix& d_bias_of(Index h) const {
    return dape.bias_->d_bias_of(d.tables, network.in.layer, static_cast<size_t>(h));
  }

  const LayerNetwork& network;
  const DapeNetwork& dape;
  AttentionGradient& d;
  bool learned;                       // the base learns its biases; otherwise `inputs` omits their rows
  Matrix &inputs, &hidden, &outputs;  // as in LayerNetwork
  Matrix& out_weight_by_column;       // transposed, so that products copy the few columns of `outputs`
};

void DapeNetwork::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  LayerNetwork network(*this, in);
  const Index T = network.T, H = network.H;
  Heads content(config_.heads), d_content(config_.heads);
  for (Heads* heads : {&content, &d_content}) {
    for (Matrix& head : *heads) head.refer_to(in.scratch(T, T));
  }
  LayerGradient gradient(network, d);
  adapted_scores(in, content);
  for (Index h = 0; h < H; ++h) d_content[h] = d_scores[h];
  network.for_each_block([&](const Block& b) {
    network.forward(b, content);
    gradient.outputs_backward(b, d_scores);
    gradient.maps_backward(b);
    gradient.inputs_backward(b, content, d_scores, d_content);
  });
  d.parameters[out_weights_[in.layer]] = gradient.out_weight_by_column.transpose();
  if (bias_ == nullptr) return inner().score_backward(in, d_content, d);
  for (Index h = 0; h < H; ++h) {
    dot_product_backward(in.q[h], in.k[h], scale(), config_.causal, d_content[h], d.q[h], d.k[h]);
  }
}

EncodingInfo dape_info(EncodingInfo info) {
  info.family = Family::contextual;
  info.notes +=
      " The base decides whether layers share its parameters. DAPE's code has a set for each layer, "
      "base=(kerple_log:per_layer=true), and uses LeakyReLU inside FIRE, base=(fire:activation=leaky_relu). The "
      "ablations of the first paper are `hidden`; f of A + B or of A times B (combine); no residual B "
      "(residual=false); f(A) alone (base=none). With base=rope, A are the rotated scores, as in the released "
      "rope_dapev1 and rope_dapev2. The module of rope_dapev2 is built for 2 H inputs and given H, so that it "
      "stops with an error.";
  info.learned = true;
  info.extrapolates = Extrapolation::as_base;
  info.content_dependent = "logits";
  info.variants.insert(
      info.variants.end(),
      {"base=(alibi:learned=true),combine=add,residual=false", "base=(alibi:learned=true),combine=multiply",
       "base=fire", "base=(fire:activation=leaky_relu)", "base=(kerple_log:per_layer=true),hidden=5",
       "base=kerple_log", "base=none", "base=rope", "combine=add", "combine=multiply", "hidden=7,residual=false"});
  return info;
}

}  // namespace posbench::inline POSBENCH_REAL
