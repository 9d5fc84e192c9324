#include "harness/check/certificate_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace posbench {
namespace {

Json to_json(const MeasuredFraction& fraction) {
  return {{"measured", fraction.measured}, {"declared", fraction.declared}};
}

Json to_json(const PropertyReport& report) {
  Json json = Json::object();
  if (report.not_measured.empty()) {
    const Properties& p = report.measured;
    for (const auto& [property, word] : report.words())
      json[property] = {{"measured", word.measured}, {"stated", word.stated}};
    json["distinct"].update(
        {{"positions", p.distinct}, {"of", p.trained}, {"far", p.distinct_far}, {"of_far", p.longest}});
    json["extrapolates"].update(
        {{"finite", p.finite}, {"untrained_rows", p.untrained_rows}, {"growth", p.growth}});
    json["relative"].update({{"moved", p.moved}});
    json["distance_decay"].update({{"falling_heads", p.falling}});
    json["agree"] = report.agrees;
  } else {
    json["not_measured"] = report.not_measured;
  }
  if (!report.corrections.empty()) json["corrections"] = report.corrections;
  return json;
}

Json to_json(const SplitCertificate& split) {
  Json json{{"lengths", split.lengths}};
  if (split.largest_answer_fraction) json["largest_answer_fraction"] = to_json(*split.largest_answer_fraction);
  for (const Shortcut& shortcut : split.shortcuts) {
    json["shortcuts"][shortcut.kind] = {{"feature", shortcut.feature},
                                        {"accuracy", shortcut.accuracy.measured},
                                        {"declared", shortcut.accuracy.declared}};
  }
  json["seen_in_training"] = {{"training_samples", split.training_samples},
                              {"fraction", split.seen_in_training},
                              {"by_chance", split.seen_by_chance}};
  json["chance"] = split.baseline.chance;
  for (const auto& [name, accuracy] : split.baseline.trivial) json["trivial"][name] = accuracy;
  return json;
}

}  // namespace

Json to_json(const EncodingCertificate& c) {
  Json json{{"encoding", c.encoding}, {"gradients", Json::array()}};
  for (const GradientReport& gradient : c.gradients) {
    json["gradients"].push_back({{"attention", gradient.causal ? "causal" : "bidirectional"},
                                 {"norm", gradient.pre_norm ? "pre" : "post"},
                                 {"worst_error", gradient.worst.error},
                                 {"where", gradient.worst.where}});
  }
  if (!c.failure.empty()) {
    json["passed"] = false;
    json["failure"] = c.failure;
    return json;
  }
  json["worst_gradient_error"] = c.worst.error;
  json["where"] = c.worst.where;
  json["causal"] = c.causal;
  json["finite"] = c.finite;
  json["order_sensitivity"] = c.order_sensitivity;
  json["shift_sensitivity"] = c.shift_sensitivity;
  json["properties"] = to_json(c.properties);
  json["passed"] = c.passed;
  return json;
}

Json to_json(const TaskCertificate& c) {
  Json json{{"task", c.task},
            {"samples", c.samples},
            {"oracle", c.oracle},
            {"layouts", c.layouts},
            {"splits", Json::object()}};
  for (const SplitCertificate& split : c.splits) json["splits"][split.baseline.name] = to_json(split);
  json["faults"] = c.faults;
  json["passed"] = c.passed();
  return json;
}

Json to_json(const ModelsCertificate& c) {
  return {{"certificates", c.certificates}, {"refused", c.refused},   {"worst_gradient_error", c.worst.error},
          {"where", c.worst.where},         {"failures", c.failures}, {"passed", c.passed()}};
}

}  // namespace posbench
