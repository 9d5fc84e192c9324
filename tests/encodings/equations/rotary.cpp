// Equations of the encodings in encodings/rotary.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/attention.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns W^n of head h with W = exp(B - B^T). W is orthogonal, so its transpose is its inverse.
EigenMatrix algebraic_power(const Case& c, int h, int n) {
  const EigenMatrix b = c.matrix("algebraic.generators").middleRows(h * c.D, c.D), generator = b - b.transpose();
  const EigenMatrix identity = EigenMatrix::Identity(c.D, c.D);
  EigenMatrix w = identity, term = identity, power = identity;
  for (int k = 1; k < 60; ++k) {
    term = (term * generator / k).eval();
    w += term;
  }
  for (int k = 0; k < std::abs(n); ++k) power = (power * w).eval();
  return n < 0 ? EigenMatrix(power.transpose()) : power;
}

/// Returns the score in which pair n of both sides is multiplied by cosine(n, t) + i sine(n, t) of its position t.
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

const RegisterEquation algebraic("algebraic", Stage::score, [](const Case& c, int h, int i, int j) {
  const double product = c.q[h].row(i) * algebraic_power(c, h, j - i) * c.k[h].row(j).transpose();
  return std::pow(0.98, std::abs(i - j)) * product / std::sqrt(c.D);
});

// With L = 12, only the first of the frequencies 1 and 0.01 remains, so one pair turns.
const RegisterEquation fope("fope", Stage::score, [](const Case& c, int h, int i, int j) {
  const auto coefficient = [&](const char* side) {
    Rng rng = make_rng(0, std::string("fope.") + side + ".1");
    double value = 0;
    for (int g = 0; g <= h; ++g) value = 1 + 0.3 * std::sqrt(2.0 / (1 + c.H)) * normal(rng);
    return value;
  };
  return fourier(
      c, h, i, j, [&](int n, int t) { return n == 0 ? coefficient("cosine") * std::cos(t) : 1; },
      [&](int n, int t) { return n == 0 ? coefficient("sine") * std::sin(t) : 0; });
});

/// Both frequencies act in one pair. The limit D / 4 leaves out the other.
double fope_learned(const Case& c, int h, int i, int j) {
  const auto learned = [&](const char* side, int m) {
    return c.learned(std::string("fope.") + side + ".1", 2 * h + m, 0);
  };
  return fourier(
      c, h, i, j,
      [&](int n, int t) {
        return n == 1 ? 1 : learned("cosine", 0) * std::cos(t) + learned("cosine", 1) * std::cos(0.01 * t);
      },
      [&](int n, int t) {
        return n == 1 ? 1 : learned("sine", 0) * std::sin(t) + learned("sine", 1) * std::sin(0.01 * t);
      });
}
const RegisterEquation row_fope_learned("fope:learned=true,length=1000,padding=ones", Stage::score, fope_learned);

const RegisterEquation grape_m("grape_m", Stage::score, [](const Case& c, int h, int i, int j) {
  return turned(c, true, h, i, j,
                [&](int n) { return (i - j) * std::exp(c.learned("grape_m.log_frequencies.1", 0, n) / 16); });
});

/// The factor is 1 as long as sequences are no longer than in training.
double interpolated(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) { return (i - j) * std::pow(10000.0, -2.0 * n / c.D); });
}
const RegisterEquation row_interpolated("interpolated", Stage::score, interpolated);

double interpolated_ntk(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j,
                [&](int n) { return (i - j) * std::pow(10000 * std::pow(3.0, 2), -2.0 * n / c.D); });
}
const RegisterEquation row_interpolated_ntk("interpolated:method=ntk,scale=3", Stage::score, interpolated_ntk);

double interpolated_by_3(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) { return (i - j) / 3.0 * std::pow(10000.0, -2.0 * n / c.D); });
}
const RegisterEquation row_interpolated_by_3("interpolated:scale=3", Stage::score, interpolated_by_3);

/// YaRN with s = 4. The first of two pairs turns by 1 for each position and stays, and `fraction` of the second
/// slows down.
double interpolated_yarn(const Case& c, int h, int i, int j, double base, double fraction) {
  const double second = (1 - fraction + fraction / 4) / std::sqrt(base);
  return std::pow(0.1 * std::log(4) + 1, 2) *
         turned(c, false, h, i, j, [&](int n) { return (i - j) * (n == 0 ? 1 : second); });
}
/// The ramp has its ends at pairs 0.348 and 1.101, which turn 32 times and once within 1000 tokens.
double interpolated_yarn_not_rounded(const Case& c, int h, int i, int j) {
  const double turns = 1000 / (2 * std::acos(-1.0)), low = 2 * std::log(turns / 32) / std::log(10000),
               high = 2 * std::log(turns) / std::log(10000);
  return interpolated_yarn(c, h, i, j, 10000, (1 - low) / (high - low));
}
const RegisterEquation row_yarn("interpolated:method=yarn,scale=4,original=1000", Stage::score,
                                [](const Case& c, int h, int i, int j) {
                                  return interpolated_yarn(c, h, i, j, 10000, 0.5);  // between pairs 0 and 2
                                });
