#include "encodings/registry.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/name.h"

namespace posbench::inline POSBENCH_REAL {

std::string to_string(Family family) {
  switch (family) {
    case Family::unstated:
      break;
    case Family::absolute:
      return "absolute";
    case Family::rotary:
      return "rotary";
    case Family::relative_vectors:
      return "relative vectors";
    case Family::bias_by_distance:
      return "bias by distance";
    case Family::contextual:
      return "contextual";
    case Family::two_level:
      return "two-level";
    case Family::index_remap:
      return "index remap";
    case Family::attention_variant:
      return "attention variant";
    case Family::wrapper:
      return "wrapper";
    case Family::preset:
      return "preset";
  }
  return "";
}

std::string to_string(Extrapolation extrapolation) {
  switch (extrapolation) {
    case Extrapolation::yes:
      return "yes";
    case Extrapolation::defined:
      return "defined";
    case Extrapolation::no:
      return "no";
    case Extrapolation::as_base:
      return "as its base";
  }
  return "";
}

std::string to_string(Relative relative) {
  switch (relative) {
    case Relative::yes:
      return "yes";
    case Relative::no:
      return "no";
    case Relative::nearly:
      return "nearly";
    case Relative::partly:
      return "partly";
    case Relative::accumulated:
      return "accumulated";
    case Relative::counted:
      return "counted";
    case Relative::order_of_keys:
      return "order of keys";
    case Relative::between_segments:
      return "between segments";
    case Relative::between_learned_positions:
      return "between learned positions";
    case Relative::between_predicted_positions:
      return "between predicted positions";
    case Relative::not_applicable:
      return "-";
    case Relative::as_base:
      return "as its base";
  }
  return "";
}

std::string to_string(Distinct distinct) {
  switch (distinct) {
    case Distinct::yes:
      return "yes";
    case Distinct::partly:
      return "partly";
    case Distinct::no:
      return "no";
    case Distinct::as_base:
      return "as its base";
  }
  return "";
}

std::string to_string(DistanceDecay decay) {
  switch (decay) {
    case DistanceDecay::no:
      return "no";
    case DistanceDecay::yes:
      return "yes";
    case DistanceDecay::as_base:
      return "as its base";
  }
  return "";
}

void check_info(const EncodingInfo& info) {
  if (info.name.empty()) {
    throw std::logic_error(
        fmt::format("the registration of an encoding has no name; its equation is '{}'", info.equation));
  }
  check_identifier("encoding", info.name);
  require_field("encoding", info.name, "family", info.family != Family::unstated);
  require_field("encoding", info.name, "equation", !info.equation.empty());
  require_field("encoding", info.name, "source", !info.source.empty());
}

std::vector<std::string> EncodingRegistry::names() const {
  std::vector<std::string> names = Registry::names();
  std::erase_if(names, [&](const std::string& name) { return find(name).info.family == Family::preset; });
  return names;
}

EncodingRegistry& encodings() {
  static EncodingRegistry registry;
  return registry;
}

std::unique_ptr<PositionEncoding> make_encoding(const Spec& spec, const ModelConfig& config,
                                                ParameterLayout& layout) {
  const EncodingEntry& entry = encodings().find(spec.name);
  if (entry.info.causal_only && !config.causal) {
    throw InputError(fmt::format(
        "encoding '{}' is defined for causal models only; set model.attention to causal or leave it out",
        spec.name));
  }
  if (config.is_recurrent() && !entry.info.without_attention) {
    throw InputError(fmt::format(
        "encoding '{}' acts on attention, which model.block={} does not have; use the encoding 'none' or choose "
        "another model.block",
        spec.name, to_string(config.block)));
  }
  return entry.make(spec, config, layout);
}

std::optional<Spec> wrapped(const Spec& spec) { return encodings().find(spec.name).wrapped(spec); }

Spec innermost(Spec spec) {
  while (const std::optional<Spec> base = wrapped(spec)) spec = *base;
  return spec;
}

bool is_defined(const Spec& spec, bool causal) {
  for (const Spec& member : encodings().find(spec.name).members(spec)) {
    if (!is_defined(member, causal)) return false;
  }
  return causal || !encodings().find(spec.name).info.causal_only;
}

}  // namespace posbench::inline POSBENCH_REAL
