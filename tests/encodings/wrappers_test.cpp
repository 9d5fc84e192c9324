// What encodings that wrap others, or read indices from the task, promise beyond their equations.
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/verify/double_precision/certificate.h"
#include "model/transformer.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// The message with which making this encoding is refused; empty where it is not.
std::string refusal(const std::string& spec, const ModelShape& shape = small_shape(2, true, true)) {
  ParameterLayout layout;
  try {
    make_encoding(Spec::parse(spec), shape, layout);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

Sequence sequence(int length) {
  Sequence s;
  s.tokens.assign(static_cast<size_t>(length), 0);
  s.segments.assign(static_cast<size_t>(length), 0);
  for (int t = 0; t < length; ++t) s.target_positions.push_back(t);
  return s;
}

}  // namespace

TEST_CASE("interpolated refuses bases that are not rotary, and names those that are") {
  const std::string names = "expected one of the rotary ones: rope, rope_hope, rope_p, rope_partial, xpos";
  for (const std::string base : {"alibi", "none", "pope", "cope", "interpolated"}) {
    CHECK(refusal("interpolated:base=" + base) == "encoding 'interpolated': base is '" + base + "', " + names);
  }
  CHECK(refusal("interpolated:base=rop").find("did you mean 'rope'?") != std::string::npos);
  CHECK(refusal("interpolated:base=rope_partial,method=ntk").find("needs two or more") != std::string::npos);
  CHECK(refusal("interpolated:beta_fast=1,beta_slow=2").find("expected more than beta_slow, 2") !=
        std::string::npos);
  CHECK(refusal("interpolated:base=xpos", small_shape(2, false, true)).find("causal models only") !=
        std::string::npos);
}

TEST_CASE("randomized refuses what takes no positions, and distances where positions are needed") {
  for (const std::string base : {"none", "cope", "fox", "bipe_rope", "abacus", "coupled", "carope", "darope",
                                 "randomized", "(dape:base=none)"}) {
    INFO(base);
    CHECK(refusal("randomized:base=" + base).find("does not take its positions from outside") !=
          std::string::npos);
  }
  for (const std::string base : {"sinusoidal", "learned_abs", "rope", "fire", "tupe_a"}) {
    INFO(base);
    CHECK(refusal("randomized:sampling=distances,base=" + base).find("needs positions, not distances alone") !=
          std::string::npos);
  }
  CHECK(refusal("randomized:max=11") == "encoding 'randomized': max is 11, less than the longest sequence, 12");
}

TEST_CASE(
    "randomized draws anew for every sequence, in training and in evaluation, and only ascending positions") {
  ParameterLayout layout;
  const auto encoding =
      make_encoding(Spec::parse("randomized:base=rope,max=40"), small_shape(2, true, true), layout);
  for (const bool training : {true, false}) {
    Sequence s = sequence(12);
    s.training = training;
    Rng rng = stream(1, "draws");
    const Positions first = encoding->positions(s, rng), second = encoding->positions(s, rng);
    CHECK(first.at != second.at);
    CHECK(std::is_sorted(first.at.begin(), first.at.end()));
    CHECK(first.at.back() <= 39);
  }
  Rng rng = stream(1, "draws");
  CHECK_THROWS_WITH(encoding->positions(sequence(41), rng),
                    Catch::Contains("41 tokens") && Catch::Contains("max is 40"));
}

TEST_CASE("randomized gives a learned table a row for every position") {
  ParameterLayout layout;
  make_encoding(Spec::parse("randomized:base=learned_abs,max=77"), small_shape(2, true, true), layout);
  REQUIRE(layout.entries().size() == 1);
  CHECK(layout.entries()[0].parameter.rows == 77);
}

TEST_CASE("dynamic NTK works its tables out for every length, the others share the leading block") {
  const ModelShape shape = small_shape(2, true, true);
  for (const auto& [spec, shared] :
       {std::pair{"interpolated:method=ntk_dynamic", false}, {"interpolated:method=ntk", true}}) {
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec::parse(spec), shape, layout);
    const Transformer model(shape, layout, *encoding);
    const Parameters parameters = initialize(layout, 1);
    Rng rng;
    Sequence longer = sequence(30), shorter = sequence(10);
    longer.positions = encoding->positions(longer, rng);
    shorter.positions = encoding->positions(shorter, rng);
    StepTables step;
    model.prepare(parameters, longer, step, nullptr);
    model.prepare(parameters, shorter, step, nullptr);
    INFO(spec);
    CHECK((step.tables.constants<Rotations>().cosine.rows() == 30) == shared);
  }
}

TEST_CASE(
    "offsets of digit positions are for training alone, and without digit positions every token has the same row") {
  for (const std::string name : {"abacus", "coupled"}) {
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec{name, {}}, small_shape(2, true, true), layout);
    Sequence s = sequence(4);
    Rng rng = stream(2, name);
    CHECK(encoding->positions(s, rng).at == std::vector<Real>{0, 0, 0, 0});
    s.digit_positions = {1, 2, 0, 1};
    CHECK(encoding->positions(s, rng).at == std::vector<Real>{1, 2, 0, 1});
    s.training = true;
    const std::vector<Real> at = encoding->positions(s, rng).at;
    REQUIRE(at[0] > 1);
    CHECK(at[1] == at[0] + 1);
    CHECK(at[2] == (name == "abacus" ? 0 : at[0] - 1));
    CHECK(at[3] == at[0]);
  }
}
