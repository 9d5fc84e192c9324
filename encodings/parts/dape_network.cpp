#include "encodings/parts/dape_network.h"

#include <cmath>

#include "encodings/registry.h"
#include "model/attention.h"
#include "model/lanes.h"
#include "model/product.h"

namespace posbench {
namespace {

constexpr Real kLeak = Real(0.01);  // of LeakyReLU, below 0
constexpr Index kColumns = 192;  // of a block: enough for the matrix products, few enough for the nearest cache
constexpr Index kApart = 24;     // rows whose strides are powers of two would push each other out of the cache

/// Successive queries whose keys are columns of one matrix, side by side, with `reach` columns between those of two
/// queries.
struct Block {
  Index first, end, columns;
};

/// to = f(from), or to = f(to, from), for `size` entries
template <class F>
void transform(const Real* from, Index size, Real* to, F f) {
  for_each_lanes(size, [&](Index n, auto count) { store(f(load(from + n, count, 0)), to + n, count); });
}
template <class F>
void combine(Real* to, const Real* from, Index size, F f) {
  for_each_lanes(size, [&](Index n, auto count) {
    store(f(load(to + n, count, 0), load(from + n, count, 0)), to + n, count);
  });
}
/// to += a * b
void add_products(const Real* a, const Real* b, Index size, Real* to) {
  for_each_lanes(size, [&](Index n, auto count) {
    store(load(to + n, count, 0) + load(a + n, count, 0) * load(b + n, count, 0), to + n, count);
  });
}
constexpr auto plus = [](Lanes a, Lanes b) { return a + b; };
constexpr auto times = [](Lanes a, Lanes b) { return a * b; };
constexpr auto same = [](Lanes a) { return a; };

}  // namespace

void DapeOptions::describe(OptionTable& o) {
  o.text("base", base, "a bias by distance, a rotary encoding, or none", "the biases or scores that the network adapts");
  o.integer("hidden", hidden, 1, 4096, "inner width of the network");
  o.choice("combine", combine, {"concatenate", "add", "multiply"}, "how scores and biases become the network's input");
  o.flag("residual", residual, "add the bias itself to the score, beside the network's output");
}

Dape::Dape(const std::string& name, Index taps, const DapeOptions& options, const ModelShape& shape,
           ParameterLayout& layout)
    : Decorator(shape, make_encoding(Spec::parse(options.base), shape, layout)),
      options_(options),
      bias_(dynamic_cast<const AdditiveBias*>(&inner())),
      taps_(taps),
      channels_((bias_ && options.combine == Combine::concatenate ? 2 : 1) * shape.heads) {
  const std::string base = Spec::parse(options.base).name;
  if (bias_ == nullptr && base != "none" && encodings().find(base).info.family != Family::rotary) {
    throw std::invalid_argument(
        fmt::format("encoding '{}': base is '{}', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
                    "encoding (rope, ...) or none",
                    name, options.base));
  }
  if (bias_ == nullptr && (options.combine != Combine::concatenate || !options.residual)) {
    throw std::invalid_argument(fmt::format(
        "encoding '{}': with base {} there is no bias; leave out combine and residual", name, options.base));
  }
  const Index inputs = taps * channels_, H = shape.heads;
  const double in_bound = 1 / std::sqrt(inputs), out_bound = 1 / std::sqrt(taps * options.hidden);
  for (int layer = 0; layer < shape.layers; ++layer) {
    const auto add = [&](const char* part, Index rows, Index cols, double bound) {
      return layout.uniform(fmt::format("{}.{}.{}", name, layer, part), rows, cols, -bound, bound);
    };
    in_weights_.push_back(add("in.weight", options.hidden, inputs, in_bound));
    in_biases_.push_back(add("in.bias", 1, options.hidden, in_bound));
    out_weights_.push_back(add("out.weight", taps * H, options.hidden, out_bound));
    out_biases_.push_back(add("out.bias", 1, H, out_bound));
  }
}

/// The network of one layer, a block of queries at a time. In all matrices rows are channels and columns keys.
struct Dape::Network {
  Network(const Dape& dape, const AttentionInput& in)
      : dape(dape),
        in(in),
        T(in.length()),
        H(dape.shape_.heads),
        reach(dape.taps_ / 2),
        in_weight(in.parameters[dape.in_weights_[in.layer]]),
        in_bias(in.parameters[dape.in_biases_[in.layer]]),
        out_weight(in.parameters[dape.out_weights_[in.layer]]),
        out_bias(in.parameters[dape.out_biases_[in.layer]]),
        inputs(buffer(in_weight.cols())),
        hidden(buffer(in_weight.rows())),
        outputs(buffer(out_weight.rows())) {}

