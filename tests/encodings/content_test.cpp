// Compares the content term of every encoding and variant with an independent equation, and with the scores of the
// encoding without its learned values.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "encodings/registry.h"
#include "model/attention.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"
#include "tests/encodings/equations/equations.h"

namespace posbench::equations {
namespace {

/// Returns the product of the first `components` components of q_i and k_j, each mapped by f, over the root of
/// their number.
template <class F>
double mapped_dot(const Case& c, int h, int i, int j, int components, F f) {
  double sum = 0;
  for (int e = 0; e < components; ++e) sum += f(c.q[h](i, e)) * f(c.k[h](j, e));
  return sum / std::sqrt(components);
}
double identity(double x) { return x; }

double num_keys(const Case& c, int i) { return static_cast<double>(num_visible_keys(i, c.T, c.causal)); }

/// Returns the number of keys that query i of `length` tokens sees in a window.
double num_window_keys(const Case& c, int i, int length, int window) {
  return std::min(i + 1, window) + (c.causal ? 0 : std::min(length - 1 - i, window - 1));
}
/// Returns the logit scale log_length in a window. The trained length is 12.
double log_length(const Case& c, int i, int window) {
  return std::log(num_window_keys(c, i, c.T, window)) / std::log(num_window_keys(c, 11, 12, window));
}

double asentmax_factor(const Case& c, int h, int i, int first_scaled, double range) {
  if (h < first_scaled) return 1;
  const double gamma = range * std::tanh(c.x_dot("asentmax.gamma.1", i, h - first_scaled));
  return 1 +
         softplus(c.x_dot("asentmax.beta.1", i, h - first_scaled)) * std::pow(std::log(num_keys(c, i) + 1), gamma);
}

/// Returns the product of q_i and k_j of the first head of a pair. In the second head, q_i is turned by -pi / 2.
/// Pair n consists of the components n `stride` and n `stride` + `offset`.
double rope_pp_content(const Case& c, int h, int i, int j, int stride, int offset) {
  const int first_head = h / 2 * 2;
  if (h == first_head) return c.dot(h, i, j);
  double sum = 0;
  for (int n = 0; n < c.D / 2; ++n) {
    const int a = n * stride, b = a + offset;
    sum += c.q[first_head](i, b) * c.k[first_head](j, a) - c.q[first_head](i, a) * c.k[first_head](j, b);
  }
  return sum / std::sqrt(c.D);
}

/// The content terms that are not q_i . k_j / sqrt(D), by a part of the spec. The first that fits counts.
const std::vector<std::pair<std::string, Value>>& other_contents() {
  const double root = std::sqrt(Case::D);
  static const std::vector<std::pair<std::string, Value>> contents{
      {"logit_scale=(constant,log_length)",
       [](const Case& c, int h, int i, int j) { return log_length(c, i, 3) * c.dot(h, i, j); }},
      {"base=cope,window=3,temperature=2",
       [](const Case& c, int h, int i, int j) {
         return (1 + 0.1 * std::log(1.0 + (i + 1) / 2)) * c.dot(h, i, j);
       }},
      {"local:base=(ssmax:base=alibi),window=4",
       [](const Case& c, int h, int i, int j) {
         const double scale = c.learned("ssmax.scale.1", 0, h) * std::log(num_window_keys(c, i, c.T, 4));
         return scale * log_length(c, i, 4) * c.dot(h, i, j);
       }},
      {"log_length_beyond",
       [](const Case& c, int h, int i, int j) { return std::max(1.0, log_length(c, i, 3)) * c.dot(h, i, j); }},
      {"scaled=false", [=](const Case& c, int h, int i, int j) { return root * c.dot(h, i, j); }},
      {"deberta", [](const Case& c, int h, int i, int j) { return c.dot(h, i, j) / std::sqrt(3); }},
      {"tupe_", [](const Case& c, int h, int i, int j) { return c.dot(h, i, j) / std::sqrt(2); }},
      {"learned_scale=true",
       [=](const Case& c, int h, int i, int j) {
         return c.learned("rel_sin_bidir.scale.1", 0, 0) * root * c.dot(h, i, j);
       }},
      {"geometric", [=](const Case& c, int h, int i,
                        int j) { return c.learned("geometric.1.alpha", 0, 0) * root * c.dot(h, i, j); }},
      {"theta=0.25", [](const Case& c, int h, int i, int j) { return mapped_dot(c, h, i, j, 1, identity); }},
      {"tapa", [](const Case& c, int h, int i, int j) { return mapped_dot(c, h, i, j, 2, identity); }},
      {"pope", [](const Case& c, int h, int i, int j) { return mapped_dot(c, h, i, j, c.D, softplus); }},
      {"tra",
       [](const Case& c, int h, int i, int j) {
         const double q = c.q[h].row(i).squaredNorm() / c.D + 1e-6, k = c.k[h].row(j).squaredNorm() / c.D + 1e-6;
         return std::max(c.dot(h, i, j) / std::sqrt(q * k), 0.0);
       }},
      {"inkling",
       [](const Case& c, int h, int i, int j) {
         const auto unit = [&](const Matrix& x, int t, const char* gain) {
           return Eigen::RowVectorXd(x.row(t).cwiseProduct(c.matrix(gain).row(0)) /
                                     std::sqrt(x.row(t).squaredNorm() / c.D + 1e-5));
         };
         return unit(c.q[h], i, "inkling.query_gain.1").dot(unit(c.k[h], j, "inkling.key_gain.1")) / c.D;
       }},
      {"mapformer_em",
       [=](const Case& c, int h, int i, int j) {
         const double of_position = c.matrix("mapformer_em.query").row(h).dot(c.matrix("mapformer_em.key").row(h));
         return c.dot(h, i, j) * of_position / root;
       }},
      {"rope_pp:base=100,pairing=half_split",
       [](const Case& c, int h, int i, int j) { return rope_pp_content(c, h, i, j, 1, c.D / 2); }},
      {"rope_pp", [](const Case& c, int h, int i, int j) { return rope_pp_content(c, h, i, j, 2, 1); }},
      {"method=yarn",
       [](const Case& c, int h, int i, int j) {
         const double amplitude = 0.1 * std::log(4.0) + 1;
         return amplitude * amplitude * c.dot(h, i, j);
       }},
      {"attention_factor=1.2", [](const Case& c, int h, int i, int j) { return 1.2 * 1.2 * c.dot(h, i, j); }},
      {"method=longrope",
       [](const Case& c, int h, int i, int j) { return (1 + std::log(4) / std::log(6)) * c.dot(h, i, j); }},
      {"asentmax:base=rope",
       [](const Case& c, int h, int i, int j) { return asentmax_factor(c, h, i, 0, 1) * c.dot(h, i, j); }},
      {"asentmax:base=alibi",
       [](const Case& c, int h, int i, int j) { return asentmax_factor(c, h, i, 0, 2) * c.dot(h, i, j); }},
      {"asentmax",
       [](const Case& c, int h, int i, int j) { return asentmax_factor(c, h, i, 2, 2) * c.dot(h, i, j); }},
      {"factor=log_ratio_beyond",
       [](const Case& c, int h, int i, int j) {
         return std::max(1.0, std::log(num_keys(c, i)) / std::log(5)) * c.dot(h, i, j);
       }},
      {"factor=log_ratio",
       [](const Case& c, int h, int i, int j) { return std::log(num_keys(c, i)) / std::log(5) * c.dot(h, i, j); }},
      {"factor=log", [](const Case& c, int h, int i, int j) { return std::log(num_keys(c, i)) * c.dot(h, i, j); }},
      {"ssmax", [](const Case& c, int h, int i, int j) {
         return c.learned("ssmax.scale.1", 0, h) * std::log(num_keys(c, i)) * c.dot(h, i, j);
       }}};
  return contents;
}

Value content_of(const std::string& spec) {
  for (const auto& [part, value] : other_contents())
    if (spec.find(part) != std::string::npos) return value;
  return [](const Case& c, int h, int i, int j) { return c.dot(h, i, j); };
}

/// Returns true for encodings that a Case cannot be built with.
bool needs_whole_model(const std::string& spec) { return spec.find("shared_projections") != std::string::npos; }

/// Returns the largest difference between the scores and their content terms at the query's own key.
double positional_part_of_own_key(const Case& c) {
  double largest = 0;
  for (int h = 0; h < c.H; ++h) {
    for (int t = 0; t < c.T; ++t) {
      const double difference = std::abs(c.scores[h](t, t) - c.content[h](t, t));
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("the content term of every encoding is that of its equation") {
  in_each_model([](const std::string& spec, bool causal) {
    if (needs_whole_model(spec)) return;
    const Case c(spec, causal);
    const Value content = content_of(spec);
    for (int h = 0; h < c.H; ++h) {
      for (int i = 0; i < c.T; ++i) {
        for (int j = 0; j < num_visible_keys(i, c.T, causal); ++j) {
          INFO("head " << h << ", query " << i << ", key " << j);
          REQUIRE(c.content[h](i, j) == Approx(content(c, h, i, j)).margin(1e-9));
        }
      }
    }
  });
}

TEST_CASE("without learned values no encoding adds to the score of a query's own key") {
  // These have a value other than 0 at distance 0: the vector P(0), the distance 1e-5, the Fourier coefficients,
  // and the count, which includes the query's own key.
  const std::vector<std::string> exceptions{"wavelet", "bam", "fope", "tra"};
  in_each_model([&](const std::string& spec, bool causal) {
    if (needs_whole_model(spec)) return;
    const auto is_in_spec = [&](const std::string& name) { return spec.find(name) != std::string::npos; };
    const double added = positional_part_of_own_key(Case(spec, causal, Learned::zero));
    INFO(added);
    CHECK((added < 1e-9) == std::ranges::none_of(exceptions, is_in_spec));
  });
}

}  // namespace posbench::equations
