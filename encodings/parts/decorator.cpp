#include "encodings/parts/decorator.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "encodings/registry.h"

namespace posbench::inline POSBENCH_REAL {

void require_positions(const std::string& name, const std::string& base) {
  const Spec spec = Spec::parse(base);
  const bool chooses_positions = encodings().find(spec.name).chooses_positions(spec);
  const TakesPositions takes = encodings().find(innermost(spec).name).info.takes_positions;
  if (!chooses_positions && takes != TakesPositions::no) return;
  throw InputError(
      fmt::format("encoding '{}': base is '{}', which does not take its positions from outside; expected an "
                  "encoding that does, such as learned_abs, rope or alibi",
                  name, base));
}

ModelConfig with_lengths(ModelConfig config, int length) {
  config.trained_tokens = config.tokens_in_training();
  config.trained_length = config.longest = length;
  return config;
}

}  // namespace posbench::inline POSBENCH_REAL
