// An independent implementation of each encoding: its paper's equation for one (h, i, j). A new encoding needs one
// row here. What a row leaves out must be equal to plain attention.
#include <cmath>
#include <complex>
#include <functional>
#include <map>

#include "encodings/registry.h"
#include "model/attention.h"
#include "model/attention_layer.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// A random attention layer with an encoding, and the values that a row may use.
struct Case {
  Case(const std::string& spec, bool causal) : causal(causal) {
    shape.vocabulary = 7;
    shape.layers = 2;
    shape.heads = H;
    shape.width = C;
    shape.causal = causal;
    shape.trained_length = shape.longest = 12;
    encoding = make_encoding(Spec::parse(spec), shape, layout);
    parameters = initialize(layout, 5);
    Rng rng = stream(5, "equations");
    const auto random = [&](Index rows, Index cols) {
      Matrix m(rows, cols);
      for (Index n = 0; n < m.size(); ++n) m.data()[n] = normal(rng);
      return m;
    };
    for (const auto& entry : layout.entries()) {
      parameters[entry.parameter] += 0.3 * random(entry.parameter.rows, entry.parameter.cols);
    }
    encoding->constrain(parameters);
    sequence.tokens = uniform_tokens(rng, T, 0, 6);
    sequence.segments = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3};
    sequence.digit_positions = {0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3};
    sequence.positions = encoding->positions(sequence, rng);
    encoding->tables(parameters, sequence.positions, tables);
    x = random(T, C);
    embedded = x;
    encoding->embed(sequence, parameters, tables, embedded, recurrent_state);
    for (Heads* side : {&q, &k, &v}) {
      for (int h = 0; h < H; ++h) side->push_back(random(T, D));
    }
    for (Heads* square : {&scores, &attention}) resize(*square, H, T, T);
    resize(output, H, T, D);
    const AttentionInput in{sequence, parameters, tables, recurrent_state, layer, x, q, k, v, scratch};
    AttentionStages(*encoding).attend(in, scores, attention, output);
  }

  double dot(int h, int i, int j) const { return q[h].row(i).dot(k[h].row(j)) / std::sqrt(D); }
  /// The entry of a parameter, by name.
  double learned(const std::string& name, Index row, Index col) const {
    for (const auto& entry : layout.entries()) {
      if (entry.name == name) return parameters[entry.parameter](row, col);
    }
    throw std::invalid_argument("no parameter is called " + name);
  }
  ConstMatrixView matrix(const std::string& name) const {
    for (const auto& entry : layout.entries()) {
      if (entry.name == name) return parameters[entry.parameter];
    }
    throw std::invalid_argument("no parameter is called " + name);
  }
  /// x_t . column `col` of a parameter (C, cols).
  double x_dot(const std::string& name, int t, Index col) const { return x.row(t).dot(matrix(name).col(col)); }
  /// q_i . row `row` of a parameter (rows, D).
  double query_dot(const std::string& name, int h, int i, Index row) const {
    double sum = 0;
    for (int e = 0; e < D; ++e) sum += q[h](i, e) * learned(name, row, e);
    return sum;
  }

  static constexpr int T = 11, H = 4, D = 4, C = H * D, layer = 1;
  bool causal;
  ModelShape shape;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Parameters parameters;
  Sequence sequence;
  Tables tables;
  Matrices recurrent_state;
  Matrix x, embedded;  // (T, C): before and after stage 2
  Heads q, k, v, scores, attention, output;
  Scratch scratch;
};

using At = std::function<double(const Case&, int h, int i, int j)>;

/// What an encoding changes. score(h, i, j); embed(0, t, channel): what is added to x; attention(h, i, j), from
/// c.scores; output(h, i, channel), from c.attention.
struct Row {
  At score, embed, attention, output;
  bool bidirectional = true;  // whether the row holds there too
};

/// Element e of head h of W S(n), where S(n) is the sinusoids of width C, sines first.
double projected_sinusoid(const Case& c, const std::string& projection, int h, int e, int n) {
  double sum = 0;
  for (int m = 0; m < c.C; ++m) {
    const double angle = n / std::pow(10000.0, 2.0 * (m % (c.C / 2)) / c.C);
    sum += c.learned(projection, m, h * c.D + e) * (m < c.C / 2 ? std::sin(angle) : std::cos(angle));
  }
  return sum;
}

/// ((q + u) . k + (q + w) . W S(n)) / sqrt(D), u and w learned under these names.
double transformer_xl(const Case& c, const std::string& u, const std::string& w, const std::string& projection,
                      int h, int i, int j, int n) {
  double sum = 0;
  for (int e = 0; e < c.D; ++e) {
    sum += (c.q[h](i, e) + c.learned(u, h, e)) * c.k[h](j, e);
    sum += (c.q[h](i, e) + c.learned(w, h, e)) * projected_sinusoid(c, projection, h, e, n);
  }
  return sum / std::sqrt(c.D);
}

/// T5's bucket of 32 up to 128, by its thresholds: bucket E + t begins at distance E (128 / E)^(t / (N - E)).
int t5_bucket(int distance, bool causal) {
  const int N = causal ? 32 : 16, E = N / 2, n = std::abs(distance);
  int bucket = std::min(n, E);
  const auto start = [&](int b) { return E * std::pow(128.0 / E, (b - E) / static_cast<double>(N - E)); };
  while (n >= E && bucket + 1 < N && n >= start(bucket + 1)) ++bucket;
  return bucket + (distance < 0 ? N : 0);
}

