// Tests every encoding of the registry, and the variants in the registrations.
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/check/certify.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"
#include "tests/model/block_kinds.h"

using namespace posbench;

namespace {

constexpr double kMaxError = 1e-6;

}  // namespace

TEST_CASE("every gradient agrees with finite differences") {
  in_each_model([](const std::string& text, bool causal) {
    const Spec spec = Spec::parse(text);
    for (const auto& [heads, length, pre_norm, dropout] : std::vector<std::tuple<int, int, bool, double>>{
             {1, 1, true, 0}, {1, 6, false, 0.3}, {2, 13, false, 0}, {3, 7, true, 0.3}, {4, 20, true, 0}}) {
      ModelConfig config = small_config(heads, causal, pre_norm);
      config.dropout = dropout;
      const Worst worst = gradient_error(spec, config, length);
      INFO(worst.where << ", heads " << heads << ", length " << length << (pre_norm ? ", pre" : ", post")
                       << ", dropout " << dropout);
      CHECK(worst.error <= kMaxError);
    }
  });
}

TEST_CASE("a registration without a name, a family, an equation or a source is refused in one line") {
  EncodingInfo info{.name = "mine", .family = Family::rotary, .equation = "score = 0", .source = "none"};
  CHECK_NOTHROW(check_info(info));
  EncodingInfo other = info;
  other.equation.clear();
  CHECK_THROWS_WITH(check_info(other), "the registration of encoding 'mine' has no equation; add .equation to it");
  other = info;
  other.source.clear();
  CHECK_THROWS_WITH(check_info(other), "the registration of encoding 'mine' has no source; add .source to it");
  other = info;
  other.family = Family::unstated;
  CHECK_THROWS_WITH(check_info(other), "the registration of encoding 'mine' has no family; add .family to it");
  other = info;
  other.name.clear();
  CHECK_THROWS_WITH(check_info(other), ContainsSubstring("has no name"));
}

TEST_CASE("every gradient agrees with finite differences in parallel blocks and in blocks of attention only") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/false)));
  if (block == ModelConfig().block.text()) return;  // other tests have it
  for (const std::string& name : encodings().names()) {
    const Spec spec{name, {}};
    for (const bool causal : {true, false}) {
      if (!is_defined(spec, causal)) continue;
      DYNAMIC_SECTION(name << (causal ? ", causal" : ", bidirectional") << ", block " << block) {
        for (const bool pre_norm : {true, false}) {
          ModelConfig config = small_config(2, causal, pre_norm);
          config.block = {block};
          const Worst worst = gradient_error(spec, config, 13);
          INFO(worst.where << (pre_norm ? ", pre" : ", post"));
          CHECK(worst.error <= kMaxError);
        }
      }
    }
  }
}

TEST_CASE("every gradient of recurrent blocks agrees with finite differences") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/true)));
  for (const auto& [heads, length, pre_norm, dropout] : std::vector<std::tuple<int, int, bool, double>>{
           {1, 1, true, 0}, {1, 6, false, 0.3}, {2, 13, false, 0}, {3, 7, true, 0.3}, {4, 20, true, 0}}) {
    ModelConfig config = small_config(heads, /*causal=*/true, pre_norm);
    config.block = {block};
    config.dropout = dropout;
    const Worst worst = gradient_error(Spec{"none", {}}, config, length);
    INFO(block << ": " << worst.where << ", heads " << heads << ", length " << length
               << (pre_norm ? ", pre" : ", post") << ", dropout " << dropout);
    CHECK(worst.error <= kMaxError);
  }
}

TEST_CASE("recurrent blocks are causal bit for bit, depend on the order of tokens and are finite at any length") {
  const std::string block = GENERATE(from_range(block_kinds(/*recurrent=*/true)));
  ModelConfig config = small_config(4, /*causal=*/true, /*pre_norm=*/true);
  config.block = {block};
  const Spec none{"none", {}};
  INFO(block);
  CHECK(is_causal(none, config, 20));
  CHECK(order_sensitivity(none, config, 9) > 1e-6);
  CHECK(shift_sensitivity(none, config, 9) == 0);
  CHECK(is_finite(none, config, 1));
  CHECK(is_finite(none, config, 4 * config.trained_length));
}

