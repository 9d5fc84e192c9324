// Equations of the encodings in encodings/contextual.
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>

#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns k_j . R_(j+1) ... R_i q_i / sqrt(D) with PaTH's reflections R. Parameter names begin with `prefix`.
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

/// Returns MapFormer's angle of pair n between two tokens, computed from the embeddings that embed() received.
double path_angle(const Case& c, const std::string& name, int h, int i, int j, int n) {
  double steps = 0;
  for (int t = j + 1; t <= i; ++t)
    steps += (c.x.row(t) * c.matrix(name + ".in") * c.matrix(name + ".out"))(h * c.D / 2 + n);
  return c.learned(name + ".omega", h, n) * steps;
}

/// Returns (i - j) m_h softplus(o_h), the factor of GRAPE's gates.
double grape_penalty(const Case& c, const std::string& name, int h, int i, int j) {
  return (i - j) * std::pow(0.25, h + 1) * softplus(c.learned(name + ".1.strength", 0, h));
}

double grape_gate(const Case& c, const std::string& name, int h, const Heads& side, int t) {
  const auto u = c.matrix(name).row(h);
  return softplus(u.dot(side[h].row(t)) / u.norm() / std::sqrt(c.D));
}

/// Returns the angle by which the tokens from, ..., to - 1 turn pair n of head h.
double accumulated_angle(const Case& c, int h, int n, int from, int to) {
  double sum = 0;
  for (int t = from; t < to; ++t) {
    const int column = h * c.D / 2 + n;
    sum += c.x_dot("accumulated_rope.weight.1", t, column) + c.learned("accumulated_rope.bias.1", 0, column);
  }
  return sum;
}

double accumulated_rope_score(const Case& c, int h, int i, int j) {
  return turned(c, true, h, i, j, [&](int n) { return accumulated_angle(c, h, n, j, i); });
}
const RegisterEquation row_accumulated_rope_score("accumulated_rope", Stage::score, accumulated_rope_score);

double accumulated_rope_mix(const Case& c, int h, int i, int channel) {
  const int n = channel % (c.D / 2), other = n + c.D / 2;
  std::complex<double> sum = 0;
  for (int j = 0; j <= i; ++j) {
    const std::complex<double> v(c.v[h](j, n), c.v[h](j, other));
    sum += c.attention[h](i, j) * v * std::polar(1.0, -accumulated_angle(c, h, n, j, i));
  }
  return channel == n ? sum.real() : sum.imag();
}
const RegisterEquation row_accumulated_rope_mix("accumulated_rope", Stage::mix, accumulated_rope_mix);

const RegisterEquation cable("cable", Stage::score, [](const Case& c, int h, int i, int j) {
  double bias = 0;
  for (int s = j + 1; s <= i; ++s) {
    bias -= std::log(1 + std::exp(c.x_dot("cable.gate.1.weight", s, h) + c.learned("cable.gate.1.bias", 0, h)));
  }
  return c.dot(h, i, j) + bias;
});

const RegisterEquation carope("carope", Stage::score, [](const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) {
    double angle = 0;
    for (int t = j + 1; t <= i; ++t)
      angle += std::pow(1 / (softplus(c.x_dot("carope.weight.1", t, h)) + 1), n + 1);
    return angle;
  });
});

double cope(const Case& c, int h, int i, int j) {
  double p = 0;
  for (int m = j; m <= i; ++m) p += 1 / (1 + std::exp(-c.dot(h, i, m)));
  const int n = static_cast<int>(p);
  const double f = p - n;
  const double t = (1 - f) * c.query_dot("cope.table.1", h, i, n) + f * c.query_dot("cope.table.1", h, i, n + 1);
  return c.dot(h, i, j) + t / std::sqrt(c.D);
}
const RegisterEquation row_cope("cope", Stage::score, Models::causal, cope);

const RegisterEquation dape("dape", Stage::score, [](const Case& c, int h, int i, int j) {
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
});

const RegisterEquation dape_v2("dape_v2", Stage::score, [](const Case& c, int h, int i, int j) {
  const auto in = c.matrix("dape_v2.1.in.weight"), out = c.matrix("dape_v2.1.out.weight");
  const auto bias = [&](int g, int key) { return (key - i) / std::pow(4.0, g + 1); };
  const auto hidden = [&](int m, int key) {
    if (key < 0 || key >= c.T) return 0.0;  // the padding of the second convolution
    double inner = c.learned("dape_v2.1.in.bias", 0, m);
    for (int tap = 0; tap < 3; ++tap) {
      const int from = key + tap - 1;
      for (int g = 0; g < c.H && 0 <= from && from <= i; ++g) {
        inner += in(m, tap * 2 * c.H + g) * c.dot(g, i, from) + in(m, (tap * 2 + 1) * c.H + g) * bias(g, from);
      }
    }
    return std::max(inner, 0.01 * inner);
  };
  double sum = c.dot(h, i, j) + bias(h, j) + c.learned("dape_v2.1.out.bias", 0, h);
  for (int tap = 0; tap < 3; ++tap) {
    for (int m = 0; m < 32; ++m) sum += out(tap * c.H + h, m) * hidden(m, j + tap - 1);
  }
  return sum;
});

