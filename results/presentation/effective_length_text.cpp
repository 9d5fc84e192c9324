#include "results/presentation/effective_length_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/learned.h"

namespace posbench {
namespace {

constexpr const char* kAboutFar =
    "far: the evidence of an answer is uniformly anywhere in the sequence; near: it is as far away as in training; a "
    "task without evidence has one length, and a report of an older version has no far length";
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
    if (coverage > 0) parts.push_back(fmt::format("{:.3g} % for {} seeds", 100 * coverage, seeds));
  }
  const char* without = "?: no interval, which needs five seeds";
  if (parts.empty()) return without;
  const bool all = parts.size() == coverages.size();
  return fmt::format("in brackets, an interval over seeds and test samples with a coverage of at least {}{}{}",
                     fmt::join(parts, ", "), all ? "" : "; ", all ? "" : without);
}

}  // namespace

std::string multiple_text(double multiple, double tested_to) {
  if (multiple == 0) return "<1x";
  return fmt::format("{}{}x", multiple == tested_to ? ">=" : "", multiple);
}

std::string multiple_text(const EffectiveLength& length) {
  const std::string multiple = multiple_text(length.multiple, length.tested_to);
  return length.accuracy ? fmt::format("{} ({} at {}x)", multiple, accuracy_text(*length.accuracy), kShownMultiple)
                         : multiple;
}

std::string effective_length_text(const std::optional<EffectiveLength>& effective, const Learned& learned) {
  if (!effective) return "no grid";
  if (!learned.by_half_the_seeds()) return kNotLearned;
  const auto text = [&](double multiple) { return multiple_text(multiple, effective->tested_to); };
  std::vector<std::string> about;
  if (effective->interval)
    about.push_back(fmt::format("{}..{}", text(effective->interval->low), text(effective->interval->high)));
  if (effective->accuracy)
    about.push_back(fmt::format("{} at {}x", accuracy_text(*effective->accuracy), kShownMultiple));
  std::string shown = text(effective->multiple) + (effective->interval ? "" : "?");
  return about.empty() ? shown : fmt::format("{} ({})", shown, fmt::join(about, "; "));
}

bool has_grids(const Summary& summary) { return std::ranges::any_of(summary.rows, has_grid); }

std::vector<std::string> effective_length_notes(const std::vector<std::optional<EffectiveLength>>& lengths) {
  const auto has_value = [](const std::optional<EffectiveLength>& length) { return length.has_value(); };
  if (!std::ranges::any_of(lengths, has_value)) return {};
  std::vector<std::string> notes{fmt::format(
      "effective length: the largest multiple of the greatest trained length that at least half of the seeds keep, with "
      "{:.2f} of the sequences right there and at every smaller multiple; <1x: they do not keep the trained length; >=: no "
      "larger multiple was tested; {}; at {}x: the accuracy at this multiple, mean over seeds, and 0 for a seed whose test "
      "ended before, after two multiples below {:.2f}",
      kKept, interval_note(lengths), kShownMultiple, kGridFloor)};
  if (!std::ranges::all_of(lengths, has_value))
    notes.emplace_back("no grid: the length of the task is fixed, or multiples of it were not tested");
  return notes;
}

std::vector<std::string> effective_length_notes(const Summary& summary) {
  std::vector<std::optional<EffectiveLength>> lengths;
  for (const SummaryRow& row : summary.rows)
    lengths.push_back(row.effective_length ? row.effective_length : row.effective_distance);
  std::vector<std::string> notes = effective_length_notes(lengths);
  const auto has_far = [](const SummaryRow& row) { return row.effective_far.has_value(); };
  if (std::ranges::any_of(summary.rows, has_far)) notes.emplace_back(kAboutFar);
  return notes;
}

Json to_json(const EffectiveLength& effective) {
  return {{"multiple", effective.multiple},
          {"low", effective.interval ? Json(effective.interval->low) : Json(nullptr)},
          {"high", effective.interval ? Json(effective.interval->high) : Json(nullptr)},
          {"tested_to", effective.tested_to},
          {"accuracy_at_4x", effective.accuracy ? Json(*effective.accuracy) : Json(nullptr)}};
}

}  // namespace posbench
