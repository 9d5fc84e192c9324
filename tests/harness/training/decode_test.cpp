// Tests inference with a cache of keys: with rewritten and stale keys, and with a cache whose oldest tokens leave.
#include "harness/training/decode.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/training/evaluate.h"
#include "harness/training/task_setup.h"
#include "tests/catch.h"
#include "tests/harness/training/small_runs.h"

using namespace posbench;

namespace {

constexpr int kSwitch = 8, kTokens = 20;  // kSwitch: the trained length

/// A model with initial parameters, and a sequence whose tokens are all targets.
struct Decoded {
  Model model;
  Parameters parameters;
  Sequence sequence;
  StepCache step;
  SequenceWorkspace workspace;

  explicit Decoded(const std::string& encoding, int layers = 2) {
    ModelConfig config;
    config.vocabulary = 7;
    config.layers = layers;
    config.width = 16;
    config.heads = 2;
    config.trained_length = kSwitch;
    config.longest = kTokens;
    model = make_model(Spec::parse(encoding), config);
    parameters = initialize(model.layout, 3);
    Rng rng = make_rng(4, "tokens");
    for (int t = 0; t < kTokens; ++t) {
      sequence.tokens.push_back(uniform(rng, 0, 6));
      sequence.segments.push_back(t / 3);
      sequence.target_positions.push_back(t);
    }
    place(sequence);
  }

  void place(Sequence& s) const {
    Rng rng = make_rng(5, "positions");
    s.positions = model.encoding->positions(s, rng);
  }

  Matrix with_cache(const CacheOptions& options) {
    return decode(model, parameters, sequence, options, step, workspace);
  }
  Matrix at_once(const Sequence& s) {
    model.transformer->prepare(parameters, s, step, nullptr);
    model.transformer->forward(parameters, s, step, nullptr, workspace);
    return workspace.logits;
  }
};

constexpr CacheOptions kRewritten{.mode = CacheMode::rewritten}, kStale{.mode = CacheMode::stale};

}  // namespace

TEST_CASE("without a change of frequencies, rewritten and stale keys give the logits of the whole sequence") {
  for (const std::string encoding : {"rope", "learned_abs", "none", "interpolated:method=yarn,scale=4", "xpos",
                                     "bipe_rope", "layers:of=(rope,none)", "selective_rope"}) {
    INFO(encoding);
    Decoded d(encoding);
    const Matrix whole = d.at_once(d.sequence);
    CHECK(d.with_cache(kRewritten) == whole);
    CHECK(d.with_cache(kStale) == whole);
  }
}

TEST_CASE("stale keys differ from rewritten ones beyond the switch of dynamic NTK and longrope, and not before") {
  for (const std::string encoding : {"interpolated:method=ntk_dynamic", "interpolated:method=longrope,scale=4",
                                     "layers:of=((interpolated:method=longrope,scale=4),none)",
                                     "interpolated:base=rope_p,method=ntk_dynamic"}) {
    INFO(encoding);
    Decoded d(encoding);
    const Matrix rewritten = d.with_cache(kRewritten), stale = d.with_cache(kStale);
    CHECK(rewritten.topRows(kSwitch) == stale.topRows(kSwitch));
    for (int t = kSwitch; t < kTokens; ++t) CHECK(rewritten.row(t) != stale.row(t));
    Sequence beginning = d.sequence;
    for (std::vector<int>* values : {&beginning.tokens, &beginning.segments, &beginning.target_positions})
      values->resize(kSwitch);
    d.place(beginning);
    CHECK(d.at_once(beginning) == rewritten.topRows(kSwitch));
  }
}

TEST_CASE("one layer with rewritten keys gives the last token the logits of the tokens that are in the cache") {
  for (const std::string encoding :
       {"rope", "alibi", "none", "fox", "t5_bias", "interpolated:method=ntk_dynamic"}) {
    INFO(encoding);
    Decoded d(encoding, /*layers=*/1);
    // The cache is full with tokens 0 to 5, 4 to 9, 8 to 13 and 12 to 17. The last two tokens see 16 to 19.
    const Matrix shifted = d.with_cache({.mode = CacheMode::rewritten, .size = 6, .shift = 4});
    Sequence kept = d.sequence;
    for (std::vector<int>* values : {&kept.tokens, &kept.segments})
      values->erase(values->begin(), values->begin() + 16);
    kept.target_positions = {2, 3};
    d.place(kept);
    CHECK(shifted.bottomRows(2) == d.at_once(kept));
  }
}