// With L = 12, the second of the frequencies 1 and 0.01 is slow.
const RegisterEquation darope("darope", Stage::score, [](const Case& c, int h, int i, int j) {
  const auto position = [&](int t) {
    const double beta = std::log((t + 0.5) / (12 - t - 0.5));
    return 12 * sigmoid(c.x_dot("darope.weight.1", t, h) + c.learned("darope.alpha.1", 0, h) * beta);
  };
  return turned(c, false, h, i, j, [&](int n) { return n == 0 ? i - j : 0.01 * (position(i) - position(j)); });
});

const RegisterEquation fox("fox", Stage::score, [](const Case& c, int h, int i, int j) {
  double gates = 1;
  for (int s = j + 1; s <= i; ++s) {
    gates /= 1 + std::exp(-c.x_dot("fox.gate.1.weight", s, h) - c.learned("fox.gate.1.bias", 0, h));
  }
  return c.dot(h, i, j) + std::log(gates);
});

double grape_key(const Case& c, int h, int i, int j) {
  const auto u = c.matrix("grape_a_keygated.1.key_gate").row(h);
  const double gate = softplus(u.dot(c.k[h].row(j)) / u.norm() / std::sqrt(c.D));
  return c.dot(h, i, j) -
         (i - j) * std::pow(0.25, h + 1) * softplus(c.learned("grape_a_keygated.1.strength", 0, h)) * gate;
}
const RegisterEquation row_grape_key("grape_a_keygated", Stage::score, grape_key);

double grape_query(const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) - grape_penalty(c, "grape_a_querygated", h, i, j) *
                              grape_gate(c, "grape_a_querygated.1.query_gate", h, c.q, i);
}
const RegisterEquation row_grape_query("grape_a_querygated", Stage::score, grape_query);

double grape_both(const Case& c, int h, int i, int j) {
  const double gates = grape_gate(c, "grape_a_querykeygated.1.query_gate", h, c.q, i) +
                       grape_gate(c, "grape_a_querykeygated.1.key_gate", h, c.k, j);
  return c.dot(h, i, j) - grape_penalty(c, "grape_a_querykeygated", h, i, j) * gates;
}
const RegisterEquation row_grape_both("grape_a_querykeygated", Stage::score, grape_both);

const RegisterEquation grape_ap("grape_ap", Stage::score, [](const Case& c, int h, int i, int j) {
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
});

const RegisterEquation grape_ctx("grape_ctx", Stage::score, [](const Case& c, int h, int i, int j) {
  double phase = 0;
  for (int t = j; t < i; ++t) {
    phase += sigmoid((c.x_dot("grape_ctx.weight.1", t, 0) + c.learned("grape_ctx.bias.1", 0, 0)) / 16);
  }
  return turned(c, true, h, i, j,
                [&](int n) { return phase * std::exp(c.learned("grape_ctx.log_frequencies.1", 0, n)); });
});

double mapformer_em(const Case& c, int h, int i, int j) {
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
}
const RegisterEquation row_mapformer_em("mapformer_em", Stage::score, mapformer_em);

double mapformer_wm(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) { return path_angle(c, "mapformer_wm", h, i, j, n); });
}
const RegisterEquation row_mapformer_wm("mapformer_wm", Stage::score, mapformer_wm);

const RegisterEquation path("path", Stage::score,
                            [](const Case& c, int h, int i, int j) { return reflected(c, "path.1.", h, i, j); });

const RegisterEquation path_fox("path_fox", Stage::score, [](const Case& c, int h, int i, int j) {
  double gates = 1;
  for (int s = j + 1; s <= i; ++s) {
    gates /= 1 + std::exp(-c.x_dot("path_fox.gate.1.weight", s, h) - c.learned("path_fox.gate.1.bias", 0, h));
  }
  return reflected(c, "path_fox.1.", h, i, j) + std::log(gates) / std::sqrt(c.D);
});

const RegisterEquation repo_pos("repo_pos", Stage::score, [](const Case& c, int h, int i, int j) {
  const auto position = [&](int t) {
    double sum = 0;
    for (int m = 0; m < c.C / 8; ++m) {
      const double gate = c.x_dot("repo_pos.gate.1", t, m);
      sum += gate * sigmoid(gate) * c.x_dot("repo_pos.content.1", t, m) * c.learned("repo_pos.out.1", m, h);
    }
    return sum;
  };
  return turned(c, true, h, i, j,
                [&](int n) { return (position(i) - position(j)) * std::pow(10000.0, -2.0 * n / c.D); });
});

