#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/kernels.h"
#include "model/kernels/instances.h"

namespace posbench {

#ifdef POSBENCH_HAS_V4
namespace v4 {
extern const Kernels kernel_table;
}
#endif

namespace {

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
};

const std::vector<InstructionSet>& available() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> sets{{POSBENCH_BASELINE, &kernel_table}};
#ifdef POSBENCH_HAS_V4
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      sets.push_back({"x86-64-v4", &v4::kernel_table});
#endif
    return sets;
  }();
  return sets;
}

const InstructionSet* current = &available().back();

}  // namespace

const Kernels& kernels() { return *current->kernels; }

std::string instruction_set() { return current->name; }

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const InstructionSet& set : available()) names.push_back(set.name);
  return names;
}

void use_instruction_set(std::string_view name) {
  for (const InstructionSet& set : available()) {
    if (set.name == name || set.name == fmt::format("x86-64-{}", name)) {
      current = &set;
      return;
    }
  }
  throw InputError(fmt::format("POSBENCH_ISA is '{}'; this program can use {} on this processor", name,
                               fmt::join(instruction_sets(), " or ")));
}

}  // namespace posbench
