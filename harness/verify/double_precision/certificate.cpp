#include "harness/verify/double_precision/certificate.h"

#include <cmath>
#include <functional>

#include "model/attention.h"
#include "model/layers.h"
#include "model/transformer.h"

namespace posbench {
namespace {

constexpr int kVocabulary = 7;

void fill(Rng& rng, Real deviation, Out m) {
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) m(i, j) = deviation * static_cast<Real>(normal(rng));
  }
}

Sequence random_sequence(int length, const PositionEncoding& encoding, Rng& rng) {
  Sequence s;
  s.tokens = uniform_tokens(rng, length, 0, kVocabulary - 1);
  s.places = uniform_tokens(rng, length, 0, 3);
  int segment = 0;
  for (int t = 0; t < length; ++t) {
    if (t > 0 && s.places[t] == s.places[t - 1])
      s.places[t] = (s.places[t] + 1) % 4;  // neighbours differ, as in a number
    s.segments.push_back(segment);
    segment += chance(rng, 0.3);
    s.asked.push_back(t);
  }
  s.positions = encoding.positions(s, rng);
  return s;
}

/// An encoding with a model around it and parameters that are moved off their initial values, zeros among them.
struct Fixture {
  Fixture(const MakeEncoding& make, const ModelShape& shape, int length, std::uint64_t seed)
      : rng(stream(seed, "certificate")),
        encoding(make(shape, layout)),
        encoding_entries(layout.entries().size()),
        model(shape, layout, *encoding),
        parameters(initialize(layout, seed)),
        sequence(random_sequence(length, *encoding, rng)) {
    for (const auto& entry : layout.entries()) {
      MatrixView values = parameters[entry.parameter];
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += Real(0.3) * static_cast<Real>(normal(rng));
    }
    encoding->constrain(parameters);
  }

  void forward() {
    model.prepare(parameters, sequence, step, nullptr);
    model.forward(parameters, sequence, step, rng, activations);
    model.finish(parameters, step, nullptr);
  }

  Rng rng;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  size_t encoding_entries;  // the first so many entries of the layout are the encoding's
  Transformer model;
  Parameters parameters;
  Sequence sequence;
  StepTables step;
  Activations activations;
};

/// |(f(+h) - f(-h)) / 2h - slope| / size. A kink of f between the two points spoils the difference: a smaller step
/// then hardly ever has it, and the smallest disagreement counts. A slope far below f itself is all rounding,
/// hence the least size.
double disagreement(const std::function<double(double)>& f, double slope, double size) {
  double smallest = INFINITY;
  for (const double h : {1e-5, 2e-6, 4e-7, 8e-8}) {
    const double above = f(h), below = f(-h);
    const double least = 1e-3 * std::max(1.0, std::abs(above));
    smallest = std::min(smallest, std::abs((above - below) / (2 * h) - slope) / std::max(size, least));
    if (smallest < 1e-7) break;
  }
  return smallest;
}

/// Moves `values` along a random direction and compares f with the gradient.
void check_along(const std::string& where, Rng& rng, Out values, const In& gradient,
                 const std::function<double()>& f, Worst& worst) {
  if (values.size() == 0) return;
  const RowMajor start = values;
  RowMajor direction(values.rows(), values.cols());
  fill(rng, 1, direction);
  const double slope = gradient.cwiseProduct(direction).sum();
  const double error = disagreement(
      [&](double h) {
        values = start + static_cast<Real>(h) * direction;
        const double result = f();
        values = start;
        return result;
      },
      slope, gradient.norm() * direction.norm());
  if (!(error <= worst.error)) worst = {error, where};
}

void check_model(Fixture& f, Worst& worst) {
  std::vector<int> targets;
  for (size_t t = 0; t < f.sequence.tokens.size(); ++t) targets.push_back(uniform(f.rng, 0, kVocabulary - 1));
  Matrix d_logits(static_cast<Index>(targets.size()), kVocabulary);
  const auto loss = [&] {
    f.forward();
    return cross_entropy(f.activations.logits, targets, 1, d_logits);
  };
  Gradients gradients(f.layout);
  f.model.prepare(f.parameters, f.sequence, f.step, &gradients);
  f.model.forward(f.parameters, f.sequence, f.step, f.rng, f.activations);
  cross_entropy(f.activations.logits, targets, 1, d_logits);
  f.model.backward(f.parameters, f.sequence, f.step, f.activations, d_logits, gradients);
  f.model.finish(f.parameters, f.step, &gradients);
  for (const auto& [name, parameter, initial] : f.layout.entries()) {
    check_along(name, f.rng, f.parameters[parameter], gradients[parameter], loss, worst);
  }
}