/// Returns the angle of pair n from key j to a query after it.
double selective_angle(const Case& c, int h, int n, int i, int j) {
  const auto projected = [&](int t, int channel) {
    Eigen::RowVectorXd u = c.x.row(t);
    for (int g = 0; g < c.H; ++g)
      u.segment(g * c.D, c.D) /= std::sqrt(u.segment(g * c.D, c.D).squaredNorm() + 1e-6);
    return (u * c.matrix("selective_rope.down.1") * c.matrix("selective_rope.up.1"))(channel);
  };
  const int channel = h * c.D / 2 + n;
  double angle = 0;
  for (int t = j + 1; t <= i; ++t) {
    for (int lag = 0; lag <= std::min(t, 3); ++lag) {
      angle += c.learned("selective_rope.taps.1", 3 - lag, channel) * projected(t - lag, channel);
    }
  }
  return angle * std::pow(500000.0, -2.0 * n / c.D);
}
double selective_rope(const Case& c, int h, int i, int j) {
  return turned(c, true, h, i, j, [&](int n) { return selective_angle(c, h, n, i, j); });
}
const RegisterEquation row_selective_rope("selective_rope", Stage::score, selective_rope);
const RegisterEquation row_selective_values_score("selective_rope:values=rotated", Stage::score, selective_rope);
const RegisterEquation row_selective_values("selective_rope:values=rotated", Stage::mix,
                                            [](const Case& c, int h, int i, int channel) {
                                              return turned_values(c, true, h, i, channel, [&](int n, int j) {
                                                return selective_angle(c, h, n, i, j);
                                              });
                                            });

const RegisterEquation tapa("tapa", Stage::score, [](const Case& c, int h, int i, int j) {
  const double a = c.q[h].row(i).head(2).dot(c.k[h].row(j).head(2)) / std::sqrt(2);
  const double b = c.q[h].row(i).tail(2).dot(c.k[h].row(j).tail(2)) / std::sqrt(2);
  return a * std::cos(2 * std::acos(-1.0) * std::pow(std::abs(i - j), 0.1) * b);
});

// Before the recurrent state changes, the score is that of half-split RoPE.
const RegisterEquation tape("tape", Stage::score, [](const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const double angle = (i - j) * std::pow(10000.0, -2.0 * n / c.D);
    const double qa = c.q[h](i, n), qb = c.q[h](i, n + c.D / 2), ka = c.k[h](j, n), kb = c.k[h](j, n + c.D / 2);
    sum += (qa * ka + qb * kb) * std::cos(angle) + (qa * kb - qb * ka) * std::sin(angle);
  }
  return sum / std::sqrt(c.D);
});

/// Returns the product of q_i and k_j, both divided by their root mean squares, over sqrt(D).
double tra_product(const Case& c, int h, int i, int j) {
  const double of_query = std::sqrt(c.q[h].row(i).squaredNorm() / c.D + 1e-6);
  const double of_key = std::sqrt(c.k[h].row(j).squaredNorm() / c.D + 1e-6);
  return c.dot(h, i, j) / (of_query * of_key);
}

double tra_score(const Case& c, int h, int i, int j) {
  if (tra_product(c, h, i, j) <= 0) return i == j ? 0 : -INFINITY;
  int distance = 0;
  for (int m = j; m <= i; ++m) distance += tra_product(c, h, i, m) > 0;
  const double gate = sigmoid(c.x_dot("tra.gate.1.weight", i, h) + c.learned("tra.gate.1.bias", 0, h));
  return tra_product(c, h, i, j) + distance * std::log(gate);
}
const RegisterEquation row_tra_score("tra", Stage::score, tra_score);

double tra_normalize(const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int m = 0; m <= i; ++m)
    if (tra_product(c, h, i, m) > 0) sum += std::exp(c.scores[h](i, m));
  return tra_product(c, h, i, j) > 0 ? std::exp(c.scores[h](i, j)) / sum : 0;
}
const RegisterEquation row_tra_normalize("tra", Stage::normalize, tra_normalize);

/// Each channel of q_i k_j has the product of its own gates of the tokens j + 1, ..., i as a factor.
double wall(const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int n = h * c.D; n < (h + 1) * c.D; ++n) {
    double kept = 1;
    for (int s = j + 1; s <= i; ++s)
      kept *= sigmoid(c.x_dot("wall.gate.1.weight", s, n) + c.learned("wall.gate.1.bias", 0, n));
    sum += c.q[h](i, n - h * c.D) * kept * c.k[h](j, n - h * c.D);
  }
  return sum / std::sqrt(c.D);
}
const RegisterEquation row_wall("wall", Stage::score, wall);

double wall_with_scalar_gate(const Case& c, int h, int i, int j) {
  double bias = 0;
  for (int s = j + 1; s <= i; ++s)
    bias -= softplus(-c.x_dot("wall.scalar.gate.1.weight", s, h) - c.learned("wall.scalar.gate.1.bias", 0, h));
  return wall(c, h, i, j) + bias;
}
const RegisterEquation row_wall_scalar("wall:scalar_gate=true", Stage::score, wall_with_scalar_gate);

}  // namespace
}  // namespace posbench::equations