/// (U_Q n_a)_h . (U_K n_b)_h / sqrt(2 D) for rows a and b of TUPE's table, n normalized.
double tupe(const Case& c, const std::string& name, int h, int row_q, int row_k) {
  const auto projected = [&](const std::string& side, int row, int e) {
    double mean = 0, square = 0;
    for (int m = 0; m < c.C; ++m) mean += c.learned(name + ".positions", row, m) / c.C;
    for (int m = 0; m < c.C; ++m) square += std::pow(c.learned(name + ".positions", row, m) - mean, 2) / c.C;
    double sum = c.learned(name + side + ".bias", 0, h * c.D + e);
    for (int m = 0; m < c.C; ++m) {
      const double z = (c.learned(name + ".positions", row, m) - mean) / std::sqrt(square + 1e-5);
      const double y = z * c.learned(name + ".norm.weight", 0, m) + c.learned(name + ".norm.bias", 0, m);
      sum += y * c.learned(name + side + ".weight", m, h * c.D + e);
    }
    return sum;
  };
  double sum = 0;
  for (int e = 0; e < c.D; ++e) sum += projected(".query", row_q, e) * projected(".key", row_k, e);
  return sum / std::sqrt(2 * c.D);
}

/// TUPE's first part: bidirectionally token 0 is reset, and token t reads row t + 1.
double tupe_score(const Case& c, const std::string& name, int h, int i, int j) {
  const double content = c.dot(h, i, j) / std::sqrt(2);
  if (c.causal) return content + tupe(c, name, h, i, j);
  if (i == 0) return content + tupe(c, name, h, 0, 0);
  if (j == 0) return content + tupe(c, name, h, 1, 1);
  return content + tupe(c, name, h, i + 1, j + 1);
}

/// k_j . R_(j+1) ... R_i q_i / sqrt(D), PaTH's reflections, with the parameters of this prefix.
double reflected(const Case& c, const std::string& prefix, int h, int i, int j) {
  using Row = Eigen::RowVectorXd;
  const auto kernel = c.matrix(prefix + "convolution");
  Row y = c.q[h].row(i);
  for (int t = i; t > j; --t) {
    Row v = Row::Zero(c.D);
    for (int s = 0; s <= std::min(t, 2); ++s) {
      const Row u = c.x.row(t - s) * c.matrix(prefix + "down") * c.matrix(prefix + "up");
      v += u.segment(h * c.D, c.D).cwiseProduct(kernel.row(2 - s).segment(h * c.D, c.D));
    }
    for (double& e : v) e /= 1 + std::exp(-e);
    const double pre = c.x_dot(prefix + "strength.weight", t, h) + c.learned(prefix + "strength.bias", 0, h);
    y -= 2 / (1 + std::exp(-pre)) * v.dot(y) / v.squaredNorm() * v;
  }
  return y.dot(c.k[h].row(j)) / std::sqrt(c.D);
}

/// The score whose pair n turns by angle(n) from key to query: components 2 n and 2 n + 1, or n and n + D / 2.
double turned(const Case& c, bool half_split, int h, int i, int j, const std::function<double(int n)>& angle) {
  std::complex<double> sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const int a = half_split ? n : 2 * n, b = half_split ? n + c.D / 2 : 2 * n + 1;
    const std::complex<double> q(c.q[h](i, a), c.q[h](i, b)), k(c.k[h](j, a), c.k[h](j, b));
    sum += q * std::conj(k) * std::polar(1.0, angle(n));
  }
  return sum.real() / std::sqrt(c.D);
}

/// MapFormer's angle of pair n between two tokens, from the embeddings that stage 2 received.
double path_angle(const Case& c, const std::string& name, int h, int i, int j, int n) {
  double steps = 0;
  for (int t = j + 1; t <= i; ++t)
    steps += (c.x.row(t) * c.matrix(name + ".in") * c.matrix(name + ".out"))(h * c.D / 2 + n);
  return c.learned(name + ".omega", h, n) * steps;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log(1 + std::exp(x)); }

/// 1.5-entmax of row i, by sorting (Peters et al. 2019, algorithm 2).
double entmax15(const Case& c, int h, int i, int j) {
  std::vector<double> z;
  for (Index m = 0; m < visible(i, c.T, c.causal); ++m) z.push_back(c.scores[h](i, m) / 2);
  std::sort(z.begin(), z.end(), std::greater<>());
  double sum = 0, squares = 0, tau = 0;
  for (size_t rho = 1; rho <= z.size(); ++rho) {
    sum += z[rho - 1];
    squares += z[rho - 1] * z[rho - 1];
    const double mean = sum / rho, spread = squares - sum * mean;
    if (spread > 1) break;
    const double candidate = mean - std::sqrt((1 - spread) / rho);
    if (candidate <= z[rho - 1]) tau = candidate;
  }
  return std::pow(std::max(c.scores[h](i, j) / 2 - tau, 0.0), 2);
}

/// What GRAPE's gates multiply: (i - j) m_h softplus(o_h), of these parameters.
double grape_penalty(const Case& c, const std::string& name, int h, int i, int j) {
  return (i - j) * std::pow(0.25, h + 1) * softplus(c.learned(name + ".1.strength", 0, h));
}
double grape_gate(const Case& c, const std::string& name, int h, const Heads& side, int t) {
  const auto u = c.matrix(name).row(h);
  return softplus(u.dot(side[h].row(t)) / u.norm() / std::sqrt(c.D));
}

/// W^n, W = exp(B - B^T), of head h: orthogonal, so that its transpose is its inverse.
RowMajor algebraic_power(const Case& c, int h, int n) {
  const RowMajor b = c.matrix("algebraic.generators").middleRows(h * c.D, c.D), generator = b - b.transpose();
  const RowMajor identity = RowMajor::Identity(c.D, c.D);
  RowMajor w = identity, term = identity, power = identity;
  for (int k = 1; k < 60; ++k) {
    term = (term * generator / k).eval();
    w += term;
  }
  for (int k = 0; k < std::abs(n); ++k) power = (power * w).eval();
  return n < 0 ? RowMajor(power.transpose()) : power;
}