const RegisterEquation row_yarn_not_rounded("interpolated:method=yarn,scale=4,original=1000,truncate=false",
                                            Stage::score, interpolated_yarn_not_rounded);
// No pair turns once within 4 tokens: pair -1 would. The code then changes no frequency.
const RegisterEquation row_yarn_short("interpolated:base=(rope:base=2),method=yarn,scale=4,original=4",
                                      Stage::score, [](const Case& c, int h, int i, int j) {
                                        return interpolated_yarn(c, h, i, j, 2, 0);
                                      });

/// Llama's rule by wavelengths of 2 pi and 200 pi, L = 12 and s = 4. A wavelength above L / 1 is multiplied by s,
/// one below L / high stays, and the frequency of one in between is a mixture.
double interpolated_llama3(const Case& c, int h, int i, int j, double high) {
  return turned(c, false, h, i, j, [&](int n) {
    const double wavelength = 2 * std::acos(-1.0) * std::pow(100.0, n), L = 12;
    double w = 1 / std::pow(100.0, n);
    if (wavelength > L) {
      w /= 4;
    } else if (wavelength > L / high) {
      const double smooth = (L / wavelength - 1) / (high - 1);
      w = (1 - smooth) * w / 4 + smooth * w;
    }
    return (i - j) * w;
  });
}
const RegisterEquation row_interpolated_llama3("interpolated:method=llama3,scale=4", Stage::score,
                                               [](const Case& c, int h, int i, int j) {
                                                 return interpolated_llama3(c, h, i, j, 4);
                                               });
const RegisterEquation row_interpolated_llama3_fast("interpolated:method=llama3,scale=4,high_freq_factor=1.5",
                                                    Stage::score, [](const Case& c, int h, int i, int j) {
                                                      return interpolated_llama3(c, h, i, j, 1.5);
                                                    });

/// LongRoPE with s = 4. The frequencies 1 and 0.01 are divided by these factors. Both sides are multiplied by
/// sqrt(1 + ln 4 / ln L).
double interpolated_longrope(const Case& c, int h, int i, int j, double L, double fast, double slow) {
  const double score =
      turned(c, false, h, i, j, [&](int n) { return (i - j) * (n == 0 ? 1 / fast : 0.01 / slow); });
  return score * (1 + std::log(4) / std::log(L));
}
const RegisterEquation row_interpolated_longrope_long(
    "interpolated:method=longrope,scale=4,original=6,short_factor=7,long_factor=2/5", Stage::score,
    [](const Case& c, int h, int i, int j) { return interpolated_longrope(c, h, i, j, 6, 2, 5); });
const RegisterEquation row_interpolated_longrope_short(
    "interpolated:method=longrope,scale=4,short_factor=1.5/2,long_factor=7", Stage::score,
    [](const Case& c, int h, int i, int j) { return interpolated_longrope(c, h, i, j, 12, 1.5, 2); });

// The ramp of YaRN leaves the first of the two pairs unchanged and slows down the second by s.
const RegisterEquation row_interpolated_longrope("interpolated:method=longrope,scale=4,original=6", Stage::score,
                                                 [](const Case& c, int h, int i, int j) {
                                                   return interpolated_longrope(c, h, i, j, 6, 1, 4);
                                                 });

const RegisterEquation pope("pope", Stage::score, [](const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int e = 0; e < c.D; ++e) {
    const double phase = (i - j) * std::pow(10000.0, -1.0 * e / c.D) - c.learned("pope.delta", h, e);
    sum += softplus(c.q[h](i, e)) * softplus(c.k[h](j, e)) * std::cos(phase);
  }
  return sum / std::sqrt(c.D);
});

/// The wavelengths 6.28 and 628.3 are rounded.
double resonance_rope(const Case& c, int h, int i, int j) {
  const double wavelength[] = {6, 628};
  return turned(c, false, h, i, j, [&](int n) { return (i - j) * 2 * std::acos(-1.0) / wavelength[n]; });
}
const RegisterEquation row_resonance_rope("resonance_rope", Stage::score, resonance_rope);

