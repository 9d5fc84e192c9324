#include "results/presentation/accuracy_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace posbench {

std::string accuracy_text(double accuracy, int digits) {
  constexpr double kAllRight = 1 - 1e-9;  // a mean of ones may not be 1 to the last bit
  std::string text = fmt::format("{:.{}f}", accuracy, digits);
  if (text[0] != '1' || accuracy >= kAllRight) return text;
  return ">0." + std::string(static_cast<size_t>(digits), '9');
}

std::string difference_text(double difference) {
  std::string text = fmt::format("{:+.3f}", difference);
  return text == "-0.000" ? "+0.000" : text;
}

Cell verdict_cell(Verdict verdict) { return {to_string(verdict), tone(verdict)}; }

Tone tone(Verdict verdict) {
  if (verdict == Verdict::better || verdict == Verdict::reproduced) return Tone::good;
  if (verdict == Verdict::worse || verdict == Verdict::contradicted) return Tone::bad;
  return verdict == Verdict::same || verdict == Verdict::not_run ? Tone::faint : Tone::plain;
}

std::string unfinished_letters(bool diverged, bool failed) {
  return std::string(diverged ? "d" : "") + (failed ? "f" : "");
}

std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.6g}", *number) : "";
}

Json low_of(const std::optional<Interval>& interval) { return interval ? Json(interval->low) : Json(nullptr); }
Json high_of(const std::optional<Interval>& interval) { return interval ? Json(interval->high) : Json(nullptr); }

}  // namespace posbench