/// What the tokens from `from` up to `to`, without it, turn pair n of head h by.
double accumulated_angle(const Case& c, int h, int n, int from, int to) {
  double sum = 0;
  for (int t = from; t < to; ++t) {
    const int column = h * c.D / 2 + n;
    sum += c.x_dot("accumulated_rope.weight.1", t, column) + c.learned("accumulated_rope.bias.1", 0, column);
  }
  return sum;
}

/// The score in which pair n of both sides goes through (c, s) of its position: c(n, t), s(n, t).
double fourier(const Case& c, int h, int i, int j, const std::function<double(int n, int t)>& cosine,
               const std::function<double(int n, int t)>& sine) {
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const std::complex<double> q(c.q[h](i, n), c.q[h](i, n + c.D / 2)), k(c.k[h](j, n), c.k[h](j, n + c.D / 2));
    sum += (q * std::complex<double>(cosine(n, i), sine(n, i)) *
            std::conj(k * std::complex<double>(cosine(n, j), sine(n, j))))
               .real();
  }
  return sum / std::sqrt(c.D);
}

/// The number of tokens before t in its segment.
int in_segment(const Case& c, int t) {
  int before = 0;
  while (before < t && c.sequence.segments[t - before - 1] == c.sequence.segments[t]) ++before;
  return before;
}

