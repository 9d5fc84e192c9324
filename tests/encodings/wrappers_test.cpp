// Tests properties other than the equations of encodings that wrap others or read indices from the task.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "model/hidden.h"
#include "model/seen_keys.h"
#include "model/transformer.h"
#include "tests/catch.h"
#include "tests/encodings/refusal.h"

using namespace posbench;

namespace {

Sequence make_sequence(int length) {
  Sequence s;
  s.tokens.assign(static_cast<size_t>(length), 0);
  s.segments.assign(static_cast<size_t>(length), 0);
  for (int t = 0; t < length; ++t) s.target_positions.push_back(t);
  return s;
}

/// Returns the scores of two heads whose queries and keys are vectors of four ones; the input of the layer is 0.
Heads scores_of_ones(const PositionEncoding& encoding, const Parameters& parameters, int length) {
  Rng rng = make_rng(1, "scores");
  Sequence s = make_sequence(length);
  s.positions = encoding.positions(s, rng);
  Tables tables;
  Matrices recurrent_state;
  encoding.tables(parameters, s.positions, tables);
  Heads q, scores;
  resize(q, 2, length, 4);
  for (Matrix& head : q) head.setOnes();
  resize(scores, 2, length, length);
  Matrix x(length, 8);
  x.setZero();
  Scratch scratch;
  encoding.score({s, parameters, tables, recurrent_state, 0, x, q, q, q, scratch}, scores);
  return scores;
}

}  // namespace

TEST_CASE("randomized refuses bases without positions, and sampled distances for bases that need positions") {
  for (const std::string base : {"none", "cope", "fox", "bipe_rope", "abacus", "coupled", "carope", "darope",
                                 "randomized", "(dape:base=none)"}) {
    INFO(base);
    CHECK_THAT(refusal("randomized:base=" + base), ContainsSubstring("does not take its positions from outside"));
  }
  for (const std::string base : {"sinusoidal", "learned_abs", "rope", "fire", "tupe_a"}) {
    INFO(base);
    CHECK_THAT(refusal("randomized:sampling=distances,base=" + base),
               ContainsSubstring("needs positions, not distances alone"));
  }
  CHECK(refusal("randomized:max=11") ==
        "encoding 'randomized': max is 11, less than the longest sequence, 12; set max to 12 or more");
}

TEST_CASE("randomized draws new ascending positions for every sequence in training and in evaluation") {
  ParameterLayout layout;
  const auto encoding =
      make_encoding(Spec::parse("randomized:base=rope,max=40"), small_config(2, true, true), layout);
  for (const bool training : {true, false}) {
    Sequence s = make_sequence(12);
    s.training = training;
    Rng rng = make_rng(1, "draws");
    const Positions first = encoding->positions(s, rng), second = encoding->positions(s, rng);
    CHECK(first.at != second.at);
    CHECK(std::is_sorted(first.at.begin(), first.at.end()));
    CHECK(first.at.back() <= 39);
  }
  Rng rng = make_rng(1, "draws");
  CHECK_THROWS_WITH(encoding->positions(make_sequence(41), rng),
                    ContainsSubstring("41 tokens") && ContainsSubstring("max is 40"));
}

TEST_CASE("randomized:sampling=skip leaves a gap between two chunks in training, and none in evaluation") {
  ParameterLayout layout;
  const auto encoding =
      make_encoding(Spec::parse("randomized:base=rope,max=40,sampling=skip"), small_config(2, true, true), layout);
  Sequence s = make_sequence(12);
  Rng rng = make_rng(1, "draws");
  std::set<int> chunks, gaps;
  for (int draw = 0; draw < 2000; ++draw) {
    s.training = true;
    const std::vector<Real> at = encoding->positions(s, rng).at;
    int chunk = 1;
    while (chunk < 12 && at[chunk] == at[chunk - 1] + 1) ++chunk;
    for (int t = 1; t < 12; ++t) CHECK((t == chunk || at[t] == at[t - 1] + 1));
    CHECK(at[0] == 0);
    const int gap = static_cast<int>(at[11]) - 11;
    gaps.insert(gap);
    if (gap > 0) chunks.insert(chunk);
    s.training = false;
    CHECK(encoding->positions(s, rng).at ==
          make_encoding(Spec::parse("rope"), small_config(2, true, true), layout)->positions(s, rng).at);
  }
  CHECK(chunks == std::set<int>{1, 2, 3, 4, 5, 6});
  CHECK(gaps.size() == 29);  // 0 to 28
}

