#include "model/seen_keys.h"

#include <algorithm>

#include "model/attention.h"

namespace posbench::inline POSBENCH_REAL {

KeyRange window_keys(const ModelConfig& config, Index i, Index length) {
  KeyRange seen{0, num_visible_keys(i, length, config.causal)};
  if (config.window > 0) {
    seen = {std::max<Index>(0, i - config.window + 1), std::min<Index>(seen.end, i + config.window)};
  }
  if (config.segment > 0) {
    const Index start = i / config.segment * config.segment;
    seen = {std::max<Index>(seen.first, start - config.segment),
            std::min<Index>(seen.end, start + config.segment)};
  }
  if (config.chunk > 0) {
    const Index start = i / config.chunk * config.chunk;
    seen = {std::max<Index>(seen.first, start), std::min<Index>(seen.end, start + config.chunk)};
  }
  return seen;
}

Index num_keys_in_window(const ModelConfig& config, Index i, Index length) {
  const KeyRange seen = window_keys(config, i, length);
  const Index sinks = std::min<Index>(config.sinks, num_visible_keys(i, length, config.causal));
  return seen.end - seen.first + std::min(sinks, seen.first) + std::max<Index>(0, sinks - seen.end);
}

}  // namespace posbench::inline POSBENCH_REAL
