#include "harness/training/packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"

namespace posbench {
namespace {

void append(const std::vector<int>& values, std::vector<int>& to) {
  to.insert(to.end(), values.begin(), values.end());
}

/// Appends values that are larger by `step`.
void append_moved(const std::vector<int>& values, int step, std::vector<int>& to) {
  for (const int value : values) to.push_back(value + step);
}

/// Appends the values of each list to its list.
template <class Lists>
void append_each(const Lists& values, Lists& to) {
  to.resize(values.size());
  for (size_t n = 0; n < values.size(); ++n) to[n].insert(to[n].end(), values[n].begin(), values[n].end());
}

/// Appends positions. Those whose angles depend on the length keep that of their own sequence.
void append(const Positions& from, Positions& to) {
  if (to.members.size() < from.members.size()) to.members.assign(from.members.size(), Positions(to));
  to.rounding = from.rounding;
  to.depends_on_length |= from.depends_on_length;
  to.at.insert(to.at.end(), from.at.begin(), from.at.end());
  append_each(from.coordinates, to.coordinates);
  to.lengths.resize(to.at.size(), static_cast<int>(from.at.size()));
  for (size_t n = 0; n < to.members.size(); ++n)
    append(from.members.empty() ? from : from.members[n], to.members[n]);
}

/// Removes the lengths where nothing reads them, so that sequences share tables.
void remove_unread_lengths(Positions& positions) {
  if (!positions.depends_on_length) positions.lengths.clear();
  std::ranges::for_each(positions.members, remove_unread_lengths);
}

/// Returns true if the encoding or one that it wraps computes positions from the tokens.
bool counts_tokens(const Spec& spec) {
  const EncodingEntry& entry = encodings().find(spec.name);
  if (entry.info.family == Family::contextual) return true;
  return std::ranges::any_of(entry.members(spec), counts_tokens);
}

}  // namespace

Example join(std::span<const Example> examples, size_t scored) {
  Example all;
  const Example& own = examples[scored];
  all.length = own.length;
  all.distances = own.distances;
  all.candidates = own.candidates;
  for (size_t n = 0; n < examples.size(); ++n) {
    const Example& e = examples[n];
    const int first = static_cast<int>(all.tokens.size());
    if (n == scored) {
      append_moved(e.scored, first, all.scored);
      append_moved(e.evidence, first, all.evidence);
    }
    append(e.tokens, all.tokens);
    append(e.targets, all.targets);
    const int segments = all.segments.empty() ? 0 : *std::ranges::max_element(all.segments) + 1;
    append_moved(e.segments, segments, all.segments);
    append(e.digit_positions, all.digit_positions);
    append_each(e.coordinates, all.coordinates);
  }
  return all;
}

Positions join(std::span<const Positions> sequences) {
  Positions all;
  for (const Positions& positions : sequences) append(positions, all);
  remove_unread_lengths(all);
  return all;
}

Positions part_of(const Positions& all, size_t first, size_t count) {
  Positions part = all;
  const auto cut = [&](auto& values) {
    if (values.empty()) return;
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(first + count), values.end());
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
  };
  if (all.sampled_distances) {
    part.at.resize(count);
  } else {
    cut(part.at);
  }
  for (std::vector<Real>& values : part.coordinates) cut(values);
  cut(part.lengths);
  if (part.depends_on_length && part.lengths.empty()) part.lengths.assign(count, static_cast<int>(all.size()));
  for (size_t n = 0; n < part.members.size(); ++n) part.members[n] = part_of(all.members[n], first, count);
  return part;
}

void check_packing(const Packing& packing, const ModelConfig& config, int batch) {
  if (packing.samples == 1) {
    if (!packing.mask && !packing.restart) return;
    throw InputError(fmt::format(
        "training.pack_{} is true, and training.pack is 1, one sample for each sequence; set training.pack to 2 or "
        "more, or leave it out",
        packing.mask ? "mask" : "restart"));
  }
  if (batch % packing.samples != 0) {
    throw InputError(
        fmt::format("training.batch is {} samples, not a multiple of training.pack {}; expected whole sequences",
                    batch, packing.samples));
  }
  if (packing.joins() && packing.restart && config.is_recurrent()) {
    throw InputError(fmt::format(
        "training.pack_restart is true, and model.block={} has a state instead of positions, which the next sample "
        "continues; set training.pack_mask=true or leave out training.pack_restart",
        config.block.text()));
  }
  const bool counts_from_start =
      config.segment > 0 || config.chunk > 0 || config.sinks > 0 || config.temperature > 0;
  if (packing.mask && packing.continues() && counts_from_start) {
    throw InputError(
        "training.pack_mask is true without training.pack_restart, and model.segment, chunk, sinks and temperature "
        "count tokens from the start of a sample; set training.pack_restart=true or leave them out");
  }
}

void check_packing(const Packing& packing, const ModelConfig& config, const Spec& encoding) {
  if (!packing.joins() || !packing.restart) return;
  const auto refuse = [&](const std::string& reason) {
    throw InputError(
        fmt::format("training.pack_restart is true without training.pack_mask, and encoding '{}' {}; set "
                    "training.pack_mask=true or leave out training.pack_restart",
                    encoding.text(), reason));
  };
  if (counts_tokens(encoding)) refuse("computes positions from the tokens of all samples before");
  if (kernel_of(encoding) != Kernel::any)
    refuse("reads the order of keys, which is not that of their positions then");
  ParameterLayout layout;
  const auto made = make_encoding(encoding, config, layout);
  if (made->recurrent_states() > 0) refuse("has a state that the next sample continues");
}

}  // namespace posbench