TEST_CASE("random offsets occur in training only, and reach up to the longest sequence") {
  const ModelConfig config = small_config(2, true, true);  // sequences of up to 12 tokens
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse("random_offset"), config, layout);
  CHECK(layout.entries()[0].parameter.rows == 12);
  Sequence s = make_sequence(9);
  Rng rng = make_rng(1, "offsets");
  CHECK(encoding->positions(s, rng).at.front() == 0);
  s.training = true;
  std::set<Real> offsets;
  for (int n = 0; n < 100; ++n) {
    const std::vector<Real> at = encoding->positions(s, rng).at;
    for (size_t t = 1; t < at.size(); ++t) CHECK(at[t] == at[0] + static_cast<Real>(t));
    offsets.insert(at[0]);
  }
  CHECK(offsets == std::set<Real>{0, 1, 2, 3});
  for (const std::string base : {"rope", "alibi", "(randomized:base=sinusoidal)", "cope"}) {
    INFO(base);
    CHECK(!refusal("random_offset:base=" + base).empty());
  }
}

TEST_CASE("random floats are new draws in training, and evenly spaced in evaluation") {
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse("random_float:range=3"), small_config(2, true, true), layout);
  Sequence s = make_sequence(6);
  Rng rng = make_rng(1, "floats");
  CHECK(encoding->positions(s, rng).at == encoding->positions(s, rng).at);
  s.training = true;
  const std::vector<Real> first = encoding->positions(s, rng).at, second = encoding->positions(s, rng).at;
  CHECK(first != second);
  CHECK(std::is_sorted(first.begin(), first.end()));
  CHECK((first.front() >= 0 && first.back() < 3));
  for (const std::string base : {"learned_abs", "tupe_a", "random_offset", "cope"}) {
    INFO(base);
    CHECK(!refusal("random_float:base=" + base).empty());
  }
}

TEST_CASE("xlnet:bi_data negates the distances of half of the training sequences, and of no test sequences") {
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse("xlnet:bi_data=true"), small_config(2, true, true), layout);
  Sequence s = make_sequence(5);
  Rng rng = make_rng(1, "bi_data");
  const std::vector<Real> forward{0, 1, 2, 3, 4}, negated{0, -1, -2, -3, -4};
  int num_negated = 0;
  for (int n = 0; n < 100; ++n) {
    s.training = false;
    CHECK(encoding->positions(s, rng).at == forward);
    s.training = true;
    const std::vector<Real> at = encoding->positions(s, rng).at;
    num_negated += at == negated;
    CHECK((at == forward || at == negated));
  }
  CHECK(num_negated > 30);
  CHECK(num_negated < 70);
  CHECK_THAT(refusal("randomized:base=(xlnet:bi_data=true)"),
             ContainsSubstring("does not take its positions from outside"));
}

TEST_CASE(
    "in bidirectional models FIRE gives keys before the query the causal bias, and later keys a different one") {
  const auto scores = [](bool causal, const std::string& spec) {
    const ModelConfig config = small_config(2, causal, true);
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec::parse(spec), config, layout);
    const Parameters parameters = initialize(layout, 1);
    Rng rng = make_rng(1, "fire");
    const Positions positions = encoding->positions(make_sequence(20), rng);
    Tables tables;
    encoding->tables(parameters, positions, tables);
    return Matrix(tables.values[0]);
  };
  const Matrix causal = scores(true, "fire"), both = scores(false, "fire"),
               symmetric = scores(false, "fire:sides=symmetric");
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j <= i; ++j) {
      CHECK(both(i, j) == causal(i, j));
      CHECK(symmetric(j, i) == causal(i, j));
      if (j < i) CHECK(both(j, i) != causal(i, j));
    }
  }
}

