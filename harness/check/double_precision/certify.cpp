// Writes the certificates of an encoding as JSON. This file belongs to the double-precision part of the program,
// which has a separate namespace. Only standard types and JSON pass between the two parts.
#include "harness/check/certify.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"
#include "harness/check/double_precision/properties.h"

namespace posbench {

nlohmann::ordered_json properties(const std::string& text) {
  const Spec spec = Spec::parse(text);
  const Properties p = measure_properties(spec);
  nlohmann::ordered_json json;
  bool agree = true;
  for (const PropertyWord& word : property_words(spec, p)) {
    json[word.property] = {{"measured", word.measured}, {"stated", word.stated}};
    if (word.measured == word.expected) continue;
    agree = false;
    const bool none = word.property == "relative" && word.measured == "none";
    json["corrections"].push_back(fmt::format("{}: stated \"{}\", measured \"{}\"; write \"{}\"", word.property,
                                              word.stated, word.measured, none ? "-" : word.measured));
  }
  json["distinct"].update(
      {{"positions", p.distinct}, {"of", p.trained}, {"far", p.distinct_far}, {"of_far", p.longest}});
  json["extrapolates"].update({{"finite", p.finite}, {"untrained_rows", p.untrained_rows}, {"growth", p.growth}});
  json["relative"].update({{"moved", p.moved}});
  json["distance_decay"].update({{"falling_heads", p.falling}});
  json["agree"] = agree;
  return json;
}

namespace {

/// Returns true if the encoding has parameters besides those of the encodings that it wraps.
bool has_own_parameters(const Spec& spec) {
  const auto count = [](const Spec& counted) {
    ParameterLayout layout;
    const auto encoding = make_encoding(counted, fitted(counted, small_config(4, true, true)), layout);
    return layout.entries().size();
  };
  size_t of_members = 0;
  for (const Spec& member : encodings().find(spec.name).members(spec)) of_members += count(member);
  return count(spec) > of_members;
}

/// Returns the worst error among models with this attention and norm. One of the models has dropout.
Worst worst_gradient(const Spec& spec, bool causal, bool pre_norm) {
  Worst worst;
  for (const auto& [heads, length, dropout] :
       std::vector<std::tuple<int, int, double>>{{1, 1, 0}, {1, 6, 0}, {2, 13, 0}, {3, 7, 0.3}, {4, 20, 0}}) {
    ModelConfig config = small_config(heads, causal, pre_norm);
    config.dropout = dropout;
    const Worst found = gradient_error(spec, config, length);
    if (!(found.error <= worst.error)) worst = found;
  }
  return worst;
}

/// Counts the certificates of many models, and lists the failed ones.
class CertificateCount {
 public:
  /// Checks the gradients of one encoding in one shape, causal with pre-norm and bidirectional with post-norm.
  void add(const std::string& name, const Spec& spec, const std::function<void(ModelConfig&)>& set) {
    try {
      for (const bool causal : {true, false}) {
        if (!is_defined(spec, causal)) continue;
        ModelConfig config = small_config(2, causal, /*pre_norm=*/causal);
        config.trained_length = 5;
        set(config);
        const Worst found = gradient_error(spec, config, 9);
        ++certificates_;
        if (!(found.error <= worst_.error)) worst_ = {found.error, fmt::format("{}: {}", name, found.where)};
        if (!(found.error <= 1e-6))
          failures_.push_back(fmt::format("{}: {} is off by {:.1e}", name, found.where, found.error));
      }
    } catch (const InputError& error) {
      ++refused_;
    }
  }

  nlohmann::ordered_json json() const {
    return {{"certificates", certificates_},
            {"refused", refused_},
            {"worst_gradient_error", worst_.error},
            {"where", worst_.where},
            {"failures", failures_},
            {"passed", failures_.empty() && certificates_ > 0}};
  }

 private:
  int certificates_ = 0, refused_ = 0;
  Worst worst_;
  std::vector<std::string> failures_;
};

}  // namespace

nlohmann::ordered_json certify_blocks(const std::string& text) {
  CertificateCount count;
  for (const BlockOptions& options : block_options()) count.add(options.name, Spec::parse(text), options.set);
  return count.json();
}

nlohmann::ordered_json certify_pairs(const std::string& composition, const std::string& first) {
  CertificateCount count;
  for (const std::string& second : encodings().names()) {
    if (second < first) continue;
    const Spec spec{composition, {{"of", first + "," + second}}};
    count.add(spec.text(), spec, [](ModelConfig&) {});
  }
  return count.json();
}

nlohmann::ordered_json certify(const std::string& text) {
  const Spec spec = Spec::parse(text);
  const EncodingInfo& info = encodings().find(spec.name).info;
  const auto attention_kinds = is_defined(spec, false) ? std::vector<bool>{true, false} : std::vector<bool>{true};
  nlohmann::ordered_json json{{"encoding", text}};
  json["gradients"] = nlohmann::ordered_json::array();
  bool finite = true;
  Worst worst;
  for (const bool causal : attention_kinds) {
    for (const bool pre_norm : {true, false}) {
      const Worst found = worst_gradient(spec, causal, pre_norm);
      if (std::isinf(found.error)) {  // The other measurements would fail too.
        json["passed"] = false;
        json["failure"] = found.where;
        return json;
      }
      json["gradients"].push_back({{"attention", causal ? "causal" : "bidirectional"},
                                   {"norm", pre_norm ? "pre" : "post"},
                                   {"worst_error", found.error},
                                   {"where", found.where}});
      if (!(found.error <= worst.error)) worst = found;
    }
    const ModelConfig config = small_config(2, causal, true);
    finite = finite && is_finite(spec, config, 1) && is_finite(spec, config, 4 * config.trained_length);
  }
  const double moved = order_sensitivity(spec, small_config(4, true, true), 9);
  json["worst_gradient_error"] = worst.error;
  json["where"] = worst.where;
  json["causal"] = is_causal(spec, small_config(4, true, true), 20);
  json["finite"] = finite;
  json["order_sensitivity"] = moved;
  json["shift_sensitivity"] = shift_sensitivity(spec, small_config(4, true, true), 9);
  const bool is_preset = info.family == Family::preset;  // states no properties of its own
  const bool is_default = !is_preset && encodings().find(spec.name).canonical(spec).options.empty();
  try {
    json["properties"] = properties(text);
  } catch (const InputError& error) {  // The options exclude the longest sequence.
    if (is_default) throw;
    json["properties"] = {{"not_measured", error.what()}};
  }
  if (is_default && (moved > 1e-6) == info.permutation_invariant) {
    json["properties"]["corrections"].push_back(fmt::format(
        "permutation_invariant: stated {}, but the order of tokens moves the output by {:.1e}; write {}",
        info.permutation_invariant, moved, !info.permutation_invariant));
  }
  if (is_default && has_own_parameters(spec) != info.learned) {
    json["properties"]["corrections"].push_back(
        fmt::format("learned: stated {}, but the encoding has {} of its own; write {}", info.learned,
                    info.learned ? "no parameters" : "parameters", !info.learned));
  }
  if (is_default) json["properties"]["agree"] = !json["properties"].contains("corrections");
  if (is_preset) json["properties"].erase("corrections");
  json["passed"] = worst.error <= 1e-6 && json["causal"] && finite && (!is_default || json["properties"]["agree"]);
  return json;
}

}  // namespace posbench
