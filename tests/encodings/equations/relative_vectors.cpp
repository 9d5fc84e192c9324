// Equations of the encodings in encodings/relative_vectors.
#include <algorithm>
#include <cmath>
#include <string>

#include "model/attention.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns element e of head h of W S(n). S(n) are the sinusoids of width C, sines first.
double projected_sinusoid(const Case& c, const std::string& projection, int h, int e, int n) {
  double sum = 0;
  for (int m = 0; m < c.C; ++m) {
    const double angle = n / std::pow(10000.0, 2.0 * (m % (c.C / 2)) / c.C);
    sum += c.learned(projection, m, h * c.D + e) * (m < c.C / 2 ? std::sin(angle) : std::cos(angle));
  }
  return sum;
}

/// Returns ((q + u) . k + (q + w) . W S(n)) / sqrt(D). `u`, `w` and `projection` are names of parameters.
double transformer_xl(const Case& c, const std::string& u, const std::string& w, const std::string& projection,
                      int h, int i, int j, int n) {
  double sum = 0;
  for (int e = 0; e < c.D; ++e) {
    sum += (c.q[h](i, e) + c.learned(u, h, e)) * c.k[h](j, e);
    sum += (c.q[h](i, e) + c.learned(w, h, e)) * projected_sinusoid(c, projection, h, e, n);
  }
  return sum / std::sqrt(c.D);
}

/// Returns (U_Q n_a)_h . (U_K n_b)_h / sqrt(2 D) for the normalized rows n_a and n_b of TUPE's table.
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

/// Returns TUPE's score without the bias. In a bidirectional model, token 0 is reset and token t reads row t + 1.
double tupe_score(const Case& c, const std::string& name, int h, int i, int j) {
  const double content = c.dot(h, i, j) / std::sqrt(2);
  if (c.causal) return content + tupe(c, name, h, i, j);
  if (i == 0) return content + tupe(c, name, h, 0, 0);
  if (j == 0) return content + tupe(c, name, h, 1, 1);
  return content + tupe(c, name, h, i + 1, j + 1);
}

/// Returns DeBERTa's score with row n of its table.
double deberta_with(const Case& c, int h, int i, int j, int n) {
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
}
const RegisterEquation deberta("deberta", Stage::score, [](const Case& c, int h, int i, int j) {
  return deberta_with(c, h, i, j, i - j + 512);
});

/// Distances -2 to 2 have the rows 2 to 6. Greater ones have one bucket up to 5 and the next from 6 on. The row of
/// the latter is clipped to 7 before the query; after it, row 0 is used only if distances are not clipped to 5.
int deberta_bucket(int distance, bool clip) {
  if (distance > 2) return 7;
  return distance >= -2 ? distance + 4 : distance > -6 || clip ? 1 : 0;
}
const RegisterEquation deberta_clipped("deberta:size=4,max_distance=6", Stage::score,
                                       [](const Case& c, int h, int i, int j) {
                                         return deberta_with(c, h, i, j, deberta_bucket(i - j, true));
                                       });
const RegisterEquation deberta_not_clipped("deberta:size=4,max_distance=6,clip=false", Stage::score,
                                           [](const Case& c, int h, int i, int j) {
                                             return deberta_with(c, h, i, j, deberta_bucket(i - j, false));
                                           });

double rel_sin_bidir(const Case& c, int h, int i, int j, int n) {
  return transformer_xl(c, "rel_sin_bidir.u.1", "rel_sin_bidir.w.1", "rel_sin_bidir.projection.1", h, i, j, n);
}
const RegisterEquation row_rel_sin_bidir("rel_sin_bidir", Stage::score, [](const Case& c, int h, int i, int j) {
  return rel_sin_bidir(c, h, i, j, j - i);
});
const RegisterEquation row_rel_sin_absolute("rel_sin_bidir:argument=absolute", Stage::score,
                                            [](const Case& c, int h, int i, int j) {
                                              return rel_sin_bidir(c, h, i, j, std::abs(i - j));
                                            });

