#include "encodings/decorator.h"

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

}  // namespace posbench
