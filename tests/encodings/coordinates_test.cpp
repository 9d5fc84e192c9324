// Tests encodings that read the coordinates of positions, such as the column and the row of a cell.
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "encodings/parts/rotary.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"
#include "tests/encodings/refusal.h"

using namespace posbench;

namespace {

/// A board of three columns and two rows after a token without coordinates.
Sequence board() {
  Sequence s;
  s.tokens = {0, 1, 1, 1, 1, 1, 1};
  s.segments.assign(7, 0);
  s.coordinates = {{0, 2, 3, 4, 2, 3, 4}, {0, 2, 2, 2, 3, 3, 3}};
  return s;
}

/// An encoding for positions with this number of coordinates, in a model with heads of width 16.
struct Made {
  Made(const std::string& spec, int coordinates) {
    config = small_config(1, true, true);
    config.width = 16;
    config.coordinates = coordinates;
    encoding = make_encoding(Spec::parse(spec), config, layout);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : layout.entries()) names.push_back(entry.name);
    return names;
  }
  Rotations rotations(const Sequence& s) const {
    Rng rng;
    Tables tables;
    encoding->tables(Parameters(layout), encoding->positions(s, rng), tables);
    return tables.constants<Rotations>();
  }

  ModelConfig config;
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
};

}  // namespace

TEST_CASE("there is a learned table for each coordinate of the task, and one table without coordinates") {
  CHECK(Made("coupled", 0).names() == std::vector<std::string>{"coupled.table"});
  CHECK(Made("coupled", 3).names() ==
        std::vector<std::string>{"coupled.table.0", "coupled.table.1", "coupled.table.2"});
  CHECK(Made("coupled:shared=true", 3).names() == std::vector<std::string>{"coupled.table"});
  CHECK(Made("abacus", 3).names() == std::vector<std::string>{"abacus.table"});
  CHECK(Made("learned_abs", 2).names() == std::vector<std::string>{"learned_abs.table"});
  CHECK(Made("learned_abs:axial=true", 0).names() == std::vector<std::string>{"learned_abs.table"});
  CHECK(Made("learned_abs:axial=true", 2).names() ==
        std::vector<std::string>{"learned_abs.table.0", "learned_abs.table.1"});
}

TEST_CASE("coupled adds an offset to each coordinate in training, and none where a token lacks the coordinate") {
  const Made coupled("coupled:max_offset=9", 2);
  Sequence s = board();
  Rng rng = make_rng(1, "offsets");
  const Positions tested = coupled.encoding->positions(s, rng);
  for (size_t n = 0; n < 2; ++n) {
    CHECK(tested.coordinate(n) == std::vector<Real>(s.coordinates[n].begin(), s.coordinates[n].end()));
  }
  s.training = true;
  std::set<Real> offsets[2];
  bool differ = false;
  for (int draw = 0; draw < 300; ++draw) {
    const Positions trained = coupled.encoding->positions(s, rng);
    for (size_t n = 0; n < 2; ++n) {
      const Real offset = trained.coordinate(n)[1] - 2;
      offsets[n].insert(offset);
      CHECK(trained.coordinate(n)[0] == 0);
      for (size_t t = 1; t < s.tokens.size(); ++t)
        CHECK(trained.coordinate(n)[t] == static_cast<Real>(s.coordinates[n][t]) + offset);
    }
    differ = differ || trained.coordinate(0)[1] != trained.coordinate(1)[1];
  }
  for (const std::set<Real>& drawn : offsets) CHECK(drawn == std::set<Real>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(differ);
}

TEST_CASE("axial RoPE turns every pair by one coordinate, with the frequencies of a head with half of the pairs") {
  const Rotations r = Made("rope:axial=true,base=100", 2).rotations(board());
  for (Index t = 0; t < 7; ++t) {
    for (Index n = 0; n < 8; ++n) {
      const double w = std::pow(100.0, -2 * static_cast<double>(n / 2) / 8);
      const double coordinate = board().coordinates[static_cast<size_t>(n % 2)][static_cast<size_t>(t)];
      CHECK(r.cosine(t, n) == Approx(std::cos(coordinate * w)).margin(1e-12));
      CHECK(r.sine(t, n) == Approx(std::sin(coordinate * w)).margin(1e-12));
    }
  }
}

TEST_CASE("axial encodings of a task without coordinates are the encodings without the option") {
  Sequence s = board();
  s.coordinates.clear();
  s.first_position = 5;
  const Rotations plain = Made("rope", 0).rotations(s), axial = Made("rope:axial=true", 0).rotations(s);
  CHECK((axial.cosine == plain.cosine));
  CHECK((axial.sine == plain.sine));
  Rng rng;
  CHECK(Made("learned_abs:axial=true", 0).encoding->positions(s, rng) ==
        Made("learned_abs", 0).encoding->positions(s, rng));
}

TEST_CASE("sequences share tables only if their coordinates begin alike") {
  const Made axial("rope:axial=true", 2);
  Rng rng;
  Sequence longer = board(), shorter = board(), other = board();
  for (Sequence* s : {&shorter, &other}) {
    s->tokens.resize(4);
    for (std::vector<int>& coordinate : s->coordinates) coordinate.resize(4);
  }
  other.coordinates[1][3] = 3;
  const Positions of_longer = axial.encoding->positions(longer, rng);
  CHECK(axial.encoding->positions(shorter, rng).is_prefix_of(of_longer));
  CHECK_FALSE(axial.encoding->positions(other, rng).is_prefix_of(of_longer));
  CHECK_FALSE(Made("rope", 2).encoding->positions(shorter, rng).is_prefix_of(of_longer));
}

TEST_CASE("each member of a composition reads positions or coordinates, and its gradient is correct") {
  for (const std::string text : {"heads:of=((rope:axial=true),rope)", "layers:of=((rope:axial=true),alibi)",
                                 "sum:of=(coupled,(rope:axial=true))", "sum:of=((learned_abs:axial=true),rope)",
                                 "local:base=(rope:axial=true)"}) {
    const Worst worst = gradient_error(Spec::parse(text), small_config(2, true, true), 11);
    INFO(text << ": " << worst.where);
    CHECK(worst.error <= 1e-6);
  }
  const Made layers("layers:of=((rope:axial=true),rope)", 0);
  Rng rng;
  CHECK(layers.encoding->positions(board(), rng).members.empty());  // Both members have the positions 0, 1, ...
}

TEST_CASE("axial encodings are refused by wrappers that change positions, and by heads with too few pairs") {
  for (const std::string wrapper : {"randomized", "random_float", "interpolated", "remapped"}) {
    INFO(wrapper);
    CHECK(refusal(wrapper + ":base=(rope:axial=true)").find("does not take its positions from outside") !=
          std::string::npos);
  }
  CHECK(refusal("random_offset:base=(learned_abs:axial=true)").find("does not take its positions from outside") !=
        std::string::npos);
  ModelConfig config = small_config(2, true, true);
  config.coordinates = 3;
  CHECK(
      refusal("rope:axial=true", config) ==
      "encoding 'rope': axial=true needs a pair for each of 3 coordinates, and a head of width 4 has 2; raise the "
      "head width");
  CHECK(refusal("rope", config).empty());
}