TEST_CASE("keys that a base hides stay hidden when its scores are scaled by negative factors") {
  ModelConfig config = small_config(2, true, true);
  ParameterLayout layout;
  const auto encoding = make_encoding(Spec::parse("ssmax:base=hard_alibi"), config, layout);
  Parameters parameters = initialize(layout, 1);
  for (const auto& entry : layout.entries()) parameters[entry.parameter].setConstant(-1);
  const Heads scores = scores_of_ones(*encoding, parameters, 5);
  CHECK(is_hidden(scores[0](4, 3)));
  CHECK(scores[0](4, 4) == Approx(-2 * std::log(5)));
}

TEST_CASE("ssmax, asentmax and the logit scale count the keys in the window and the sinks") {
  const auto score_of = [](const std::string& spec, int window) {
    ModelConfig config = small_config(2, true, true);
    config.window = window;
    config.sinks = window > 0 ? 1 : 0;
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec::parse(spec), config, layout);
    const Parameters parameters = initialize(layout, 1);
    return scores_of_ones(*encoding, parameters, 8)[1](7, 7);
  };
  // q . k / sqrt(D) is 2. The last query sees 8 keys, or 3 of the window and one sink.
  CHECK(score_of("ssmax:base=none", 0) == Approx(2 * std::log(8)));
  CHECK(score_of("ssmax:base=none", 3) == Approx(2 * std::log(4)));
  // With x = 0, f = 1 + log 2.
  CHECK(score_of("asentmax:base=none", 3) == Approx(2 * (1 + std::log(2))));
  ModelConfig config = small_config(2, true, true);
  config.window = 3;
  config.sinks = 1;
  CHECK(num_keys_in_window(config, 7, 8) == 4);
  CHECK(num_keys_in_window(config, 1, 8) == 2);
  config.causal = false;
  config.window = 2;
  config.sinks = 4;
  CHECK(num_keys_in_window(config, 0, 8) == 4);  // the sinks, two of which are in the window
  CHECK(num_keys_in_window(config, 3, 8) == 5);  // the sinks and the next key
  CHECK(num_keys_in_window(config, 7, 8) == 6);
}

TEST_CASE("remapped finds its regions by positions, which need not be consecutive") {
  ParameterLayout layout;
  const ModelConfig config = small_config(2, true, true);
  const auto encoding = make_encoding(Spec::parse("randomized:base=(remapped:window=4),max=40"), config, layout);
  Rng rng = make_rng(1, "scores");
  const std::vector<Real> at = encoding->positions(make_sequence(8), rng).at;
  REQUIRE(at[7] - at[0] > 12);
  const Heads scores = scores_of_ones(*encoding, initialize(layout, 1), 8);
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const double distance = std::min<double>(at[i] - at[j], 4);
      CAPTURE(at[i], at[j]);
      CHECK(scores[0](static_cast<Index>(i), static_cast<Index>(j)) ==
            Approx(std::cos(distance) + std::cos(distance / 100)));
    }
  }
}

TEST_CASE("an encoding cannot wrap one of its own kind, whose parameters have the same names") {
  for (const char* spec : {"gated:base=(gated:base=rope)", "ssmax:base=(local:base=(ssmax:base=rope),window=4)"}) {
    CAPTURE(spec);
    CHECK(refusal(spec).find("a wrapper cannot wrap an encoding of its own kind") != std::string::npos);
  }
}

