// Tests sequences in which positions begin anew in the middle, as those of several samples without a mask.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encodings/parts/decorator.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"

using namespace posbench;

namespace {

/// Gives the second half of the tokens the positions of the first half.
class Restarted final : public Decorator {
 public:
  using Decorator::Decorator;
  Positions positions(const Sequence& s, Rng& rng) const override {
    Positions p = Decorator::positions(s, rng);
    restart(p);
    return p;
  }

 private:
  static void restart(Positions& p) {
    const size_t half = (p.at.size() + 1) / 2;
    for (size_t t = half; t < p.at.size(); ++t) p.at[t] = p.at[t - half];
    p.lengths.assign(p.at.size(), static_cast<int>(half));
    for (Positions& member : p.members) restart(member);
  }
};

}  // namespace

TEST_CASE("every gradient agrees with finite differences if the positions of a sequence begin anew") {
  for (const std::string& text : all_specs()) {
    const Spec spec = Spec::parse(text);
    if (kernel_of(spec) != Kernel::any) continue;
    const ModelConfig config = fitted(spec, small_config(2, /*causal=*/true, /*pre_norm=*/true));
    const Worst worst = gradient_error(
        [&](const ModelConfig& c, ParameterLayout& layout) -> std::unique_ptr<PositionEncoding> {
          return std::make_unique<Restarted>(c, make_encoding(spec, c, layout));
        },
        config, 10);
    INFO(text << ": " << worst.where);
    CHECK(worst.error <= 1e-6);
  }
}