/// The sum of `weights` times `values` over what queries see.
double visible_sum(const Heads& weights, const Heads& values, bool causal) {
  double sum = 0;
  for (size_t h = 0; h < weights.size(); ++h) {
    for (Index i = 0; i < weights[h].rows(); ++i) {
      const Index keys = visible(i, weights[h].cols(), causal);
      sum += weights[h].row(i).head(keys).cwiseProduct(values[h].row(i).head(keys)).sum();
    }
  }
  return sum;
}

/// Every stage of one attention layer alone, over all that it reads.
void check_stages(Fixture& f, const ModelShape& shape, Worst& worst) {
  const PositionEncoding& encoding = *f.encoding;
  const Index T = static_cast<Index>(f.sequence.tokens.size()), D = shape.head_width(), H = shape.heads;
  Matrix x(T, shape.width), d_x(T, shape.width);
  fill(f.rng, 1, x);
  const auto random_heads = [&](Index rows, Index cols) {
    Heads heads;
    resize(heads, H, rows, cols);
    for (Matrix& head : heads) fill(f.rng, 1, head);
    return heads;
  };
  Heads q = random_heads(T, D), k = random_heads(T, D), v = random_heads(T, D);
  Tables tables, carried;
  encoding.tables(f.parameters, f.sequence.positions, tables);
  encoding.embed(f.sequence, f.parameters, tables, x, carried);
  for (Matrix& m : carried) fill(f.rng, 1, m);
  Scratch scratch;
  const AttentionInput in{f.sequence, f.parameters, tables, carried, shape.layers - 1, x, q, k, v, scratch};

  Gradients d_parameters(f.layout);
  Heads d_q, d_k, d_v;
  Tables d_tables, d_carried;
  AttentionGradient d{d_parameters, d_tables, d_carried, d_x, d_q, d_k, d_v};
  const auto zero = [&] {
    d_parameters.flat.setZero();
    d_x.setZero();
    for (Heads* heads : {&d_q, &d_k, &d_v}) {
      resize(*heads, H, T, D);
      set_zero(*heads);
    }
    d_tables = tables;
    d_carried = carried;
    set_zero(d_tables);
    set_zero(d_carried);
  };
  const auto check_input = [&](const std::string& stage, const std::function<double()>& value) {
    const auto all = [&](const std::string& name, std::vector<Matrix>& values,
                         const std::vector<Matrix>& gradient) {
      for (size_t n = 0; n < values.size(); ++n)
        check_along(stage + ": " + name, f.rng, values[n], gradient[n], value, worst);
    };
    all("q", q, d_q);
    all("k", k, d_k);
    all("v", v, d_v);
    for (size_t n = 0; n < tables.size(); ++n) {  // constant ones, an index say, have no gradient
      if (!d_tables[n].isZero(0)) check_along(stage + ": tables", f.rng, tables[n], d_tables[n], value, worst);
    }
    all("carried", carried, d_carried);
    check_along(stage + ": x", f.rng, x, d_x, value, worst);
    for (size_t n = 0; n < f.encoding_entries; ++n) {
      const auto& [name, parameter, initial] = f.layout.entries()[n];
      check_along(stage + ": " + name, f.rng, f.parameters[parameter], d_parameters[parameter], value, worst);
    }
  };
  // What later keys would get is zero in a gradient; elsewhere it is random, so that reading it shows.
  const auto hide = [&](Heads& heads) {
    if (!shape.causal) return;
    for (Matrix& head : heads) head = head.triangularView<Eigen::Lower>();
  };

  Heads scores = random_heads(T, T), d_scores = random_heads(T, T);
  hide(d_scores);
  zero();
  encoding.score(in, scores);
  scratch.release();
  for (Index h = 0; h < H;
       ++h) {  // a score that hides its key from the softmax would swallow the digits of the others
    d_scores[h] = (scores[h].array() < Real(-1e8)).select(Real(0), d_scores[h]);
  }
  encoding.score_backward(in, d_scores, d);
  scratch.release();
  check_input("score", [&] {
    encoding.score(in, scores);
    scratch.release();
    return visible_sum(d_scores, scores, shape.causal);
  });

  scores = random_heads(T, T);
  Heads attention = random_heads(T, T), d_attention = random_heads(T, T);
  zero();
  encoding.normalize(in, scores, attention);
  scratch.release();
  Heads d_normalized = d_attention;
  encoding.normalize_backward(in, scores, attention, d_normalized, d_scores);
  scratch.release();
  const auto normalized = [&] {
    encoding.normalize(in, scores, attention);
    scratch.release();
    return visible_sum(d_attention, attention, shape.causal);
  };
  for (Index h = 0; h < H; ++h) check_along("normalize: scores", f.rng, scores[h], d_scores[h], normalized, worst);

  attention = random_heads(T, T);
  hide(attention);
  Heads output = random_heads(T, D);
  const Heads d_output = random_heads(T, D);
  zero();
  encoding.mix(in, attention, output);
  scratch.release();
  encoding.mix_backward(in, attention, d_output, d_attention, d);
  scratch.release();
  hide(d_attention);
  const auto mixed = [&] {
    hide(attention);
    encoding.mix(in, attention, output);
    scratch.release();
    return visible_sum(d_output, output, false);
  };
  check_input("mix", mixed);
  for (Index h = 0; h < H; ++h) check_along("mix: attention", f.rng, attention[h], d_attention[h], mixed, worst);

  const AttentionInput first{f.sequence, f.parameters, tables, carried, 0, x, q, k,
                             v,          scratch};  // has a block after it
  Tables next = carried, d_next = carried;
  for (Matrix& m : d_next) fill(f.rng, 1, m);
  Matrix feed_forward(T, shape.width), d_feed_forward(T, shape.width);
  fill(f.rng, 1, feed_forward);
  zero();
  set_zero(d_attention);
  d_feed_forward.setZero();
  d_carried = d_next;
  encoding.carry_backward(first, attention, feed_forward, d_attention, d_feed_forward, d);
  scratch.release();
  hide(d_attention);
  const auto handed_on = [&] {
    hide(attention);
    next = carried;
    encoding.carry(first, attention, feed_forward, next);
    scratch.release();
    double sum = 0;
    for (size_t n = 0; n < next.size(); ++n) sum += d_next[n].cwiseProduct(next[n]).sum();
    return sum;
  };
  check_input("carry", handed_on);
  for (Index h = 0; h < H; ++h)
    check_along("carry: attention", f.rng, attention[h], d_attention[h], handed_on, worst);
  check_along("carry: feed-forward", f.rng, feed_forward, d_feed_forward, handed_on, worst);
}