const std::map<std::string, Row>& rows() {
  static const std::map<std::string, Row> rows{
      {"abacus",
       {.embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("abacus.table", c.sequence.digit_positions[t], channel); }}},
      {"accumulated_rope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, true, h, i, j, [&](int n) { return accumulated_angle(c, h, n, j, i); });
            },
        .output =
            [](const Case& c, int h, int i, int channel) {
              const int n = channel % (c.D / 2), other = n + c.D / 2;
              std::complex<double> sum = 0;
              for (int j = 0; j <= i; ++j) {
                const std::complex<double> v(c.v[h](j, n), c.v[h](j, other));
                sum += c.attention[h](i, j) * v * std::polar(1.0, -accumulated_angle(c, h, n, j, i));
              }
              return channel == n ? sum.real() : sum.imag();
            }}},
      {"algebraic",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double product = c.q[h].row(i) * algebraic_power(c, h, j - i) * c.k[h].row(j).transpose();
              return std::pow(0.98, std::abs(i - j)) * product / std::sqrt(c.D);
            }}},
      {"alibi",
       {.score = [](const Case& c, int h, int i,
                    int j) { return c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j); }}},
      {"asentmax",
       {.score =
            [](const Case& c, int h, int i, int j) {
              if (h < 2) return c.dot(h, i, j) - (i - j) / (h + 1.0);
              const double gamma = 2 * std::tanh(c.x_dot("asentmax.gamma.1", i, h - 2));
              const double factor =
                  1 + softplus(c.x_dot("asentmax.beta.1", i, h - 2)) * std::pow(std::log(i + 2), gamma);
              return factor * c.dot(h, i, j);
            },
        .attention = entmax15,
        .bidirectional = false}},
      {"bam",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return c.dot(h, i, j) - std::exp(c.learned("bam.scale", 0, h)) *
                                          std::pow(std::abs(j - i) + 1e-5, c.learned("bam.shape", 0, h));
            }}},
      {"bam:centre=true",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double m = c.learned("bam.centre", 0, h), away = j - i - (std::exp(m) - std::exp(-m));
              return c.dot(h, i, j) - std::exp(c.learned("bam.scale", 0, h)) *
                                          std::pow(std::abs(away) + 1e-5, c.learned("bam.shape", 0, h));
            }}},
      {"bipe_alibi",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const int segments = std::abs(c.sequence.segments[i] - c.sequence.segments[j]);
              return c.dot(h, i, j) - 96 * std::exp2(-8.0 * (h + 1) / c.H) * segments;
            },
        .embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("bipe_alibi.intra", in_segment(c, t), channel); }}},
      {"bipe_rope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const int segments = c.sequence.segments[i] - c.sequence.segments[j];
              return turned(c, false, h, i, j,
                            [&](int n) { return segments * std::pow(10000.0, -2.0 * n / c.D); });
            },
        .embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("bipe_rope.intra", in_segment(c, t), channel); }}},
      {"cable",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double bias = 0;
              for (int s = j + 1; s <= i; ++s) {
                bias -= std::log(
                    1 + std::exp(c.x_dot("cable.gate.1.weight", s, h) + c.learned("cable.gate.1.bias", 0, h)));
              }
              return c.dot(h, i, j) + bias;
            }}},
      {"carope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, false, h, i, j, [&](int n) {
                double angle = 0;
                for (int t = j + 1; t <= i; ++t)
                  angle += std::pow(1 / (softplus(c.x_dot("carope.weight.1", t, h)) + 1), n + 1);
                return angle;
              });
            }}},
      {"cope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double p = 0;
              for (int m = j; m <= i; ++m) p += 1 / (1 + std::exp(-c.dot(h, i, m)));
              const int n = static_cast<int>(p);
              const double f = p - n;
              const double t =
                  (1 - f) * c.query_dot("cope.table.1", h, i, n) + f * c.query_dot("cope.table.1", h, i, n + 1);
              return c.dot(h, i, j) + t / std::sqrt(c.D);
            },
        .bidirectional = false}},
      {"coupled",
       {.embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("coupled.table", c.sequence.digit_positions[t], channel); }}},
      {"dape",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto bias = [&](int g) { return -std::abs(i - j) / std::pow(4.0, g + 1); };
              double sum = c.dot(h, i, j) + bias(h) + c.learned("dape.1.out.bias", 0, h);
              for (int m = 0; m < 32; ++m) {
                double inner = c.learned("dape.1.in.bias", 0, m);
                for (int g = 0; g < c.H; ++g) {
                  inner += c.learned("dape.1.in.weight", m, g) * c.dot(g, i, j);
                  inner += c.learned("dape.1.in.weight", m, c.H + g) * bias(g);
                }
                sum += c.learned("dape.1.out.weight", h, m) * (inner > 0 ? inner : 0.01 * inner);
              }
              return sum;
            }}},
      {"dape_v2",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto in = c.matrix("dape_v2.1.in.weight"), out = c.matrix("dape_v2.1.out.weight");
              const auto bias = [&](int g, int key) { return (key - i) / std::pow(4.0, g + 1); };
              const auto hidden = [&](int m, int key) {
                if (key < 0 || key >= c.T) return 0.0;  // the padding of the second convolution
                double inner = c.learned("dape_v2.1.in.bias", 0, m);
                for (int tap = 0; tap < 3; ++tap) {
                  const int from = key + tap - 1;
                  for (int g = 0; g < c.H && 0 <= from && from <= i; ++g) {
                    inner += in(m, tap * 2 * c.H + g) * c.dot(g, i, from) +
                             in(m, (tap * 2 + 1) * c.H + g) * bias(g, from);
                  }
                }
                return std::max(inner, 0.01 * inner);
              };
              double sum = c.dot(h, i, j) + bias(h, j) + c.learned("dape_v2.1.out.bias", 0, h);
              for (int tap = 0; tap < 3; ++tap) {
                for (int m = 0; m < 32; ++m) sum += out(tap * c.H + h, m) * hidden(m, j + tap - 1);
              }
              return sum;
            }}},
      {"darope",
       {.score =
            [](const Case& c, int h, int i, int j) {  // L = 12: of w = 1 and 0.01, the second is slow
              const auto position = [&](int t) {
                const double beta = std::log((t + 0.5) / (12 - t - 0.5));
                return 12 * sigmoid(c.x_dot("darope.weight.1", t, h) + c.learned("darope.alpha.1", 0, h) * beta);
              };
              return turned(c, false, h, i, j,
                            [&](int n) { return n == 0 ? i - j : 0.01 * (position(i) - position(j)); });
            }}},
      {"deberta",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const int n = i - j + 512;
              double sum = std::sqrt(c.D) * c.dot(h, i, j);
              for (int e = 0; e < c.D; ++e) {
                sum += c.k[h](j, e) * c.learned("deberta.query_bias.1", 0, h * c.D + e);
                for (int m = 0; m < c.C; ++m) {
                  const double p = c.learned("deberta.table", n, m);
                  sum += c.q[h](i, e) * p * c.learned("deberta.key.1", m, h * c.D + e);
                  sum += c.k[h](j, e) * p * c.learned("deberta.query.1", m, h * c.D + e);
                }
              }
              return sum / std::sqrt(3.0 * c.D);
            }}},
      {"entmax",
       {.score = [](const Case& c, int h, int i,
                    int j) { return c.dot(h, i, j) - (h < 2 ? (i - j) / (h + 1.0) : 0); },
        .attention = entmax15,
        .bidirectional = false}},
      {"entmax:alpha=2,base=none",
       {.attention =
            [](const Case& c, int h, int i, int j) {  // the sparsemax: the threshold that leaves 1
              std::vector<double> z;
              for (Index m = 0; m < visible(i, c.T, c.causal); ++m) z.push_back(c.scores[h](i, m));
              std::sort(z.begin(), z.end(), std::greater<>());
              double sum = 0, tau = 0;
              for (size_t n = 1; n <= z.size(); ++n) {
                sum += z[n - 1];
                if (1 + n * z[n - 1] > sum) tau = (sum - 1) / n;
              }
              return std::max(c.scores[h](i, j) - tau, 0.0);
            }}},
      {"fire",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double slope = std::abs(c.learned("fire.c.1", 0, 0));
              const double reach = std::max<double>(std::max(i, j), std::abs(c.learned("fire.mu.1", 0, 0) * 6));
              const double side = j > i ? -1 : 1;
              const double xi = side * std::log(slope * std::abs(i - j) + 1) / (std::log(slope * reach + 1) + 1e-6);
              double bias = c.learned("fire.b2.1", 0, h);
              for (int m = 0; m < 32; ++m) {
                const double hidden = xi * c.learned("fire.w1.1", 0, m) + c.learned("fire.b1.1", 0, m);
                bias += std::max(hidden, 0.0) * c.learned("fire.w2.1", m, h);
              }
              return c.dot(h, i, j) + bias;
            }}},
      {"fope",
       {.score =
            [](const Case& c, int h, int i, int j) {  // L = 12: of w = 1 and 0.01, the first; one pair turns
              const auto coefficient = [&](const char* side) {
                Rng rng = stream(0, std::string("fope.") + side + ".1");
                double value = 0;
                for (int g = 0; g <= h; ++g) value = 1 + 0.3 * std::sqrt(2.0 / (1 + c.H)) * normal(rng);
                return value;
              };
              return fourier(
                  c, h, i, j, [&](int n, int t) { return n == 0 ? coefficient("cosine") * std::cos(t) : 1; },
                  [&](int n, int t) { return n == 0 ? coefficient("sine") * std::sin(t) : 0; });
            }}},
      {"fope:learned=true,length=1000,padding=ones",
       {.score =
            [](const Case& c, int h, int i,
               int j) {  // both frequencies in one pair; the limit D / 4 leaves out the other
              const auto learned = [&](const char* side, int m) {
                return c.learned(std::string("fope.") + side + ".1", 2 * h + m, 0);
              };
              return fourier(
                  c, h, i, j,
                  [&](int n, int t) {
                    return n == 1 ? 1
                                  : learned("cosine", 0) * std::cos(t) + learned("cosine", 1) * std::cos(0.01 * t);
                  },
                  [&](int n, int t) {
                    return n == 1 ? 1 : learned("sine", 0) * std::sin(t) + learned("sine", 1) * std::sin(0.01 * t);
                  });
            }}},
      {"fox",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double gates = 1;
              for (int s = j + 1; s <= i; ++s) {
                gates /= 1 + std::exp(-c.x_dot("fox.gate.1.weight", s, h) - c.learned("fox.gate.1.bias", 0, h));
              }
              return c.dot(h, i, j) + std::log(gates);
            }}},
      {"geometric",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double content = std::sqrt(c.D) * c.dot(h, i, j) * c.learned("geometric.1.alpha", 0, 0);
              if (i == j) return content;
              const int column = c.causal ? h : 2 * h + (j > i);
              return content + c.learned("geometric.1.beta", 0, 0) +
                     c.x_dot("geometric.1.direction.weight", i, column) +
                     c.learned("geometric.1.direction.bias", 0, column);
            },
        .attention =
            [](const Case& c, int h, int i, int j) {
              const auto match = [&](int key) { return 1 / (1 + std::exp(-c.scores[h](i, key))); };
              const int keys = static_cast<int>(visible(i, c.T, c.causal));
              const auto weight = [&](int key) {
                double left = key == i ? 0 : match(key);
                for (int m = 0; m < keys; ++m) {
                  const bool nearer = std::abs(m - i) < std::abs(key - i) || (m - i == i - key && m > key);
                  if (m != i && nearer) left *= 1 - match(m);
                }
                return left;
              };
              double sum = 0;
              for (int m = 0; m < keys; ++m) sum += weight(m);
              return sum > 0 ? weight(j) / sum : 0;
            }}},
      {"grape_a_keygated",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto softplus = [](double x) { return std::log(1 + std::exp(x)); };
              const auto u = c.matrix("grape_a_keygated.1.key_gate").row(h);
              const double gate = softplus(u.dot(c.k[h].row(j)) / u.norm() / std::sqrt(c.D));
              return c.dot(h, i, j) - (i - j) * std::pow(0.25, h + 1) *
                                          softplus(c.learned("grape_a_keygated.1.strength", 0, h)) * gate;
            }}},
      {"grape_a_querygated",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return c.dot(h, i, j) - grape_penalty(c, "grape_a_querygated", h, i, j) *
                                          grape_gate(c, "grape_a_querygated.1.query_gate", h, c.q, i);
            }}},
      {"grape_a_querykeygated",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double gates = grape_gate(c, "grape_a_querykeygated.1.query_gate", h, c.q, i) +
                                   grape_gate(c, "grape_a_querykeygated.1.key_gate", h, c.k, j);
              return c.dot(h, i, j) - grape_penalty(c, "grape_a_querykeygated", h, i, j) * gates;
            }}},
      {"grape_ap",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto projected = [&](int t, int e) { return c.x_dot("grape_ap.projection.1", t, 8 * h + e); };
              double bias = 0;
              for (int l = j + 1; l <= i; ++l) {
                double square = 1.1920929e-7, agreement = 0;
                for (int e = 0; e < 8; ++e) square += std::pow(projected(l, e), 2) / 8;
                for (int n = 0; n < 4; ++n) {  // turned by -l
                  const std::complex<double> query(projected(i, n), projected(i, n + 4));
                  const std::complex<double> on_the_way(projected(l, n), projected(l, n + 4));
                  agreement += (query * std::conj(on_the_way * std::polar(1.0, -1.0 * l))).real();
                }
                bias -= softplus(-agreement / std::sqrt(square) / 8);
              }
              return c.dot(h, i, j) + std::pow(0.25, h + 1) * bias;
            }}},
      {"grape_ctx",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double phase = 0;
              for (int t = j; t < i; ++t) {
                phase += sigmoid((c.x_dot("grape_ctx.weight.1", t, 0) + c.learned("grape_ctx.bias.1", 0, 0)) / 16);
              }
              return turned(c, true, h, i, j, [&](int n) {
                return phase * std::exp(c.learned("grape_ctx.log_frequencies.1", 0, n));
              });
            }}},
      {"grape_m",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, true, h, i, j, [&](int n) {
                return (i - j) * std::exp(c.learned("grape_m.log_frequencies.1", 0, n) / 16);
              });
            }}},
      {"hard_alibi",
       {.score = [](const Case& c, int h, int i,
                    int j) { return c.dot(h, i, j) - (h < 2 && i - j > h ? 1e9 : 0); }}},
      {"interpolated",
       {.score =
            [](const Case& c, int h, int i, int j) {  // by 1, as far as sequences are no longer
              return turned(c, false, h, i, j, [&](int n) { return (i - j) * std::pow(10000.0, -2.0 * n / c.D); });
            }}},
      {"interpolated:method=ntk,scale=3",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, false, h, i, j,
                            [&](int n) { return (i - j) * std::pow(10000 * std::pow(3.0, 2), -2.0 * n / c.D); });
            }}},
      {"interpolated:scale=3",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, false, h, i, j,
                            [&](int n) { return (i - j) / 3.0 * std::pow(10000.0, -2.0 * n / c.D); });
            }}},
      {"heads",
       {.score = [](const Case& c, int h, int i, int j) {
         return c.dot(h, i, j) - (h < 2 ? 0 : std::exp2(-8.0 * (h - 1) / 2) * std::abs(i - j));
       }}},
      {"kerple_log",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double r1 = c.learned("kerple_log.r1", 0, h), r2 = c.learned("kerple_log.r2", 0, h);
              return c.dot(h, i, j) - r1 * std::log(1 + r2 * std::abs(i - j));
            }}},
      {"kerple_power",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double r1 = c.learned("kerple_power.r1", 0, h), r2 = c.learned("kerple_power.r2", 0, h);
              return c.dot(h, i, j) - (i == j ? 0 : r1 * std::exp(r2 * std::log(std::abs(i - j))));
            }}},
      {"layers", {}},  // the case is of layer 1, which has no positions
      {"layers:of=(none,alibi)",
       {.score = [](const Case& c, int h, int i,
                    int j) { return c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j); }}},
      {"learned_abs",
       {.embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("learned_abs.table", t, channel); }}},
      {"mapformer_em",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double sum = 0;
              for (int n = 0; n < c.D / 2; ++n) {
                const auto vector = [&](const char* side) {
                  const std::string name = std::string("mapformer_em.") + side;
                  return std::complex<double>(c.learned(name, h, 2 * n), c.learned(name, h, 2 * n + 1));
                };
                const double angle = path_angle(c, "mapformer_em", h, i, j, n);
                sum += (vector("query") * std::conj(vector("key")) * std::polar(1.0, angle)).real();
              }
              return c.dot(h, i, j) * sum / std::sqrt(c.D);
            }}},
      {"mapformer_wm",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return turned(c, false, h, i, j, [&](int n) { return path_angle(c, "mapformer_wm", h, i, j, n); });
            }}},
      {"nape",
       {.score = [](const Case& c, int h, int i,
                    int j) { return c.dot(h, i, j) - (h < 2 ? (i - j) / (h + 1.0) : 0); }}},
      {"none", {}},
      {"path", {.score = [](const Case& c, int h, int i, int j) { return reflected(c, "path.1.", h, i, j); }}},
      {"path_fox",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double gates = 1;
              for (int s = j + 1; s <= i; ++s) {
                gates /= 1 + std::exp(-c.x_dot("path_fox.gate.1.weight", s, h) -
                                      c.learned("path_fox.gate.1.bias", 0, h));
              }
              return reflected(c, "path_fox.1.", h, i, j) + std::log(gates) / std::sqrt(c.D);
            }}},
      {"pope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double sum = 0;
              for (int e = 0; e < c.D; ++e) {
                const double phase = (i - j) * std::pow(10000.0, -1.0 * e / c.D) - c.learned("pope.delta", h, e);
                sum += softplus(c.q[h](i, e)) * softplus(c.k[h](j, e)) * std::cos(phase);
              }
              return sum / std::sqrt(c.D);
            }}},
      {"random_float",
       {.embed =
            [](const Case& c, int, int t, int channel) {  // L = 12 positions in an interval of length 12
              const double angle = (t + 0.5) * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
              return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
            }}},
      {"random_offset",
       {.embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("learned_abs.table", t, channel); }}},
      {"randomized",
       {.embed =
            [](const Case& c, int, int t, int channel) {
              const double angle =
                  c.sequence.positions.at[t] * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
              return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
            }}},
      {"rel_sin_bidir",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return transformer_xl(c, "rel_sin_bidir.u.1", "rel_sin_bidir.w.1", "rel_sin_bidir.projection.1", h,
                                    i, j, j - i);
            }}},
      {"repo_pos",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto position = [&](int t) {
                double sum = 0;
                for (int m = 0; m < c.C / 8; ++m) {
                  const double gate = c.x_dot("repo_pos.gate.1", t, m);
                  sum += gate * sigmoid(gate) * c.x_dot("repo_pos.content.1", t, m) *
                         c.learned("repo_pos.out.1", m, h);
                }
                return sum;
              };
              return turned(c, true, h, i, j,
                            [&](int n) { return (position(i) - position(j)) * std::pow(10000.0, -2.0 * n / c.D); });
            }}},
      {"resonance_rope",
       {.score =
            [](const Case& c, int h, int i, int j) {  // wavelengths 6.28 and 628.3
              const double wavelength[] = {6, 628};
              return turned(c, false, h, i, j,
                            [&](int n) { return (i - j) * 2 * std::acos(-1.0) / wavelength[n]; });
            }}},
      {"rope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double sum = 0;
              for (int n = 0; n < c.D / 2; ++n) {  // the real part of q conj(k) e^(i (i - j) w)
                const double angle = (i - j) * std::pow(10000.0, -2.0 * n / c.D);
                const double qa = c.q[h](i, 2 * n), qb = c.q[h](i, 2 * n + 1), ka = c.k[h](j, 2 * n),
                             kb = c.k[h](j, 2 * n + 1);
                sum += (qa * ka + qb * kb) * std::cos(angle) + (qa * kb - qb * ka) * std::sin(angle);
              }
              return sum / std::sqrt(c.D);
            }}},
      {"rope_hope",
       {.score =
            [](const Case& c, int h, int i, int j) {  // L = 12: of w = 1 and 0.01, the first stays
              return turned(c, false, h, i, j, [&](int n) { return n == 0 ? i - j : 0; });
            }}},
      {"rope_p",
       {.score =
            [](const Case& c, int h, int i, int j) {  // 0.75 of two pairs: one
              return turned(c, false, h, i, j, [&](int n) { return n == 0 ? i - j : 0; });
            }}},
      {"rope_partial",
       {.score =
            [](const Case& c, int h, int i, int j) {  // the first two components
              return turned(c, false, h, i, j, [&](int n) { return n == 0 ? i - j : 0; });
            }}},
      {"sandwich",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double inner = 0;  // of the two embeddings of width 128
              for (int m = 0; m < 64; ++m) {
                const double w = std::pow(10000.0, -m / 64.0);
                inner += std::sin(i * w) * std::sin(j * w) + std::cos(i * w) * std::cos(j * w);
              }
              return c.dot(h, i, j) + (inner - 64) / (8.0 * (h + 1) / c.H);
            }}},
      {"selective_attn",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double masked = 0;
              for (int t = j + 1; t < i && j > 0; ++t) masked += std::max(c.dot(0, t, j), 0.0);
              return c.dot(h, i, j) - masked;
            }}},
      {"selective_rope",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const auto projected = [&](int t, int channel) {
                Eigen::RowVectorXd u = c.x.row(t);
                for (int g = 0; g < c.H; ++g)
                  u.segment(g * c.D, c.D) /= std::sqrt(u.segment(g * c.D, c.D).squaredNorm() + 1e-6);
                return (u * c.matrix("selective_rope.down.1") * c.matrix("selective_rope.up.1"))(channel);
              };
              return turned(c, true, h, i, j, [&](int n) {
                const int channel = h * c.D / 2 + n;
                double angle = 0;
                for (int t = j + 1; t <= i; ++t) {
                  for (int lag = 0; lag <= std::min(t, 3); ++lag) {
                    angle += c.learned("selective_rope.taps.1", 3 - lag, channel) * projected(t - lag, channel);
                  }
                }
                return angle * std::pow(500000.0, -2.0 * n / c.D);
              });
            }}},
      {"shaw_k",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return c.dot(h, i, j) +
                     c.query_dot("shaw_k.keys.1", h, i, std::clamp(j - i, -16, 16) + 16) / std::sqrt(c.D);
            }}},
      {"shaw_kv",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const int row = std::clamp(j - i, -16, 16) + 16;
              return c.dot(h, i, j) + c.query_dot("shaw_kv.keys.1", h, i, row) / std::sqrt(c.D);
            },
        .output =
            [](const Case& c, int h, int i, int channel) {
              double sum = 0;
              for (Index j = 0; j < visible(i, c.T, c.causal); ++j) {
                const Index row = std::clamp<Index>(j - i, -16, 16) + 16;
                sum += c.attention[h](i, j) * (c.v[h](j, channel) + c.learned("shaw_kv.values.1", row, channel));
              }
              return sum;
            }}},
      {"sinusoidal",
       {.embed =
            [](const Case& c, int, int t, int channel) {
              const double angle = t * std::pow(10000.0, -static_cast<double>(channel / 2 * 2) / c.C);
              return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
            }}},
      {"ssmax",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double rope =
                  turned(c, false, h, i, j, [&](int n) { return (i - j) * std::pow(10000.0, -2.0 * n / c.D); });
              return c.learned("ssmax.scale.1", 0, h) * std::log(c.causal ? i + 1 : c.T) * rope;
            }}},
      {"ssmax:base=alibi,factor=log_ratio_beyond,length=5",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double alibi = c.dot(h, i, j) - std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
              return std::max(1.0, std::log(c.causal ? i + 1 : c.T) / std::log(5)) * alibi;
            }}},
      {"stick_breaking",
       {.attention =
            [](const Case& c, int h, int i, int j) {
              if (j == i) return 0.0;
              double left = 1 / (1 + std::exp(-c.scores[h](i, j)));
              for (int m = j + 1; m < i; ++m) left /= 1 + std::exp(c.scores[h](i, m));
              return left;
            }}},
      {"sum",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double p = 0;
              for (int m = j; m <= i; ++m) p += 1 / (1 + std::exp(-c.dot(h, i, m)));
              const int n = static_cast<int>(p);
              const double f = p - n;
              const double cope = (1 - f) * c.query_dot("sum.0.cope.table.1", h, i, n) +
                                  f * c.query_dot("sum.0.cope.table.1", h, i, n + 1);
              const double shaw = c.query_dot("sum.1.shaw_k.keys.1", h, i, std::clamp(j - i, -16, 16) + 16);
              return c.dot(h, i, j) + (cope + shaw) / std::sqrt(c.D);
            },
        .bidirectional = false}},
      {"sum:of=(learned_abs,t5_bias,alibi)",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return c.dot(h, i, j) + c.learned("sum.1.t5_bias.table", t5_bucket(i - j, c.causal), h) -
                     std::exp2(-8.0 * (h + 1) / c.H) * std::abs(i - j);
            },
        .embed = [](const Case& c, int, int t,
                    int channel) { return c.learned("sum.0.learned_abs.table", t, channel); }}},
      {"t5_bias",
       {.score =
            [](const Case& c, int h, int i, int j) {
              return c.dot(h, i, j) + c.learned("t5_bias.table", t5_bucket(i - j, c.causal), h);
            }}},
      {"tapa",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const double a = c.q[h].row(i).head(2).dot(c.k[h].row(j).head(2)) / std::sqrt(2);
              const double b = c.q[h].row(i).tail(2).dot(c.k[h].row(j).tail(2)) / std::sqrt(2);
              return a * std::cos(2 * std::acos(-1.0) * std::pow(std::abs(i - j), 0.1) * b);
            }}},
      {"tape",
       {.score =
            [](const Case& c, int h, int i, int j) {  // before the recurrent state changes: RoPE, half-split
              double sum = 0;
              for (int n = 0; n < c.D / 2; ++n) {
                const double angle = (i - j) * std::pow(10000.0, -2.0 * n / c.D);
                const double qa = c.q[h](i, n), qb = c.q[h](i, n + c.D / 2), ka = c.k[h](j, n),
                             kb = c.k[h](j, n + c.D / 2);
                sum += (qa * ka + qb * kb) * std::cos(angle) + (qa * kb - qb * ka) * std::sin(angle);
              }
              return sum / std::sqrt(c.D);
            }}},
      {"tupe_a", {.score = [](const Case& c, int h, int i, int j) { return tupe_score(c, "tupe_a", h, i, j); }}},
      {"tupe_r",
       {.score =
            [](const Case& c, int h, int i, int j) {
              int bucket = t5_bucket(i - j, c.causal);
              if (!c.causal && i == 0) {
                bucket = 16;
              } else if (!c.causal && j == 0) {
                bucket = 32;
              }
              return tupe_score(c, "tupe_r", h, i, j) + c.learned("tupe_r.table", bucket, h);
            }}},
      {"txl",
       {.score = [](const Case& c, int h, int i,
                    int j) { return transformer_xl(c, "txl.u", "txl.w", "txl.projection.1", h, i, j, i - j); }}},
      {"wavelet",
       {.score =
            [](const Case& c, int h, int i, int j) {  // four scales, no shift
              double sum = 0;
              for (int e = 0; e < c.D; ++e) {
                const double u = (i - j) / std::exp2(e);
                sum += c.q[h](i, e) * (1 - u * u) * std::exp(-u * u / 2);
              }
              return c.dot(h, i, j) + sum / std::sqrt(c.D);
            }}},
      {"wavelet:scales=2",
       {.score =
            [](const Case& c, int h, int i, int j) {  // scales 1, 1, 2, 2 with shifts 0, 1, 0, 1
              double sum = 0;
              for (int e = 0; e < c.D; ++e) {
                const double u = (i - j - e % 2) / (e < 2 ? 1.0 : 2.0);
                sum += c.q[h](i, e) * (1 - u * u) * std::exp(-u * u / 2);
              }
              return c.dot(h, i, j) + sum / std::sqrt(c.D);
            }}},
      {"xlnet",
       {.score =
            [](const Case& c, int h, int i, int j) {
              const int m = c.sequence.segments[i] == c.sequence.segments[j] ? 0 : 1;
              double segment = 0;
              for (int e = 0; e < c.D; ++e) {
                segment +=
                    (c.q[h](i, e) + c.learned("xlnet.b.1", h, e)) * c.learned("xlnet.segments.1", m, h * c.D + e);
              }
              segment /= std::sqrt(c.D);
              return transformer_xl(c, "xlnet.u.1", "xlnet.w.1", "xlnet.projection.1", h, i, j, i - j) + segment;
            }}},
      {"xpos",
       {.score =
            [](const Case& c, int h, int i, int j) {
              double sum = 0;
              for (int n = 0; n < c.D / 2; ++n) {
                const std::complex<double> q(c.q[h](i, 2 * n), c.q[h](i, 2 * n + 1)),
                    k(c.k[h](j, 2 * n), c.k[h](j, 2 * n + 1));
                const double zeta = (2.0 * n / c.D + 0.4) / 1.4,
                             angle = (i - j) * std::pow(10000.0, -2.0 * n / c.D);
                sum += std::pow(zeta, (i - j) / 512.0) * (q * std::conj(k) * std::polar(1.0, angle)).real();
              }
              return sum / std::sqrt(c.D);
            }}},
  };
  return rows;
}