TEST_CASE("asentmax scales only the heads without a penalty, also of a wrapped nape") {
  const auto size_of = [](const std::string& spec) {
    ParameterLayout layout;
    make_encoding(Spec::parse(spec), small_config(2, true, true), layout);
    Index size = 0;
    for (const auto& entry : layout.entries()) size += entry.parameter.size();
    return size;
  };
  CHECK(size_of("asentmax:base=nape") < size_of("asentmax:base=none"));
  CHECK(size_of("asentmax:base=(local:base=nape,window=4)") == size_of("asentmax:base=nape"));
}

TEST_CASE("lengths in tokens are those of training, also with more positions in randomized") {
  ModelConfig config = small_config(2, true, true);
  config.trained_length = 8;
  ParameterLayout layout;
  const auto encoding =
      make_encoding(Spec::parse("randomized:base=(ssmax:base=rope,factor=log_ratio),max=77"), config, layout);
  // q . k / sqrt(D) is 2, times log n / log 8.
  const Heads scores = scores_of_ones(*encoding, initialize(layout, 1), 8);
  CHECK(scores[0](7, 7) == Approx(2));
  CHECK(scores[0](3, 3) == Approx(2 * std::log(4) / std::log(8)));
}

TEST_CASE("a learned table in randomized has a row for every position") {
  ParameterLayout layout;
  make_encoding(Spec::parse("randomized:base=learned_abs,max=77"), small_config(2, true, true), layout);
  REQUIRE(layout.entries().size() == 1);
  CHECK(layout.entries()[0].parameter.rows == 77);
}

TEST_CASE(
    "dynamic NTK and LongRoPE compute tables for every length, and other encodings reuse the leading block") {
  const ModelConfig config = small_config(2, true, true);
  for (const auto& [spec, shared] : {std::pair{"interpolated:method=ntk_dynamic", false},
                                     {"interpolated:method=longrope", false},
                                     {"interpolated:method=ntk", true}}) {
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec::parse(spec), config, layout);
    const Transformer model(config, layout, *encoding);
    const Parameters parameters = initialize(layout, 1);
    Rng rng;
    Sequence longer = make_sequence(30), shorter = make_sequence(10);
    longer.positions = encoding->positions(longer, rng);
    shorter.positions = encoding->positions(shorter, rng);
    StepCache step;
    model.prepare(parameters, longer, step, nullptr);
    model.prepare(parameters, shorter, step, nullptr);
    INFO(spec);
    CHECK((step.tables.constants<Rotations>().cosine.rows() == 30) == shared);
  }
}

TEST_CASE("digit positions have offsets in training only, and tokens that are no digits share a row") {
  for (const std::string name : {"abacus", "coupled"}) {
    ModelConfig config = small_config(2, true, true);
    config.coordinates = 0;
    CHECK(gradient_error(Spec{name, {}}, config, 11).error <= 1e-6);
    ParameterLayout layout;
    const auto encoding = make_encoding(Spec{name, {}}, config, layout);
    Sequence s = make_sequence(4);
    Rng rng = make_rng(2, name);
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

TEST_CASE("YaRN without rounding has the frequencies of gpt-oss") {
  ModelConfig config = small_config(2, true, true);
  config.width = 2 * 64;
  ParameterLayout layout;
  const auto encoding = make_encoding(
      Spec::parse("interpolated:base=(rope:base=150000),method=yarn,scale=32,original=4096,truncate=false"),
      config, layout);
  Tables tables;
  encoding->tables(initialize(layout, 1), Positions{.at = {0, 1}}, tables);
  const Rotations& rotations = tables.constants<Rotations>();
  for (int n = 0; n < 32; ++n) {
    const double ramp = std::clamp((n - 8.092779) / (17.398025 - 8.092779), 0.0, 1.0),
                 w = std::pow(150000, -n / 32.0) * (1 - ramp + ramp / 32);
    CHECK(std::atan2(rotations.sine(1, n), rotations.cosine(1, n)) == Approx(w).epsilon(3e-6));
  }
}
