#include "model/parameters.h"

#include <cmath>

#include "tests/catch.h"

using namespace posbench;

TEST_CASE("parameters are adjacent in the flat vector, and each begins at a cache line") {
  ParameterLayout layout;
  const Parameter a = layout.constant("a", 3, 5, 1), b = layout.constant("b", 4, 8, 2),
                  c = layout.constant("c", 1, 1, 3);
  CHECK(a.offset == 0);
  CHECK(b.offset == 16);
  CHECK(c.offset == 48);
  CHECK(layout.flat_size() == 64);
  CHECK(layout.count() == 15 + 32 + 1);

  const Parameters parameters = initialize(layout, 0);
  CHECK(parameters[b].rows() == 4);
  CHECK(parameters[b].cols() == 8);
  CHECK(parameters[b].isConstant(2));
  CHECK(parameters.flat.sum() == 15 * 1 + 32 * 2 + 3);  // the padding between them is zero
}

TEST_CASE("a view writes through to the flat vector, row by row") {
  ParameterLayout layout;
  layout.constant("before", 1, 1, 0);
  const Parameter m = layout.constant("m", 2, 3, 0);
  Parameters parameters(layout);
  parameters[m](1, 0) = 7;
  CHECK(parameters.flat(m.offset + 3) == 7);
}

TEST_CASE("initial values depend on the seed and the name, not on other parameters") {
  ParameterLayout small, large;
  const Parameter in_small = small.normal("shared", 4, 4, 0.5);
  large.normal("other", 9, 2, 1);
  const Parameter in_large = large.normal("shared", 4, 4, 0.5);
  const Parameter third = large.normal("third", 4, 4, 0.5);

  const Parameters first = initialize(small, 3), second = initialize(large, 3);
  CHECK(first[in_small] == second[in_large]);
  CHECK(second[in_large] != second[third]);
  CHECK(initialize(small, 4)[in_small] != first[in_small]);
  CHECK(initialize(small, 3)[in_small] == first[in_small]);
}

TEST_CASE("initial values have the given standard deviation") {
  ParameterLayout layout;
  const Parameter n = layout.normal("normal", 100, 100, 0.3), u = layout.uniform("uniform", 100, 100, -1, 3);
  const Parameter f = layout.add("function", 2, 3, [](Rng&, Index row, Index col) { return 10.0 * row + col; });
  const Parameters p = initialize(layout, 0);
  CHECK(p[n].mean() == Approx(0).margin(0.01));
  CHECK(std::sqrt(p[n].squaredNorm() / 1e4) == Approx(0.3).epsilon(0.03));
  CHECK(p[u].mean() == Approx(1).margin(0.05));
  CHECK(p[u].minCoeff() >= -1);
  CHECK(p[u].maxCoeff() < 3);
  CHECK(p[f](1, 2) == 12);
}

TEST_CASE("a parameter that is expected but never added is refused with its name") {
  ParameterLayout layout;
  layout.expect("blocks.0.attention.qkv.weight", 4, 12);
  CHECK_THROWS_WITH(initialize(layout, 0),
                    "parameter 'blocks.0.attention.qkv.weight' (4 x 12) is expected, but no "
                    "part of the model adds one of that name and shape");
  layout.constant("blocks.0.attention.qkv.weight", 4, 12, 2);
  CHECK(initialize(layout, 0)[layout.entries()[0].parameter].isConstant(2));
}
