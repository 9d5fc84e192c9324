#include "results/presentation/effective_length_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "results/statistics/learned.h"

namespace posbench {
namespace {

constexpr const char* kNotLearned = "not learned";

bool has_grid(const SummaryRow& row) { return row.effective_length || row.effective_distance; }

/// Returns a note on the intervals and their coverage, by the number of seeds.
std::string interval_note(const std::vector<std::optional<EffectiveLength>>& lengths) {
  std::map<size_t, double> coverages;  // by the number of seeds; 0: no interval
  for (const auto& length : lengths) {
    if (length) coverages[length->values.size()] = length->coverage;
  }
  std::vector<std::string> parts;
  for (const auto& [seeds, coverage] : coverages) {
    if (coverage > 0) parts.push_back(fmt::format("{:.4g} % for {} seeds", 100 * coverage, seeds));
  }
  if (parts.empty()) return "no interval, which needs five seeds";
  return fmt::format("in brackets, an interval over seeds with a coverage of at least {}", fmt::join(parts, ", "));
}

}  // namespace

std::string multiple_text(double multiple, double tested_to) {
  if (multiple == 0) return "<1x";
  return fmt::format("{}{}x", multiple == tested_to ? ">=" : "", multiple);
}

std::string effective_length_text(const std::optional<EffectiveLength>& effective, const Learned& learned) {
  if (!effective) return "no grid";
  if (!learned.by_half_the_seeds()) return kNotLearned;
  const auto text = [&](double multiple) { return multiple_text(multiple, effective->tested_to); };
  if (!effective->interval) return text(effective->multiple);
  const auto [low, high] = *effective->interval;
  return fmt::format("{} ({}..{})", text(effective->multiple), text(low), text(high));
}

bool has_grids(const Summary& summary) { return std::any_of(summary.rows.begin(), summary.rows.end(), has_grid); }

std::vector<std::string> effective_length_notes(const std::vector<std::optional<EffectiveLength>>& lengths) {
  const auto has_value = [](const std::optional<EffectiveLength>& length) { return length.has_value(); };
  if (!std::ranges::any_of(lengths, has_value)) return {};
  std::vector<std::string> notes{fmt::format(
      "effective length: the largest multiple of the greatest trained length that more than half of the seeds keep, with "
      "{:.2f} of the sequences right there and at every smaller multiple; <1x: they do not keep the trained length; >=: no "
      "larger multiple was tested; {}",
      kKept, interval_note(lengths))};
  if (!std::ranges::all_of(lengths, has_value))
    notes.emplace_back("no grid: the length of the task is fixed, or multiples of it were not tested");
  return notes;
}

std::vector<std::string> effective_length_notes(const Summary& summary) {
  std::vector<std::optional<EffectiveLength>> lengths;
  for (const SummaryRow& row : summary.rows)
    lengths.push_back(row.effective_length ? row.effective_length : row.effective_distance);
  return effective_length_notes(lengths);
}

Json to_json(const EffectiveLength& effective) {
  return {{"multiple", effective.multiple},
          {"low", effective.interval ? Json(effective.interval->low) : Json(nullptr)},
          {"high", effective.interval ? Json(effective.interval->high) : Json(nullptr)},
          {"tested_to", effective.tested_to}};
}

}  // namespace posbench