double softmax_of(const Case& c, int h, int i, int j) {
  const Index keys = visible(i, c.T, c.causal);
  return std::exp(c.scores[h](i, j)) / c.scores[h].row(i).head(keys).array().exp().sum();
}

double weighted_values(const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < visible(i, c.T, c.causal); ++j) sum += c.attention[h](i, j) * c.v[h](j, channel);
  return sum;
}

void check(const Row& row, const std::string& name, bool causal) {
  const Case c(name, causal);
  const auto close = [](double actual, double expected) {
    INFO(actual << " for " << expected);
    REQUIRE(std::abs(actual - expected) < 1e-9 * std::max(1.0, std::abs(expected)));
  };
  for (int t = 0; t < c.T; ++t) {
    for (int channel = 0; channel < c.C; ++channel) {
      INFO("embed, position " << t << ", channel " << channel);
      close(c.embedded(t, channel) - c.x(t, channel), row.embed ? row.embed(c, 0, t, channel) : 0);
    }
  }
  for (int h = 0; h < c.H; ++h) {
    for (int i = 0; i < c.T; ++i) {
      for (int j = 0; j < visible(i, c.T, causal); ++j) {
        INFO("head " << h << ", query " << i << ", key " << j);
        close(c.scores[h](i, j), row.score ? row.score(c, h, i, j) : c.dot(h, i, j));
        close(c.attention[h](i, j), row.attention ? row.attention(c, h, i, j) : softmax_of(c, h, i, j));
      }
      for (int channel = 0; channel < c.D; ++channel) {
        INFO("output, head " << h << ", query " << i << ", channel " << channel);
        close(c.output[h](i, channel),
              row.output ? row.output(c, h, i, channel) : weighted_values(c, h, i, channel));
      }
    }
  }
}

}  // namespace

TEST_CASE("every encoding has a row with its equation") {
  for (const std::string& name : encodings().names()) {
    INFO("add to tests/encodings/equations_test.cpp:   {\""
         << name << "\", {.score = [](const Case& c, int h, int i, int j) { ... }}},");
    CHECK(rows().count(name) == 1);
  }
}

TEST_CASE("every encoding computes the equation of its row") {
  for (const auto& [name, row] : rows()) {
    const bool both = row.bidirectional && !encodings().find(Spec::parse(name).name).info.causal_only;
    for (const bool causal : {true, false}) {
      if (!causal && !both) continue;
      DYNAMIC_SECTION(name << (causal ? ", causal" : ", bidirectional")) { check(row, name, causal); }
    }
  }
}