const RegisterEquation rope("rope", Stage::score, [](const Case& c, int h, int i, int j) {
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {  // the real part of q conj(k) e^(i (i - j) w)
    const double angle = (i - j) * std::pow(10000.0, -2.0 * n / c.D);
    const double qa = c.q[h](i, 2 * n), qb = c.q[h](i, 2 * n + 1), ka = c.k[h](j, 2 * n),
                 kb = c.k[h](j, 2 * n + 1);
    sum += (qa * ka + qb * kb) * std::cos(angle) + (qa * kb - qb * ka) * std::sin(angle);
  }
  return sum / std::sqrt(c.D);
});

// The case has two coordinates. Each of them turns one of the two pairs, with the frequency 1.
const RegisterEquation rope_axial("rope:axial=true", Stage::score, [](const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) {
    const std::vector<int>& coordinate = c.sequence.coordinates[static_cast<size_t>(n)];
    return static_cast<double>(coordinate[static_cast<size_t>(i)] - coordinate[static_cast<size_t>(j)]);
  });
});

/// Only the first pair turns.
double first_pair_turned(const Case& c, int h, int i, int j) {
  return turned(c, false, h, i, j, [&](int n) { return n == 0 ? i - j : 0; });
}
// With L = 12, only the first of the frequencies 1 and 0.01 remains, also if both pairs are tapered.
const RegisterEquation rope_hope("rope_hope", Stage::score, first_pair_turned);
const RegisterEquation rope_tapered("rope_hope:taper=2", Stage::score, first_pair_turned);
// The fraction 0.75 of two pairs is one pair.
const RegisterEquation rope_p("rope_p", Stage::score, first_pair_turned);
const RegisterEquation rope_partial("rope_partial", Stage::score, first_pair_turned);
const RegisterEquation rope_partial_values("rope_partial:values=rotated", Stage::score, first_pair_turned);
const RegisterEquation rope_partial_mix("rope_partial:values=rotated", Stage::mix,
                                        [](const Case& c, int h, int i, int channel) {
                                          return turned_values(c, false, h, i, channel,
                                                               [&](int n, int j) { return n == 0 ? i - j : 0; });
                                        });
// With the base 100 and s = 4, the pairs turn by 1 / 4 and 1 / 40 for each position.
const std::string kSlower = "interpolated:base=(rope:base=100,pairing=half_split,values=rotated),scale=4";
double slower_score(const Case& c, int h, int i, int j) {
  return turned(c, true, h, i, j, [&](int n) { return (i - j) * (n == 0 ? 0.25 : 0.025); });
}
double slower_mix(const Case& c, int h, int i, int channel) {
  return turned_values(c, true, h, i, channel, [&](int n, int j) { return (i - j) * (n == 0 ? 0.25 : 0.025); });
}
const RegisterEquation row_slower_score(kSlower, Stage::score, slower_score);
const RegisterEquation row_slower_mix(kSlower, Stage::mix, slower_mix);
// A factor of the rotated queries and keys does not scale the values.
const RegisterEquation row_scaled_score(kSlower + ",attention_factor=1.5", Stage::score,
                                        [](const Case& c, int h, int i, int j) {
                                          return 2.25 * slower_score(c, h, i, j);
                                        });
const RegisterEquation row_unscaled_mix(kSlower + ",attention_factor=1.5", Stage::mix, slower_mix);

/// Returns q_i conj(k_j) exp(i (i - j) w), summed over the pairs of the head whose queries and keys head h reads.
std::complex<double> rope_pp_product(const Case& c, int h, int i, int j, double base, int stride, int offset) {
  const Matrix &q = c.q[h - h % 2], &k = c.k[h - h % 2];
  std::complex<double> sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const int a = n * stride, b = a + offset;
    const std::complex<double> of_query(q(i, a), q(i, b)), of_key(k(j, a), k(j, b));
    sum += of_query * std::conj(of_key) * std::polar(1.0, (i - j) * std::pow(base, -2.0 * n / c.D));
  }
  return sum;
}