TEST_CASE("a shift changes the logits of stale keys with rope, and before it there is no difference") {
  const CacheOptions rewritten{.mode = CacheMode::rewritten, .size = 10, .shift = 5},
      stale{.mode = CacheMode::stale, .size = 10, .shift = 5};
  Decoded rope("rope"), none("none"), learned("learned_abs");
  const Matrix whole = rope.at_once(rope.sequence), again = rope.with_cache(rewritten),
               kept = rope.with_cache(stale);
  CHECK(again.topRows(10) == whole.topRows(10));
  CHECK(kept.topRows(10) == whole.topRows(10));
  CHECK(again.row(10) != whole.row(10));
  CHECK(kept.row(10) != again.row(10));
  CHECK(none.with_cache(rewritten) == none.with_cache(stale));
  CHECK(learned.with_cache(stale).row(10) != learned.at_once(learned.sequence).row(10));
}

TEST_CASE("tests that use a cache have the results of tests that read sequences at once") {
  for (const std::string encoding : {"rope", "cope", "tape", "mapformer_wm"}) {
    INFO(encoding);
    ExperimentOptions options;
    options.model.width = 16;
    options.evaluation.cache.mode = CacheMode::rewritten;
    const TaskSetup setup = make_task_setup(options, "flip_flop:length=8");
    SampleStream samples = setup.stream({Purpose::test});
    const Model model = make_model(Spec::parse(encoding), setup.model_config);
    const Parameters parameters = initialize(model.layout, 1);
    REQUIRE(samples.cache.mode == CacheMode::rewritten);
    const SplitResult cached = evaluate(model, parameters, samples, 8);
    samples.cache = {};
    CHECK(cached == evaluate(model, parameters, samples, 8));
  }
}

TEST_CASE("a cache that does not fit the settings or the encoding is refused") {
  CHECK(
      settings_refusal("rope", {{"evaluation.cache_shift", "4"}}) ==
      "evaluation.cache_shift is set, and evaluation.cache is off; set it to rewritten or stale, or leave it out");
  CHECK_THAT(settings_refusal("rope", {{"evaluation.cache", "stale"}, {"evaluation.cache_shift", "4"}}),
             ContainsSubstring("evaluation.cache_size is 0 and evaluation.cache_shift is 4; set both"));
  const auto cache = [](const std::string& encoding, const std::string& mode, bool shifts) {
    Settings settings{{"evaluation.cache", mode}};
    if (shifts) settings.insert(settings.end(), {{"evaluation.cache_size", "8"}, {"evaluation.cache_shift", "4"}});
    return settings_refusal(encoding, settings);
  };
  CHECK(cache("randomized", "rewritten", false) ==
        "evaluation.cache: encoding 'randomized' gives a token other positions or scores when more tokens follow");
  CHECK_THAT(cache("tape", "rewritten", true), ContainsSubstring("has a state of each token"));
  CHECK_THAT(cache("learned_abs", "rewritten", true), ContainsSubstring("adds to the token embeddings"));
  CHECK(cache("learned_abs", "stale", true).empty());
  CHECK_THAT(cache("alibi", "stale", true), ContainsSubstring("has no positions in its keys"));
  CHECK(cache("alibi", "stale", false).empty());
  CHECK(cache("rope", "rewritten", true).empty());
  CHECK_THAT(settings_refusal("none", {{"model.block", "lstm"},
                                       {"evaluation.cache", "rewritten"},
                                       {"evaluation.cache_size", "8"},
                                       {"evaluation.cache_shift", "4"}}),
             ContainsSubstring("model.block=lstm has a state instead of a cache"));
  ModelConfig bidirectional;
  bidirectional.causal = false;
  CHECK_THROWS_WITH(check_cache(kRewritten, bidirectional), ContainsSubstring("model.attention is bidirectional"));
}
