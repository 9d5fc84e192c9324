#include "encodings/parts/decorator.h"

#include <fmt/format.h>

#include "encodings/registry.h"

namespace posbench {

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

void require_positions(const std::string& name, const std::string& base) {
  bool draws = false;
  for (const auto& [option, value] : innermost(Spec::parse(base)).options)
    draws = draws || (option == "bi_data" && value == "true");
  for (std::optional<Spec> spec = Spec::parse(base); spec; spec = wrapped(*spec)) {
    draws = draws || spec->name == "randomized" || spec->name == "random_offset" || spec->name == "random_float";
  }
  const EncodingInfo& info = encodings().find(innermost(Spec::parse(base)).name).info;
  if (!draws && info.takes_positions != TakesPositions::no) return;
  throw std::invalid_argument(fmt::format(
      "encoding '{}': base is '{}', which does not take its positions from outside; expected an encoding "
      "of the families absolute, relative vectors, bias by distance or rotary ('posbench list encodings' "
      "shows them)",
      name, base));
}

ModelShape with_lengths(ModelShape shape, int length) {
  shape.trained_length = shape.longest = length;
  return shape;
}

}  // namespace posbench
