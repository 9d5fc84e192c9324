#include "encodings/parts/decorator.h"

#include "encodings/registry.h"

namespace posbench {

std::optional<Spec> wrapped(const Spec& spec) {
  std::string base;
  for (const OptionInfo& option : encodings().find(spec.name).options) {
    if (option.name == "base" && option.type == "text") base = option.value;
  }
  if (base.empty()) return std::nullopt;
  for (const auto& [name, value] : spec.options) {
    if (name == "base") base = value;
  }
  return Spec::parse(base);
}

bool is_defined(const Spec& spec, bool causal) {
  if (const std::optional<Spec> base = wrapped(spec); base && !is_defined(*base, causal)) return false;
  return causal || !encodings().find(spec.name).info.causal_only;
}

}  // namespace posbench
