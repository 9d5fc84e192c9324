// Compares every stage of every encoding with its equation.
#include "tests/encodings/equations/equations.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/attention.h"
#include "tests/catch.h"

namespace posbench::equations {
namespace {

double softmax(const Case& c, int h, int i, int j) {
  const Index keys = num_visible_keys(i, c.T, c.causal);
  return std::exp(c.scores[h](i, j)) / c.scores[h].row(i).head(keys).array().exp().sum();
}

double weighted_values(const Case& c, int h, int i, int channel) {
  double sum = 0;
  for (Index j = 0; j < num_visible_keys(i, c.T, c.causal); ++j) sum += c.attention[h](i, j) * c.v[h](j, channel);
  return sum;
}

/// Returns the value of a stage, by default that of plain attention.
Value stage_value(const Equation& equation, Stage stage) {
  const auto replaced = equation.stages.find(stage);
  if (replaced != equation.stages.end()) return replaced->second;
  switch (stage) {
    case Stage::embed:
      return [](const Case&, int, int, int) { return 0.0; };
    case Stage::score:
      return [](const Case& c, int h, int i, int j) { return c.dot(h, i, j); };
    case Stage::normalize:
      return softmax;
    case Stage::mix:
      return weighted_values;
  }
  return {};
}

void require_close(double actual, double expected) {
  INFO(actual << " for " << expected);
  REQUIRE((actual == expected || std::abs(actual - expected) < 1e-9 * std::max(1.0, std::abs(expected))));
}

void check(const Equation& equation, const std::string& spec, bool causal) {
  const Case c(spec, causal);
  const Value embed = stage_value(equation, Stage::embed), score = stage_value(equation, Stage::score),
              normalize = stage_value(equation, Stage::normalize), mix = stage_value(equation, Stage::mix);
  for (int t = 0; t < c.T; ++t) {
    for (int channel = 0; channel < c.C; ++channel) {
      INFO("embed, position " << t << ", channel " << channel);
      require_close(c.embedded(t, channel) - c.x(t, channel), embed(c, 0, t, channel));
    }
  }
  for (int h = 0; h < c.H; ++h) {
    for (int i = 0; i < c.T; ++i) {
      for (int j = 0; j < num_visible_keys(i, c.T, causal); ++j) {
        INFO("head " << h << ", query " << i << ", key " << j);
        require_close(c.scores[h](i, j), score(c, h, i, j));
        require_close(c.attention[h](i, j), normalize(c, h, i, j));
      }
      for (int channel = 0; channel < c.D; ++channel) {
        INFO("output, head " << h << ", query " << i << ", channel " << channel);
        require_close(c.output[h](i, channel), mix(c, h, i, channel));
      }
    }
  }
}

}  // namespace

TEST_CASE("every encoding has an equation") {
  for (const std::string& name : encodings().names()) {
    INFO("add to tests/encodings/equations/FAMILY.cpp:   const RegisterEquation "
         << name << "(\"" << name << "\", Stage::score, [](const Case& c, int h, int i, int j) { return ...; });");
    CHECK(equations().contains(name));
  }
}

TEST_CASE("every encoding computes its equation") {
  for (const auto& [spec, equation] : equations()) {
    const bool both = equation.models == Models::causal_and_bidirectional &&
                      !encodings().find(Spec::parse(spec).name).info.causal_only;
    for (const bool causal : {true, false}) {
      if (!causal && !both) continue;
      DYNAMIC_SECTION(spec << (causal ? ", causal" : ", bidirectional")) { check(equation, spec, causal); }
    }
  }
}

}  // namespace posbench::equations