// Half of the trained length 12 is 6.
const RegisterEquation inkling("inkling", Stage::score, [](const Case& c, int h, int i, int j) {
  const double of_query = std::sqrt(c.q[h].row(i).squaredNorm() / c.D + 1e-5),
               of_key = std::sqrt(c.k[h].row(j).squaredNorm() / c.D + 1e-5);
  double score = 0;
  for (int e = 0; e < c.D; ++e) {
    score += c.learned("inkling.query_gain.1", 0, e) * c.q[h](i, e) / of_query *
             c.learned("inkling.key_gain.1", 0, e) * c.k[h](j, e) / of_key / c.D;
  }
  if (j > i || i - j >= 6) return score;
  for (int m = 0; m < 16; ++m)
    score += c.x_dot("inkling.mixing.1", i, 16 * h + m) * c.learned("inkling.profiles.1", i - j, m);
  return score;
});

const RegisterEquation shaw_k("shaw_k", Stage::score, [](const Case& c, int h, int i, int j) {
  return c.dot(h, i, j) + c.query_dot("shaw_k.keys.1", h, i, std::clamp(j - i, -16, 16) + 16) / std::sqrt(c.D);
});

const RegisterEquation shaw_kv_score("shaw_kv", Stage::score, [](const Case& c, int h, int i, int j) {
  const int row = std::clamp(j - i, -16, 16) + 16;
  return c.dot(h, i, j) + c.query_dot("shaw_kv.keys.1", h, i, row) / std::sqrt(c.D);
});

const RegisterEquation shaw_kv_mix("shaw_kv", Stage::mix, [](const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < num_visible_keys(i, c.T, c.causal); ++j) {
    const Index row = std::clamp<Index>(j - i, -16, 16) + 16;
    sum += c.attention[h](i, j) * (c.v[h](j, channel) + c.learned("shaw_kv.values.1", row, channel));
  }
  return sum;
});

const RegisterEquation tupe_a("tupe_a", Stage::score,
                              [](const Case& c, int h, int i, int j) { return tupe_score(c, "tupe_a", h, i, j); });

const RegisterEquation tupe_r("tupe_r", Stage::score, [](const Case& c, int h, int i, int j) {
  int bucket = t5_bucket(i - j, c.causal);
  if (!c.causal && i == 0) {
    bucket = 16;
  } else if (!c.causal && j == 0) {
    bucket = 32;
  }
  return tupe_score(c, "tupe_r", h, i, j) + c.learned("tupe_r.table", bucket, h);
});

const RegisterEquation txl("txl", Stage::score, [](const Case& c, int h, int i, int j) {
  return transformer_xl(c, "txl.u", "txl.w", "txl.projection.1", h, i, j, i - j);
});

// The defaults give four scales and no shift.
const RegisterEquation wavelet("wavelet", Stage::score, [](const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int e = 0; e < c.D; ++e) {
    const double u = (i - j) / std::exp2(e);
    sum += c.q[h](i, e) * (1 - u * u) * std::exp(-u * u / 2);
  }
  return c.dot(h, i, j) + sum / std::sqrt(c.D);
});

/// The scales are 1, 1, 2, 2 and the shifts 0, 1, 0, 1.
double wavelet_two_scales(const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int e = 0; e < c.D; ++e) {
    const double u = (i - j - e % 2) / (e < 2 ? 1.0 : 2.0);
    sum += c.q[h](i, e) * (1 - u * u) * std::exp(-u * u / 2);
  }
  return c.dot(h, i, j) + sum / std::sqrt(c.D);
}
const RegisterEquation row_wavelet_two_scales("wavelet:scales=2", Stage::score, wavelet_two_scales);

const RegisterEquation xlnet("xlnet", Stage::score, [](const Case& c, int h, int i, int j) {
  const int m = c.sequence.segments[i] == c.sequence.segments[j] ? 0 : 1;
  double segment = 0;
  for (int e = 0; e < c.D; ++e) {
    segment += (c.q[h](i, e) + c.learned("xlnet.b.1", h, e)) * c.learned("xlnet.segments.1", m, h * c.D + e);
  }
  segment /= std::sqrt(c.D);
  return transformer_xl(c, "xlnet.u.1", "xlnet.w.1", "xlnet.projection.1", h, i, j, i - j) + segment;
});

}  // namespace
}  // namespace posbench::equations
