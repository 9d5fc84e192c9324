// Tests that a model which reads a sequence token by token with cached keys computes what it computes at once.
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "encodings/requirements.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"
#include "tests/model/block_kinds.h"

using namespace posbench;

namespace {

/// Returns the first tokens of a sequence, without positions.
Sequence beginning(const Sequence& s, size_t tokens) {
  Sequence first = s;
  for (std::vector<int>* values : {&first.tokens, &first.segments, &first.digit_positions}) values->resize(tokens);
  for (std::vector<int>& values : first.coordinates) values.resize(tokens);
  return first;
}

/// Returns the logits of every token, computed token by token.
EigenMatrix decoded(Fixture& f) {
  EigenMatrix logits = f.logits();
  logits.setZero();
  TokenCache cache;
  StepCache step;
  SequenceWorkspace workspace;
  f.model.prepare(f.parameters, f.sequence, step, nullptr);  // the tables serve all beginnings, if they can
  for (size_t t = 0; t < f.sequence.tokens.size(); ++t) {
    Sequence seen = beginning(f.sequence, t + 1);
    Rng rng = make_rng(0, "positions");
    seen.positions = f.encoding->positions(seen, rng);
    f.model.prepare(f.parameters, seen, step, nullptr);
    f.model.decode(f.parameters, seen, step, cache, workspace);
    logits.row(static_cast<Index>(t)) = workspace.logits.row(0);
  }
  return logits;
}

/// Returns true if the logits of all tokens have the same bits both ways.
bool decodes(const Spec& spec, const ModelConfig& config, int length) {
  Fixture f([&](const ModelConfig& c, ParameterLayout& layout) { return make_encoding(spec, c, layout); },
            fitted(spec, config), length, /*seed=*/5);
  Rng rng = make_rng(0, "positions");
  f.sequence.positions = f.encoding->positions(f.sequence, rng);
  f.forward();
  const EigenMatrix whole = f.logits();
  return decoded(f) == whole;
}

}  // namespace

TEST_CASE("an encoding whose keys can be cached computes the same bits token by token") {
  for (const std::string& text : all_specs()) {
    const Spec spec = Spec::parse(text);
    if (cacheable(spec) != Cacheable::yes) continue;
    INFO(text);
    for (const bool pre_norm : {true, false}) CHECK(decodes(spec, small_config(2, /*causal=*/true, pre_norm), 11));
  }
}

TEST_CASE(
    "keys are rewritten if angles depend on the length, and not cached if later tokens change positions or scores") {
  for (const std::string& text : all_specs()) {
    INFO(text);
    const auto has = [&](const char* part) { return text.find(part) != text.npos; };
    const bool is_drawn = has("randomized") && !has("sampling=skip");
    // The convolution of dape_v2 reads the hidden values of the next key, of which the last token has none.
    const bool is_rewritten = has("random_float") || has("ntk_dynamic") || has("longrope");
    CHECK(cacheable(Spec::parse(text)) == (is_drawn || has("dape_v2") ? Cacheable::no
                                           : is_rewritten             ? Cacheable::rewritten
                                                                      : Cacheable::yes));
  }
}

TEST_CASE("every block and option of a model computes the same bits token by token") {
  const Spec none{"none", {}}, rope{"rope", {}};
  for (const std::string& block : block_kinds(/*recurrent=*/true)) {
    ModelConfig config = small_config(2, true, true);
    config.block = BlockPattern(block);
    INFO(block);
    CHECK(decodes(none, config, 9));
  }
  for (const BlockOptions& option : block_options()) {
    ModelConfig config = small_config(2, true, true);
    option.set(config);
    INFO(option.name);
    CHECK(decodes(rope, config, 9));
  }
}