  Matrix& buffer(Index rows) const { return in.scratch(rows, std::max(kColumns, T + 3 * reach + kApart)); }
  const Matrix& bias(Index h) const { return dape.bias_->bias_of(in.tables, in.layer, static_cast<size_t>(h)); }
  Index keys(Index i) const { return visible(i, T, dape.shape_.causal); }
  /// Keys whose hidden values the second map reads: those that are seen, and the next one if there is one.
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
  /// f(query, the column of its key 0, its keys)
  template <class F>
  void for_each_query(const Block& b, F f) const {
    for (Index i = b.first, column = reach; i < b.end; ++i) {
      f(i, column, keys(i));
      column += live(i) + reach;
    }
  }
  /// Where a channel is at the first key of a query for tap t of the first map, which reads t - reach keys further on.
  Real* read(Matrix& m, Index t, Index channel, Index column) const {
    return m.row(t * dape.channels_ + channel).data() + column + reach - t;
  }
  /// Where tap t of the second map is for head h, read t - reach keys further on.
  Real* given(Matrix& m, Index t, Index h, Index column) const {
    return m.row(t * H + h).data() + column + t - reach;
  }

  /// inputs and hidden of this block; content(h, i) is a row of scores.
  template <class Content>
  void forward(const Block& b, Content content) {
    auto x = inputs.leftCols(b.columns), y = hidden.leftCols(b.columns);
    if (reach > 0) x.setZero();
    for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index t = 0; t < dape.taps_; ++t) {
        for (Index h = 0; h < H; ++h) {
          Real* channel = read(inputs, t, h, column);
          transform(content(h, i), keys, channel, same);
          if (dape.bias_ == nullptr) continue;
          const Real* row = bias(h).row(i).data();
          switch (dape.options_.combine) {
            case Combine::concatenate:
              transform(row, keys, read(inputs, t, H + h, column), same);
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
    hide_gaps(b, hidden);
  }

  /// The columns between the queries are no keys: the second map reads zero there.
  void hide_gaps(const Block& b, Matrix& m) const {
    if (reach == 0) return;
    m.leftCols(reach).setZero();
    for_each_query(b, [&](Index i, Index column, Index) { m.middleCols(column + live(i), reach).setZero(); });
  }

  const Dape& dape;
  const AttentionInput& in;
  Index T, H, reach;
  ConstMatrixView in_weight, in_bias;    // (hidden, taps channels), (1, hidden)
  ConstMatrixView out_weight, out_bias;  // (taps H, hidden), (1, H)
  Matrix& inputs;                        // (taps channels, columns), tap by tap
  Matrix& hidden;                        // (hidden, columns), after the LeakyReLU
  Matrix& outputs;                       // (taps H, columns), tap by tap
};

void Dape::content(const AttentionInput& in, Heads& scores) const {
  bias_ ? PositionEncoding::score(in, scores) : inner().score(in, scores);
}

void Dape::score(const AttentionInput& in, Heads& scores) const {
  content(in, scores);
  Network network(*this, in);
  const Index next_tap = network.H * network.outputs.cols() + 1;  // from the output of one tap to that of the next
  network.for_each_block([&](const Block& b) {
    network.forward(b, [&](Index h, Index i) { return scores[h].row(i).data(); });
    multiply(network.out_weight, network.hidden.leftCols(b.columns), network.outputs.leftCols(b.columns));
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < network.H; ++h) {
        Real* row = scores[h].row(i).data();
        const Real* bias = bias_ && options_.residual ? network.bias(h).row(i).data() : nullptr;
        const Real *given = network.given(network.outputs, 0, h, column), shift = network.out_bias(0, h);
        for_each_lanes(keys, [&](Index j, auto count) {
          Lanes v = load(row + j, count, 0) + shift;
          if (bias) v += load(bias + j, count, 0);
          for (Index t = 0; t < taps_; ++t) v += load(given + t * next_tap + j, count, 0);
          store(v, row + j, count);
        });
      }
    });
  });
}