MakeEncoding by_name(const Spec& spec) {
  return [spec](const ModelShape& shape, ParameterLayout& layout) { return make_encoding(spec, shape, layout); };
}

}  // namespace

ModelShape small_shape(int heads, bool causal, bool pre_norm) {
  ModelShape shape;
  shape.vocabulary = kVocabulary;
  shape.layers = 2;
  shape.heads = heads;
  shape.width = 4 * heads;
  shape.causal = causal;
  shape.pre_norm = pre_norm;
  shape.trained_length = shape.longest = 12;
  return shape;
}

Worst gradient_error(const Spec& spec, const ModelShape& shape, int length) {
  return gradient_error(by_name(spec), shape, length);
}

Worst gradient_error(const MakeEncoding& make, const ModelShape& shape, int length) {
  Worst worst;
  Fixture fixture(make, shape, length, /*seed=*/1);
  check_model(fixture, worst);
  check_stages(fixture, shape, worst);
  return worst;
}

bool is_causal(const Spec& spec, ModelShape shape, int length) {
  Fixture f(by_name(spec), shape, length, /*seed=*/2);
  f.forward();
  const RowMajor before = f.activations.logits;
  for (int t = 0; t < length; ++t) {
    const int token = f.sequence.tokens[t];
    f.sequence.tokens[t] = (token + 1) % kVocabulary;
    f.forward();
    f.sequence.tokens[t] = token;
    if (f.activations.logits.topRows(t) != before.topRows(t)) return false;
  }
  return true;
}

double order_sensitivity(const Spec& spec, ModelShape shape, int length) {
  shape.layers = 1;
  double moved = 0;
  for (const std::uint64_t seed : {3, 6, 7, 8}) {
    Fixture f(by_name(spec), shape, length, seed);
    for (int t = 0; t + 2 < length; ++t) {
      f.sequence.tokens[t] = 0;
      f.sequence.tokens[t + 1] = 1;
      f.forward();
      const RowMajor before = f.activations.logits.bottomRows(1);
      std::swap(f.sequence.tokens[t], f.sequence.tokens[t + 1]);
      f.forward();
      moved = std::max(moved, (f.activations.logits.bottomRows(1) - before).norm() / before.norm());
    }
  }
  return moved;
}

double shift_sensitivity(const Spec& spec, const ModelShape& shape, int length) {
  Fixture f(by_name(spec), shape, length, /*seed=*/5);
  f.forward();
  const RowMajor before = f.activations.logits;
  for (Real& place : f.sequence.positions.at) place += 5;
  f.forward();
  return (f.activations.logits - before).norm() / before.norm();
}

bool is_finite(const Spec& spec, const ModelShape& shape, int length) {
  Fixture f(by_name(spec), shape, length, /*seed=*/4);
  Gradients gradients(f.layout);
  f.model.prepare(f.parameters, f.sequence, f.step, &gradients);
  f.model.forward(f.parameters, f.sequence, f.step, f.rng, f.activations);
  const Matrix d_logits(f.activations.logits);
  f.model.backward(f.parameters, f.sequence, f.step, f.activations, d_logits, gradients);
  f.model.finish(f.parameters, f.step, &gradients);
  return f.activations.logits.allFinite() && gradients.flat.allFinite();
}

}  // namespace posbench