double rope_pp_score(const Case& c, int h, int i, int j) {
  const std::complex<double> z = rope_pp_product(c, h, i, j, 10000, 2, 1);
  return (h % 2 == 0 ? z.real() : z.imag()) / std::sqrt(c.D);
}
double rope_pp_halves_score(const Case& c, int h, int i, int j) {
  const std::complex<double> z = rope_pp_product(c, h, i, j, 100, 1, c.D / 2);
  return (h % 2 == 0 ? z.real() : z.imag()) / std::sqrt(c.D);
}
double rope_pp_mix(const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < num_visible_keys(i, c.T, c.causal); ++j)
    sum += c.attention[h](i, j) * c.v[h - h % 2](j, channel);
  return sum;
}
const std::string kRopePpHalves = "rope_pp:base=100,pairing=half_split";
const RegisterEquation row_rope_pp_score("rope_pp", Stage::score, rope_pp_score);
const RegisterEquation row_rope_pp_mix("rope_pp", Stage::mix, rope_pp_mix);
const RegisterEquation row_rope_pp_halves_score(kRopePpHalves, Stage::score, rope_pp_halves_score);
const RegisterEquation row_rope_pp_halves_mix(kRopePpHalves, Stage::mix, rope_pp_mix);

/// Returns the score of RoPE at another distance.
double at_distance(const Case& c, bool half_split, int h, int i, int j, double distance) {
  return turned(c, half_split, h, i, j, [&](int n) { return distance * std::pow(10000.0, -2.0 * n / c.D); });
}

// The trained length is 12, so the window of rerope is 2 and that of self_extend is 3.
const RegisterEquation remapped("remapped", Stage::score, Models::causal, [](const Case& c, int h, int i, int j) {
  return at_distance(c, false, h, i, j, std::min(i - j, 2));
});
const RegisterEquation remapped_leaky("remapped:window=4,group=2", Stage::score, Models::causal,
                                      [](const Case& c, int h, int i, int j) {
                                        const int d = i - j;
                                        return at_distance(c, false, h, i, j, d < 4 ? d : 4 + (d - 4) / 2.0);
                                      });
const RegisterEquation remapped_groups("remapped:method=self_extend,group=2", Stage::score, Models::causal,
                                       [](const Case& c, int h, int i, int j) {
                                         const int d = i - j;
                                         return at_distance(c, false, h, i, j, d < 3 ? d : i / 2 - j / 2 + 3 - 1);
                                       });

/// Chunks of 4 tokens. Six positions cover the next chunk and the window of 2.
double remapped_chunks(const Case& c, int h, int i, int j) {
  const int chunks_between = i / 4 - j / 4;
  int query = i % 4;
  if (chunks_between == 1) query = std::min(query + 4, 6);
  if (chunks_between > 1) query = 6;
  return at_distance(c, true, h, i, j, query - j % 4);
}
const RegisterEquation row_remapped_chunks(
    "remapped:base=(rope:pairing=half_split),method=dual_chunk,window=2,chunk=4", Stage::score, Models::causal,
    remapped_chunks);
const RegisterEquation remapped_shifted("remapped:method=string,window=2,shift=5", Stage::score, Models::causal,
                                        [](const Case& c, int h, int i, int j) {
                                          const int d = i - j;
                                          return at_distance(c, false, h, i, j, d < 5 ? d : d - 5 + 2);
                                        });

const RegisterEquation remapped_factor("remapped:method=string,window=2,shift=5,attention_factor=1.2",
                                       Stage::score, Models::causal, [](const Case& c, int h, int i, int j) {
                                         const int d = i - j;
                                         return 1.2 * 1.2 * at_distance(c, false, h, i, j, d < 5 ? d : d - 3);
                                       });

/// Returns the score of xPos at a distance.
double xpos_at(const Case& c, int h, int i, int j, double distance) {
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const std::complex<double> q(c.q[h](i, 2 * n), c.q[h](i, 2 * n + 1)),
        k(c.k[h](j, 2 * n), c.k[h](j, 2 * n + 1));
    const double zeta = (2.0 * n / c.D + 0.4) / 1.4, angle = distance * std::pow(10000.0, -2.0 * n / c.D);
    sum += std::pow(zeta, distance / 512.0) * (q * std::conj(k) * std::polar(1.0, angle)).real();
  }
  return sum / std::sqrt(c.D);
}
const RegisterEquation xpos("xpos", Stage::score,
                            [](const Case& c, int h, int i, int j) { return xpos_at(c, h, i, j, i - j); });

/// The decay of xPos follows the new distances.
double remapped_xpos(const Case& c, int h, int i, int j) {
  const int d = i - j;
  return xpos_at(c, h, i, j, d < 3 ? d : i / 2 - j / 2 + 3 - 1);
}
const RegisterEquation row_remapped_xpos("remapped:base=xpos,method=self_extend,window=3,group=2", Stage::score,
                                         Models::causal, remapped_xpos);

}  // namespace
}  // namespace posbench::equations
