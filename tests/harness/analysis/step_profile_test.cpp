#include "harness/analysis/step_profile.h"

#include <numeric>

#include "model/kernels.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

const BenchmarkSize kSize{"test", 1, 32, 2, 32, /*causal=*/true, 4};

StepProfile profile_of(const char* encoding) {
  BenchmarkedModel model(Spec::parse(encoding), kSize);
  StepProfile profile;
  add_steps(model, 0.3, profile);
  return profile;
}

}  // namespace

TEST_CASE("a profile assigns every sample of a step to one kind of work") {
  const StepProfile profile = profile_of("none");
  CHECK(profile.steps > 1);
  CHECK(profile.step_seconds() > 0);
  CHECK(profile.samples > 100);
  CHECK(std::accumulate(profile.counts.begin(), profile.counts.end(), std::int64_t{0}) == profile.samples);
  for (const WorkKind kind : {WorkKind::layer_products, WorkKind::attention_products, WorkKind::softmax,
                              WorkKind::norms, WorkKind::activation, WorkKind::optimizer}) {
    INFO(to_string(kind));
    CHECK(profile.fraction(kind) > 0);
  }
}

TEST_CASE("a profile shows what an encoding adds to a step") {
  const StepProfile none = profile_of("none"), dape = profile_of("dape");
  CHECK(dape.fraction(WorkKind::encoding) + dape.fraction(WorkKind::attention_products) >
        none.fraction(WorkKind::encoding) + none.fraction(WorkKind::attention_products));
}

TEST_CASE("a profile changes neither the numbers of a step nor the kernels of later steps") {
  BenchmarkedModel profiled(Spec::parse("cope"), kSize), plain(Spec::parse("cope"), kSize);
  const Kernels* before = &kernels();
  StepProfile profile;
  add_steps(profiled, 0.01, profile);
  for (std::int64_t step = 0; step < profile.steps; ++step) plain.step();
  CHECK(profiled.values().flat == plain.values().flat);
  CHECK(&kernels() == before);
}