TEST_CASE("recurrent blocks refuse every encoding that acts on attention") {
  ModelConfig config = small_config(4, /*causal=*/true, /*pre_norm=*/true);
  config.block = {"gated_delta"};
  std::vector<std::string> accepted;
  for (const std::string& name : encodings().names()) {
    ParameterLayout layout;
    try {
      make_encoding(Spec{name, {}}, config, layout);
      accepted.push_back(name);
    } catch (const InputError& error) {
      CHECK(
          std::string(error.what()) ==
          "encoding '" + name +
              "' acts on attention, which model.block=gated_delta does not have; use the encoding 'none' or choose "
              "another model.block");
    }
  }
  CHECK(accepted == std::vector<std::string>{"none"});
}

TEST_CASE("no output of a causal model depends on later tokens, bit for bit") {
  for (const std::string& text : all_specs()) {
    DYNAMIC_SECTION(text) { CHECK(is_causal(Spec::parse(text), small_config(4, true, true), 20)); }
  }
}

TEST_CASE("outputs and gradients are finite at length 1 and at four times the trained length") {
  in_each_model([](const std::string& text, bool causal) {
    const Spec spec = Spec::parse(text);
    const ModelConfig config = small_config(2, causal, true);
    CHECK(is_finite(spec, config, 1));
    CHECK(is_finite(spec, config, 4 * config.trained_length));
  });
}

TEST_CASE("one layer depends on the order of earlier tokens unless the encoding is permutation-invariant") {
  for (const std::string& text : all_specs()) {
    DYNAMIC_SECTION(text) {
      const Spec spec = Spec::parse(text);
      const double moved = order_sensitivity(spec, small_config(4, true, true), 9);
      if (!spec.options.empty()) continue;  // the options may change it
      const bool is_invariant = encodings().find(text).info.permutation_invariant;
      CHECK((is_invariant ? moved < 1e-12 : moved > 1e-6));
    }
  }
}

TEST_CASE("a shift of all positions changes the outputs of absolute encodings but not of relative ones") {
  const std::set<Relative> relative{Relative::yes, Relative::accumulated, Relative::counted,
                                    Relative::order_of_keys};
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    DYNAMIC_SECTION(name << ", relative: " << to_string(info.relative)) {
      const double moved = shift_sensitivity(Spec{name, {}}, small_config(4, true, true), 9);
      if (relative.contains(info.relative.value)) CHECK(moved < 1e-9);
      if (info.family == Family::absolute && !info.permutation_invariant) CHECK(moved > 1e-6);
    }
  }
}

TEST_CASE("the measured properties equal those that the registration states") {
  for (const std::string& name : encodings().names()) {
    DYNAMIC_SECTION(name) {
      const Spec spec{name, {}};
      for (const auto& [property, word] : measure_properties(spec).words()) {
        INFO(property << ": " << word.stated);
        CHECK(word.measured == word.expected);
      }
    }
  }
}

TEST_CASE("the measurements find the properties that options change") {
  const auto [text, property, measured] = GENERATE(table<std::string, std::string, std::string>({
      {"shaw_k:clip=0", "distinct", "yes"},
      {"deberta:size=24", "extrapolates", "yes"},
      {"t5_bias:buckets=8,max_distance=16", "extrapolates", "yes"},
      {"learned_abs:positions=5", "distinct", "partly"},
      {"pope:init=uniform", "extrapolates", "defined"},
      {"fire:threshold=512", "extrapolates", "defined"},
      {"rope_p:fraction=0", "relative", "none"},
      {"randomized:base=learned_abs,max=128", "extrapolates", "yes"},
      {"randomized:base=alibi", "distance_decay", "yes"},
      {"dape:base=none", "distinct", "no"},
      {"repo_pos:blend=0.3", "relative", "yes"},
      {"algebraic:decay=1", "extrapolates", "defined"},
      {"wavelet:scales=1", "extrapolates", "yes"},
      {"entmax:base=rope", "distinct", "yes"},
      {"remapped:method=self_extend", "extrapolates", "defined"},
      {"remapped:method=self_extend", "relative", "no"},
      {"remapped:method=dual_chunk", "extrapolates", "yes"},
      {"remapped:method=dual_chunk", "relative", "no"},
      {"remapped:method=string", "extrapolates", "defined"},
      {"remapped:method=string", "relative", "yes"},
  }));
  const Spec spec = Spec::parse(text);
  INFO(text);
  for (const auto& [name, word] : measure_properties(spec).words())
    if (name == property) CHECK(word.measured == measured);
}
