#include "harness/analysis/attention_statistics.h"

#include <cmath>
#include <vector>

#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "model/hidden.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

Heads one_row(const std::vector<Real>& last) {
  const auto T = static_cast<Index>(last.size());
  Matrix map(Matrix::Zero(T, T));
  for (Index j = 0; j < T; ++j) map(T - 1, j) = last[static_cast<size_t>(j)];
  return {map};
}

/// Returns maps of four keys. The second is the evidence. The positional part falls by 0.5 with each token.
std::vector<AttentionMap> maps() {
  using Kind = AttentionMap::Kind;
  return {{"score", one_row({0.5, 5, 1, 2}), Kind::score},
          {"positional part", one_row({-1.5, -1, -0.5, 0}), Kind::positional_part},
          {"attention", one_row({0, 0.5, 0.25, 0.25}), Kind::attention},
          {"contextual position", one_row({4, 3, 2, 1}), Kind::count},
          {"content", one_row({2, 6, 1.5, 2}), Kind::content}};
}

constexpr Query kQuery{.at = 3, .keys = 4, .evidence = 1};

/// Returns the locality of a head whose term is f(i - j) for each query i and key j of a sequence.
template <class F>
Locality locality(F f, bool causal = true) {
  constexpr Index kLength = 12;
  Matrix term(kLength, kLength);
  for (Index i = 0; i < kLength; ++i) {
    for (Index j = 0; j < kLength; ++j) term(i, j) = static_cast<Real>(f(static_cast<double>(i - j)));
  }
  PositionTerm head;
  for (Index i = 0; i < kLength; ++i) head.add(term, i, causal ? i + 1 : kLength);
  return head.locality();
}

}  // namespace

TEST_CASE("the statistics of one query equal those computed by hand") {
  HeadStatistics head;
  head.add(maps(), 0, kQuery);
  CHECK(head.entropy.value() == Approx(0.5 * std::log(2.0) + 0.5 * std::log(4.0)));
  CHECK(head.on_evidence.value() == Approx(0.5));
  CHECK(head.nearer.value() == Approx(0.5));
  CHECK(head.farther.value() == Approx(0));
  CHECK(head.by_distance.at(2).attention.value() == Approx(0.5));
  CHECK(head.by_distance.at(2).positional.value() == Approx(-1));
  CHECK(head.by_distance.size() == 4);
  CHECK(head.parts.at("score").evidence.value() == Approx(5));
  CHECK(head.parts.at("score").others.value() == Approx(3.5 / 3));
}

TEST_CASE(
    "statistics of several queries are means, and a query without evidence adds no statistics of the evidence") {
  HeadStatistics head;
  head.add(maps(), 0, kQuery);
  std::vector<AttentionMap> other = maps();
  other[2].values = one_row({1, 0, 0, 0});
  head.add(other, 0, {.at = 3, .keys = 4, .evidence = 0});
  CHECK(head.on_evidence.value() == Approx(0.75));
  head.add(other, 0, {.at = 3, .keys = 4});
  CHECK(head.on_evidence.count == 2);
  CHECK(head.entropy.count == 3);
  CHECK(head.by_distance.at(3).attention.value() == Approx(2.0 / 3));
}

TEST_CASE("means of scores leave out hidden keys") {
  HeadStatistics head;
  std::vector<AttentionMap> hidden = maps();
  hidden[0].values = one_row({kHidden, 5, kHidden, 2});
  hidden[1].values = one_row({kHidden, -1, -0.5, 0});
  hidden[2].values = one_row({0, 0.75, 0, 0.25});
  head.add(hidden, 0, kQuery);
  CHECK(head.by_distance.at(3).attention.value() == Approx(0));
  CHECK(head.by_distance.at(3).positional.count == 0);
  CHECK(head.parts.at("score").others.value() == Approx(2));
}

TEST_CASE("a head is local if its position term is greater for near keys, and anti-local if for far keys") {
  CHECK(locality([](double d) { return -0.25 * d; }) == Locality::local);
  CHECK(locality([](double d) { return 0.25 * d; }) == Locality::anti_local);
  CHECK(locality([](double d) { return -0.25 * std::abs(d); }, /*causal=*/false) == Locality::local);
  CHECK(locality([](double d) { return std::sqrt(std::abs(d)); }, /*causal=*/false) == Locality::anti_local);
  CHECK(locality([](double d) { return d < 2 ? 0 : kHidden; }) == Locality::local);  // far keys are hidden
  CHECK(locality([](double d) { return d < 6 ? d : 11 - d; }) == Locality::mixed);
  CHECK(locality([](double) { return 0.3; }) == Locality::none);
  CHECK(locality([](double d) { return 0.3 - 1e-7 * d; }) == Locality::none);  // rounding
  CHECK(to_string(Locality::local) == "local");
  CHECK(to_string(Locality::anti_local) == "anti-local");
  CHECK(to_string(Locality::mixed) == "mixed");
  CHECK(to_string(Locality::none) == "-");
}

TEST_CASE("three quarters of the pairs of distances decide the sign of a position term") {
  // The means of the distances 0 to 11 fall by 1 from 0 up to `last`. Beyond it they fall too, but are greater
  // than all before.
  const auto rising_beyond = [](double last) { return [last](double d) { return d <= last ? -d : 20 - d; }; };
  CHECK(locality(rising_beyond(10)) == Locality::local);  // 11 of 66 pairs rise
  CHECK(locality(rising_beyond(9)) == Locality::mixed);   // 20 of 66 pairs rise
}

TEST_CASE("the position term of a layer is the position-position term if positions are in the embeddings") {
  using Kind = AttentionMap::Kind;
  std::vector<AttentionMap> of_layer = maps();
  CHECK(PositionTerm::map_of(of_layer).name == "positional part");
  of_layer.push_back({"position-position", one_row({0, 0.25, 0.5, 1}), Kind::position_position});
  CHECK(PositionTerm::map_of(of_layer).name == "position-position");
  HeadStatistics head;
  head.add(of_layer, 0, kQuery);
  CHECK(head.position_term.locality() == Locality::local);
}
