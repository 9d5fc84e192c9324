#include "encodings/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/name.h"

namespace posbench::inline POSBENCH_REAL {

const EnumNames<Family>& names_of(Family) {
  static const EnumNames<Family> names{{Family::absolute, "absolute"},
                                       {Family::rotary, "rotary"},
                                       {Family::relative_vectors, "relative vectors"},
                                       {Family::bias_by_distance, "bias by distance"},
                                       {Family::contextual, "contextual"},
                                       {Family::two_level, "two-level"},
                                       {Family::index_remap, "index remap"},
                                       {Family::attention_variant, "attention variant"},
                                       {Family::wrapper, "wrapper"},
                                       {Family::preset, "preset"}};
  return names;
}

const EnumNames<Extrapolation>& names_of(Extrapolation) {
  static const EnumNames<Extrapolation> names{{Extrapolation::yes, "yes"},
                                              {Extrapolation::defined, "defined"},
                                              {Extrapolation::no, "no"},
                                              {Extrapolation::as_base, "as its base"}};
  return names;
}

const EnumNames<Relative>& names_of(Relative) {
  static const EnumNames<Relative> names{{Relative::yes, "yes"},
                                         {Relative::no, "no"},
                                         {Relative::nearly, "nearly"},
                                         {Relative::partly, "partly"},
                                         {Relative::accumulated, "accumulated"},
                                         {Relative::counted, "counted"},
                                         {Relative::order_of_keys, "order of keys"},
                                         {Relative::between_segments, "between segments"},
                                         {Relative::between_learned_positions, "between learned positions"},
                                         {Relative::between_predicted_positions, "between predicted positions"},
                                         {Relative::not_applicable, "-"},
                                         {Relative::as_base, "as its base"}};
  return names;
}

const EnumNames<Distinct>& names_of(Distinct) {
  static const EnumNames<Distinct> names{{Distinct::yes, "yes"},
                                         {Distinct::partly, "partly"},
                                         {Distinct::no, "no"},
                                         {Distinct::as_base, "as its base"}};
  return names;
}

const EnumNames<DistanceDecay>& names_of(DistanceDecay) {
  static const EnumNames<DistanceDecay> names{
      {DistanceDecay::no, "no"}, {DistanceDecay::yes, "yes"}, {DistanceDecay::as_base, "as its base"}};
  return names;
}

const EnumNames<Kernel>& names_of(Kernel) {
  static const EnumNames<Kernel> names{{Kernel::any, "any"},
                                       {Kernel::bias, "bias by distance"},
                                       {Kernel::score_modifier, "score modifier"},
                                       {Kernel::own, "own"}};
  return names;
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
        spec.name, config.block.text()));
  }
  return entry.make(spec, config, layout);
}

std::optional<Spec> wrapped(const Spec& spec) { return encodings().find(spec.name).wrapped(spec); }

Kernel kernel_of(const Spec& spec) {
  const EncodingEntry& entry = encodings().find(spec.name);
  Kernel kernel = entry.own_kernel;
  for (const Spec& member : entry.members(spec)) kernel = std::max(kernel, kernel_of(member));
  return kernel;
}

std::string cached_values(const Spec& spec) {
  const EncodingEntry& entry = encodings().find(spec.name);
  std::vector<std::string> values;
  if (!entry.info.cached.empty()) values.push_back(entry.info.cached);
  for (const Spec& member : entry.members(spec)) {
    const std::string of_member = cached_values(member);
    if (of_member != "-" && std::ranges::find(values, of_member) == values.end()) values.push_back(of_member);
  }
  return values.empty() ? "-" : fmt::format("{}", fmt::join(values, "; "));
}

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
