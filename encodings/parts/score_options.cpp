#include "encodings/parts/score_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

constexpr char kTokens[] = "a number of tokens, or a part of the trained length such as 0.25x";
constexpr double kMaxTokens = 1 << 20;

/// Returns the number of tokens of an option. A part of the trained length is rounded, and at least 1.
int tokens(const std::string& name, const std::string& text, int trained_length, const std::string& owner) {
  const bool is_part = text.ends_with('x');
  double value = 0;
  const bool is_number = parse_number(std::string_view(text).substr(0, text.size() - (is_part ? 1 : 0)), value) &&
                         value >= 0 && value <= kMaxTokens;
  if (!is_number || (is_part ? value == 0 : value != std::floor(value)))
    throw InputError(fmt::format("{}: {} is '{}', expected {}", owner, name, text, kTokens));
  if (!is_part) return static_cast<int>(value);
  return std::max(1, static_cast<int>(std::min(kMaxTokens, std::round(value * trained_length))));
}

}  // namespace

void ScoreOptions::describe(OptionTable& o) {
  o.text("window", window, kTokens, "distance in tokens below which a query sees a key; 0: all keys");
  o.text("segment", segment, kTokens, "tokens of a segment; a query sees its segment and the one before; 0: all");
  o.text("chunk", chunk, kTokens, "tokens of a chunk; a query sees the keys of its chunk; 0: all");
  o.text("sinks", sinks, kTokens, "number of first tokens that all later tokens see, with one of these");
  o.choice("logit_scale", logit_scale, names_of(logit_scale),
           "factor of the scores of a query that sees n keys: 1, log n / log N if the last query of the trained "
           "length sees N keys, or the greater of that and 1");
  o.text("temperature", temperature, kTokens,
         "L of the factor 1 + 0.1 log(1 + floor((i + 1) / L)) of the scores of query i; 0: no factor");
}

ModelConfig ScoreOptions::apply_to(ModelConfig config, const std::string& owner) const {
  const auto read = [&](const char* name, const std::string& text) {
    return tokens(name, text, config.tokens_in_training(), owner);
  };
  config.window = read("window", window);
  config.segment = read("segment", segment);
  config.chunk = read("chunk", chunk);
  config.sinks = read("sinks", sinks);
  config.temperature = read("temperature", temperature);
  config.logit_scale = logit_scale;
  if (config.sinks > 0 && !config.hides_keys()) {
    throw InputError(
        fmt::format("{}: sinks is {}, and window, segment and chunk are 0: all keys are seen; set one of them or "
                    "leave out sinks",
                    owner, sinks));
  }
  return config;
}

void ScoreOptionLists::describe(OptionTable& o) {
  const std::string expected = "one value for all encodings, or one for each, such as (8,0)";
  o.text("window", window, expected, "windows: distance in tokens below which a query sees a key; 0: all keys");
  o.text("chunk", chunk, expected, "tokens of a chunk; a query sees the keys of its chunk; 0: all");
  o.text("sinks", sinks, expected, "numbers of first tokens that all later tokens see, with a window or chunks");
  o.text("logit_scale", logit_scale, expected,
         "factors of the scores: constant, log_length or log_length_beyond, as of model.logit_scale");
  o.text("temperature", temperature, expected,
         "L of the factor 1 + 0.1 log(1 + floor((i + 1) / L)) of the scores of query i; 0: no factor");
}

std::vector<Spec> ScoreOptionLists::wrap(std::vector<Spec> members, const std::string& owner) const {
  const size_t count = members.size();
  const auto values_of = [&](const char* name, const std::string& list) {
    std::vector<std::string> values = split_list(list, ',');
    if (values.size() == 1) values.resize(count, values.front());
    if (values.size() == count) return values;
    throw InputError(
        fmt::format("{}: {} has the {} values '{}', expected one, or one for each of the {} encodings", owner,
                    name, values.size(), list, count));
  };
  const std::vector<std::string> windows = values_of("window", window), chunks = values_of("chunk", chunk),
                                 all_sinks = values_of("sinks", sinks),
                                 scales = values_of("logit_scale", logit_scale),
                                 temperatures = values_of("temperature", temperature);
  const auto any = [](const std::vector<std::string>& values) {
    return std::ranges::any_of(values, [](const std::string& value) { return value != "0"; });
  };
  if (any(all_sinks) && !any(windows) && !any(chunks)) {
    throw InputError(
        fmt::format("{}: sinks is '{}', but every query sees all keys; set window or chunk, or leave out sinks",
                    owner, sinks));
  }
  for (size_t n = 0; n < count; ++n) {
    const bool sees_all = windows[n] == "0" && chunks[n] == "0";
    const bool scaled = scales[n] != "constant" || temperatures[n] != "0";
    if (sees_all && all_sinks[n] != "0" && sinks.find(',') != sinks.npos) {
      throw InputError(
          fmt::format("{}: sinks is '{}', but the queries of '{}' see all keys; set its sinks to 0, or set its "
                      "window or chunk",
                      owner, sinks, members[n].text()));
    }
    if (sees_all && !scaled) continue;
    Spec local{"local", {{"base", members[n].text()}, {"window", windows[n]}}};
    if (chunks[n] != "0") local.options.emplace_back("chunk", chunks[n]);
    if (all_sinks[n] != "0" && !sees_all) local.options.emplace_back("sinks", all_sinks[n]);
    if (scales[n] != "constant") local.options.emplace_back("logit_scale", scales[n]);
    if (temperatures[n] != "0") local.options.emplace_back("temperature", temperatures[n]);
    members[n] = std::move(local);
  }
  return members;
}

}  // namespace posbench::inline POSBENCH_REAL
