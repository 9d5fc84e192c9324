#include "harness/training/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "encodings/requirements.h"
#include "model/round_positions.h"

namespace posbench {
namespace {

/// Appends the value of token t, if the sequence has such values.
template <class Value>
void append(const std::vector<Value>& from, size_t t, std::vector<Value>& to) {
  if (!from.empty()) to.push_back(from[t]);
}

void append_token(const Sequence& from, size_t t, Sequence& to) {
  append(from.tokens, t, to.tokens);
  append(from.segments, t, to.segments);
  append(from.digit_positions, t, to.digit_positions);
  to.coordinates.resize(from.coordinates.size());
  for (size_t n = 0; n < to.coordinates.size(); ++n) append(from.coordinates[n], t, to.coordinates[n]);
}

template <class Value>
void drop_first(size_t count, std::vector<Value>& values) {
  if (!values.empty()) values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

void drop_tokens(size_t count, Sequence& s) {
  for (std::vector<int>* values : {&s.tokens, &s.segments, &s.digit_positions}) drop_first(count, *values);
  for (std::vector<int>& values : s.coordinates) drop_first(count, values);
}

void drop_tokens(size_t count, Positions& p) {
  drop_first(count, p.at);
  drop_first(count, p.lengths);
  for (std::vector<Real>& values : p.coordinates) drop_first(count, values);
  for (Positions& member : p.members) drop_tokens(count, member);
}

/// Appends the last of the positions that a sequence has now to those that its tokens had when they came.
void append_last(const Positions& now, Positions& written) {
  if (written.members.size() < now.members.size()) written.members.assign(now.members.size(), Positions(written));
  for (size_t n = 0; n < written.members.size(); ++n)
    append_last(now.members.empty() ? now : now.members[n], written.members[n]);
  written.rounding = now.rounding;
  written.depends_on_length = now.depends_on_length;
  written.at.push_back(now.at.back());
  if (now.depends_on_length) written.lengths.push_back(static_cast<int>(now.at.size()));
  written.coordinates.resize(now.coordinates.size());
  for (size_t n = 0; n < now.coordinates.size(); ++n) written.coordinates[n].push_back(now.coordinates[n].back());
}

[[noreturn]] void refuse_encoding(const std::string& setting, const Spec& encoding, const std::string& reason) {
  throw InputError(fmt::format("evaluation.{}: encoding '{}' {}", setting, encoding.text(), reason));
}

}  // namespace

const EnumNames<CacheMode>& names_of(CacheMode) {
  static const EnumNames<CacheMode> names{
      {CacheMode::off, "off"}, {CacheMode::rewritten, "rewritten"}, {CacheMode::stale, "stale"}};
  return names;
}

Matrix decode(const Model& model, const Parameters& parameters, const Sequence& whole, const CacheOptions& options,
              StepCache& step, SequenceWorkspace& activations) {
  Matrix logits(static_cast<Index>(whole.target_positions.size()), model.config.vocabulary);
  Sequence seen;
  seen.loops = whole.loops;
  seen.first_position = whole.first_position;
  Positions written;
  TokenCache cache;
  Index targets = 0;
  model.transformer->prepare(parameters, whole, step, nullptr);  // the tables serve all beginnings, if they can
  for (size_t t = 0; t < whole.tokens.size(); ++t) {
    if (options.drops() && seen.tokens.size() == static_cast<size_t>(options.size)) {
      const auto dropped = static_cast<size_t>(options.shift);
      drop_tokens(dropped, seen);
      drop_tokens(dropped, written);
      cache.drop(options.shift);
    }
    append_token(whole, t, seen);
    Rng rng = make_rng(0, "cache");
    seen.positions = model.encoding->positions(seen, rng);
    round_positions(whole.positions.rounding, seen.positions);
    if (options.mode == CacheMode::stale) {
      append_last(seen.positions, written);
      seen.positions = written;
    }
    model.transformer->prepare(parameters, seen, step, nullptr);
    model.transformer->decode(parameters, seen, step, cache, activations);
    const bool is_target =
        targets < logits.rows() && whole.target_positions[static_cast<size_t>(targets)] == static_cast<int>(t);
    if (is_target) logits.row(targets++) = activations.logits.row(0);
  }
  return logits;
}

void check_cache(const CacheOptions& options, const ModelConfig& config) {
  if (options.mode == CacheMode::off) {
    if (options.size == 0 && options.shift == 0) return;
    throw InputError(fmt::format(
        "evaluation.cache_{} is set, and evaluation.cache is off; set it to rewritten or stale, or leave it out",
        options.size > 0 ? "size" : "shift"));
  }
  if (!config.causal) {
    throw InputError(
        "evaluation.cache is set, and model.attention is bidirectional: every token changes the keys of all others; "
        "set model.attention to causal or leave out evaluation.cache");
  }
  if ((options.size > 0) != (options.shift > 0) || options.shift > options.size) {
    throw InputError(fmt::format(
        "evaluation.cache_size is {} and evaluation.cache_shift is {}; set both, with a shift of at most "
        "the size, or none",
        options.size, options.shift));
  }
  const bool has_recurrent_layers = config.attention_index(config.layers) < config.layers;
  if (options.drops() && has_recurrent_layers) {
    throw InputError(fmt::format(
        "evaluation.cache_shift is {}, and model.block={} has a state instead of a cache of keys; leave it out",
        options.shift, config.block.text()));
  }
}

void check_cache(const CacheOptions& options, const ModelConfig& config, const Spec& encoding,
                 const Sequence& sample) {
  if (options.mode == CacheMode::off) return;
  const Cacheable can = cacheable(encoding, config, sample);
  if (can == Cacheable::no)
    refuse_encoding("cache", encoding, "gives a token other positions or scores when more tokens follow");
  ParameterLayout layout;
  const auto made = make_encoding(encoding, config, layout);
  if (options.drops() && made->recurrent_states() > 0)
    refuse_encoding("cache_shift", encoding, "has a state of each token, which depends on the dropped tokens");
  const bool embeds = encodings().find(encoding.name).replaces(encoding).embed;
  if (options.drops() && options.mode == CacheMode::rewritten && embeds) {
    refuse_encoding("cache_shift", encoding,
                    "adds to the token embeddings, so that keys with other positions need the dropped tokens; set "
                    "evaluation.cache=stale");
  }
  const bool changes = options.drops() || can == Cacheable::rewritten;
  if (changes && options.mode == CacheMode::stale && kernel_of(encoding) != Kernel::any) {
    refuse_encoding("cache", encoding,
                    "has no positions in its keys that could become stale; set evaluation.cache=rewritten");
  }
}

}  // namespace posbench
