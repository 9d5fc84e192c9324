// Tests the maps that `inspect` shows: the content and positional parts of scores, and the four terms of content
// and position.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "harness/check/double_precision/fixture.h"
#include "model/attention.h"
#include "model/hidden.h"
#include "tests/catch.h"
#include "tests/encodings/all_specs.h"

using namespace posbench;

namespace {

constexpr int kLength = 11;

/// A model with random parameters after its forward of a random sequence.
struct Inspected : Fixture {
  Inspected(const std::string& text, const ModelConfig& config)
      : Fixture([&](const ModelConfig& c,
                    ParameterLayout& layout) { return make_encoding(Spec::parse(text), c, layout); },
                fitted(Spec::parse(text), config), kLength, /*seed=*/3) {
    model.prepare(parameters, sequence, workspace.tables, nullptr);
    model.forward(parameters, sequence, workspace.tables, nullptr, workspace.activations);
  }
  /// Returns the maps of a layer by name.
  std::map<std::string, Heads> maps(int layer) {
    std::map<std::string, Heads> by_name;
    for (AttentionMap& map :
         model.inspect(parameters, sequence, workspace.tables.tables, layer, workspace.activations))
      by_name[map.name] = map.values;
    return by_name;
  }
  EigenMatrix matrix(const std::string& name) const {
    const ParameterLayout::Entry* entry = layout.find(name);
    return entry ? EigenMatrix(parameters[entry->parameter]) : EigenMatrix();
  }
};

template <class F>
void for_each_visible(const Heads& scores, bool causal, F f) {
  for (size_t h = 0; h < scores.size(); ++h) {
    for (Index i = 0; i < kLength; ++i) {
      for (Index j = 0; j < num_visible_keys(i, kLength, causal); ++j) {
        if (is_hidden(scores[h](i, j))) continue;
        INFO("head " << h << ", query " << i << ", key " << j);
        f(h, i, j);
      }
    }
  }
}

/// Checks that the parts of the scores, and the four terms if there are any, sum to them. Returns true if there
/// are terms.
bool check_sums(const std::map<std::string, Heads>& maps, bool causal) {
  const Heads& scores = maps.at("score");
  for_each_visible(scores, causal, [&](size_t h, Index i, Index j) {
    const double sum = maps.at("content")[h](i, j) + maps.at("positional part")[h](i, j);
    REQUIRE(sum == Approx(scores[h](i, j)).margin(1e-9));
  });
  if (!maps.contains("content-content")) return false;
  for_each_visible(scores, causal, [&](size_t h, Index i, Index j) {
    double sum = 0;
    for (const char* term : {"content-content", "content-position", "position-content", "position-position"})
      sum += maps.at(term)[h](i, j);
    REQUIRE(sum == Approx(scores[h](i, j)).margin(1e-9));
  });
  return true;
}

/// Returns the position-position term of sinusoids in layer 0, from the definition: the norm and the projections
/// of S with the divisors of x = E + S.
double position_term(const Inspected& m, const ModelConfig& config, Index h, Index i, Index j) {
  const Index C = config.width, D = config.head_width();
  const EigenMatrix embedding = m.matrix("embedding.weight"), weight = m.matrix("blocks.0.attention.qkv.weight");
  const EigenMatrix gain = m.matrix("blocks.0.norm1.weight"), shift = m.matrix("blocks.0.norm1.bias");
  constexpr double kEpsilon = 1e-5;
  const auto head = [&](Index t, bool key) {
    EigenMatrix s(1, C), e = embedding.row(m.sequence.tokens[static_cast<size_t>(t)]);
    for (Index c = 0; c < C; ++c) {
      const double angle =
          static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(c / 2 * 2) / static_cast<double>(C));
      s(0, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
    EigenMatrix x = e + s;
    if (config.pre_norm) {
      const bool centered = config.norm_kind == NormKind::layer_norm;
      const double mean = centered ? x.mean() : 0;
      const double divisor = std::sqrt((x.array() - mean).square().mean() + kEpsilon);
      s = ((s.array() - (centered ? s.mean() : 0)) / divisor * gain.array()).matrix();
      x = ((x.array() - mean) / divisor * gain.array()).matrix();
      if (centered) x += shift;
    }
    const Index column = (key ? C : 0) + h * D;
    EigenMatrix part = s * weight.middleCols(column, D);
    if (config.qk_norm) {
      const EigenMatrix whole =
          x * weight.middleCols(column, D) + m.matrix("blocks.0.attention.qkv.bias").middleCols(column, D);
      const double divisor = std::sqrt(whole.array().square().mean() + kEpsilon);
      const EigenMatrix head_gain =
          m.matrix(key ? "blocks.0.attention.k_norm.weight" : "blocks.0.attention.q_norm.weight");
      part = (part.array() / divisor * head_gain.array()).matrix();
    }
    return part;
  };
  return head(i, false).cwiseProduct(head(j, true)).sum() / std::sqrt(static_cast<double>(D));
}

}  // namespace

TEST_CASE("the content and the positional part of every encoding sum to the score") {
  std::vector<std::string> specs = all_specs();
  for (const std::string combination :
       {"sum:of=(deberta,shaw_k)", "heads:of=(deberta,txl)", "layers:of=(tupe_a,deberta)"})
    specs.push_back(combination);
  for (const std::string& text : specs) {
    for (const bool causal : {true, false}) {
      if (!is_defined(Spec::parse(text), causal)) continue;
      DYNAMIC_SECTION(text << (causal ? ", causal" : ", bidirectional")) {
        Inspected m(text, small_config(4, causal, true));
        for (const int layer : {0, 1}) {
          const auto maps = m.maps(layer);
          // Queries and keys of layer 1 have no separate part of position, so that its terms split off the same
          // content.
          if (!check_sums(maps, causal) || layer == 0) continue;
          for_each_visible(maps.at("score"), causal, [&](size_t h, Index i, Index j) {
            REQUIRE(maps.at("content-content")[h](i, j) == Approx(maps.at("content")[h](i, j)).margin(1e-9));
          });
        }
      }
    }
  }
}

TEST_CASE("encodings that add to the embeddings have four terms in layer 0 only") {
  for (const std::string text :
       {"sinusoidal", "learned_abs", "abacus", "coupled", "bipe_alibi", "bipe_rope", "randomized", "random_offset",
        "ssmax:base=sinusoidal", "sum:of=(learned_abs,t5_bias)", "sum:of=(learned_abs,tupe_a)"}) {
    CAPTURE(text);
    Inspected m(text, small_config(4, true, true));
    CHECK(check_sums(m.maps(0), true));
    CHECK_FALSE(check_sums(m.maps(1), true));
  }
  for (const std::string text : {"alibi", "none", "rope", "cope", "tape", "mapformer_wm"}) {
    CAPTURE(text);
    Inspected m(text, small_config(4, true, true));
    CHECK_FALSE(check_sums(m.maps(0), true));
  }
}

TEST_CASE("the position-position term of sinusoids is the product of the projected sinusoids") {
  for (const auto& [name, set] : std::vector<BlockOptions>{
           {"layer norm", [](ModelConfig&) {}},
           {"RMS norm", [](ModelConfig& c) { c.norm_kind = NormKind::rms_norm; }},
           {"post-norm", [](ModelConfig& c) { c.pre_norm = false; }},
           {"qk_norm", [](ModelConfig& c) { c.qk_norm = true; }},
           {"qk_norm and post-norm", [](ModelConfig& c) { c.qk_norm = true, c.pre_norm = false; }}}) {
    CAPTURE(name);
    ModelConfig config = small_config(4, true, true);
    set(config);
    Inspected m("sinusoidal", config);
    const auto maps = m.maps(0);
    REQUIRE(check_sums(maps, true));
    double largest = 0;
    for_each_visible(maps.at("score"), true, [&](size_t h, Index i, Index j) {
      const double expected = position_term(m, config, static_cast<Index>(h), i, j);
      REQUIRE(maps.at("position-position")[h](i, j) == Approx(expected).margin(1e-9));
      largest = std::max(largest, std::abs(expected));
    });
    CHECK(largest > 0.01);
  }
}

TEST_CASE("the parts of scores have the factor and the window of the model") {
  for (const std::string text : {"deberta", "sinusoidal", "txl", "alibi", "none"}) {
    CAPTURE(text);
    ModelConfig config = small_config(2, true, true);
    config.logit_scale = LogitScale::log_length;
    config.window = 6;
    Inspected m(text, config);
    const auto maps = m.maps(0);
    CHECK(check_sums(maps, true) == (text != "alibi" && text != "none"));
    CHECK(is_hidden(maps.at("score")[0](10, 4)));
    CHECK_FALSE(is_hidden(maps.at("score")[0](10, 5)));
    if (text != "alibi") continue;
    const double factor = std::log(6) / std::log(6);  // 6 keys in the window, as in training
    CHECK(maps.at("positional part")[0](10, 8) == Approx(-2 * std::exp2(-4) * factor));
    CHECK(maps.at("positional part")[0](2, 0) == Approx(-2 * std::exp2(-4) * std::log(3) / std::log(6)));
  }
}
