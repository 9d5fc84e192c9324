// Tests TAPE's recurrent state against an independent implementation for one (token, head, pair).
#include <cmath>
#include <string>

#include "encodings/registry.h"
#include "model/position_encoding.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("TAPE's rotations are mixed by attention, then over heads by the gate of the feed-forward output") {
  constexpr int T = 5, H = 2, D = 4, E = 3;
  ModelConfig config;
  config.vocabulary = 4;
  config.width = H * D;
  config.heads = H;
  ParameterLayout layout;
  const auto tape = make_encoding(Spec::parse("tape:hidden=3"), config, layout);
  Parameters p = initialize(layout, 0);
  Rng rng = make_rng(0, "tape");
  for (Real& value : p.flat) value = normal(rng);
  const auto random = [&](Index rows, Index cols) {
    return Matrix(EigenMatrix::NullaryExpr(rows, cols, [&] { return normal(rng); }));
  };
  const auto learned = [&](const std::string& name) { return p[layout.at("tape.0." + name)]; };

  Sequence sequence;
  const Tables tables;
  const Matrices state{random(T, H * D / 2), random(T, H * D / 2)};
  const Matrix x = random(T, H * D), f = random(T, H * D);
  const Heads q, k, v;
  Heads attention{random(T, T), random(T, T)};
  for (Matrix& head : attention) head = head.triangularView<Eigen::Lower>();
  Scratch scratch;
  Matrices next = state;
  tape->carry({sequence, p, tables, state, 0, x, q, k, v, scratch}, attention, f, next);

  for (size_t side = 0; side < 2; ++side) {
    for (int t = 0; t < T; ++t) {
      for (int n = 0; n < D / 2; ++n) {
        const auto after_attention = [&](int h) {
          double sum = state[side](t, h * D / 2 + n);
          for (int j = 0; j <= t; ++j) {
            sum += learned("attention")(0, h) * attention[static_cast<size_t>(h)](t, j) *
                   state[side](j, h * D / 2 + n);
          }
          return sum;
        };
        for (int h = 0; h < H; ++h) {
          double expected = after_attention(h);
          for (int e = 0; e < E; ++e) {
            const double gate = f.row(t).dot(learned("gate").col(e));
            double up = 0;
            for (int g = 0; g < H; ++g) up += learned("up")(e, g) * after_attention(g);
            expected += learned("down")(h, e) * gate / (1 + std::exp(-gate)) * up;
          }
          INFO("token " << t << ", head " << h << ", pair " << n);
          CHECK(next[side](t, h * D / 2 + n) == Approx(expected));
        }
      }
    }
  }
}