std::vector<AttentionMap> Dape::inspect(const AttentionInput& in) const {
  const Index T = in.length();
  AttentionMap before{"bias before the network", {}}, after{"bias after the network", {}};
  Heads content(shape_.heads, Matrix(T, T));
  after.values = content;
  this->content(in, content);
  score(in, after.values);
  for (size_t h = 0; h < content.size(); ++h) {
    after.values[h] -= content[h];
    if (bias_) before.values.emplace_back(bias_->bias_of(in.tables, in.layer, h).topLeftCorner(T, T));
  }
  return bias_ ? std::vector<AttentionMap>{before, after} : std::vector<AttentionMap>{after};
}

void Dape::score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const {
  Network network(*this, in);
  const Index T = network.T, H = network.H;
  Heads content(shape_.heads), d_content(shape_.heads);
  for (Heads* heads : {&content, &d_content}) {
    for (Matrix& head : *heads) head.refer_to(in.scratch(T, T));
  }
  const bool learned = bias_ && bias_->learned();
  // Of d_inputs, biases that are not learned need none.
  const Index inputs = learned || taps_ > 1 ? network.inputs.rows() : H;
  auto d_in_weight = d.parameters[in_weights_[in.layer]], d_in_bias = d.parameters[in_biases_[in.layer]];
  auto d_out_weight = d.parameters[out_weights_[in.layer]], d_out_bias = d.parameters[out_biases_[in.layer]];
  Matrix &d_inputs = network.buffer(inputs), &d_hidden = network.buffer(network.hidden.rows());
  Matrix& d_outputs = network.buffer(network.outputs.rows());
  // Transposed, so that products copy the columns of d_outputs, not those of hidden, which are more.
  Matrix& d_out_weight_by_column = in.scratch(d_out_weight.cols(), d_out_weight.rows());
  d_out_weight_by_column = d_out_weight.transpose();
  this->content(in, content);
  for (Index h = 0; h < H; ++h) d_content[h] = d_scores[h];

  network.for_each_block([&](const Block& b) {
    network.forward(b, [&](Index h, Index i) { return content[h].row(i).data(); });
    const auto x = network.inputs.leftCols(b.columns), y = network.hidden.leftCols(b.columns);
    auto d_x = d_inputs.leftCols(b.columns), d_y = d_hidden.leftCols(b.columns),
         d_z = d_outputs.leftCols(b.columns);

    if (network.reach > 0) d_z.setZero();
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < H; ++h) {
        const Real* row = d_scores[h].row(i).data();
        d_out_bias(0, h) += kernels().sum(row, keys);
        for (Index t = 0; t < taps_; ++t) transform(row, keys, network.given(d_outputs, t, h, column), same);
      }
    });
    multiply_add(y, d_z.transpose(), d_out_weight_by_column);
    multiply(network.out_weight.transpose(), d_z, d_y);
    for (Index n = 0; n < d_y.rows(); ++n) {
      combine(d_y.row(n).data(), y.row(n).data(), b.columns,
              [](Lanes d, Lanes value) { return value > 0 ? d : kLeak * d; });
    }
    network.hide_gaps(b, d_hidden);
    for (Index n = 0; n < d_y.rows(); ++n) d_in_bias(0, n) += kernels().sum(d_y.row(n).data(), d_y.cols());
    multiply_add(d_y, x.transpose(), d_in_weight);
    multiply(network.in_weight.leftCols(inputs).transpose(), d_y, d_x);
    network.for_each_query(b, [&](Index i, Index column, Index keys) {
      for (Index h = 0; h < H; ++h) {
        const Real *bias = bias_ ? network.bias(h).row(i).data() : nullptr, *row = content[h].row(i).data();
        Real* d_row = d_content[h].row(i).data();
        Real* d_bias =
            learned ? bias_->d_bias_of(d.tables, in.layer, static_cast<size_t>(h)).row(i).data() : nullptr;
        if (learned && options_.residual) combine(d_bias, d_scores[h].row(i).data(), keys, plus);
        for (Index t = 0; t < taps_; ++t) {
          const Real* d_channel = network.read(d_inputs, t, h, column);
          switch (options_.combine) {
            case Combine::concatenate:
              combine(d_row, d_channel, keys, plus);
              if (learned) combine(d_bias, network.read(d_inputs, t, H + h, column), keys, plus);
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
  });
  d_out_weight = d_out_weight_by_column.transpose();
  if (bias_ == nullptr) return inner().score_backward(in, d_content, d);
  for (Index h = 0; h < H; ++h) {
    dot_product_backward(in.q[h], in.k[h], scale(), shape_.causal, d_content[h], d.q[h], d.k[h]);
  }
}

}  // namespace posbench
