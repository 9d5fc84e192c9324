#ifdef POSBENCH_HAS_V4
#include <cpuid.h>
#endif
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/kernels.h"
#include "model/kernels/instances.h"

namespace posbench::inline POSBENCH_REAL {

#ifdef POSBENCH_HAS_V4
namespace v4 {
extern const Kernels kernel_table;
}
#endif

namespace {

#ifdef POSBENCH_HAS_V4
/// Returns true if the processor has the instructions of x86-64-v4 and the operating system saves the registers
/// that they use. __builtin_cpu_supports is always false in programs that Zig links.
bool has_v4() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
  unsigned saved = 0, high = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  constexpr unsigned kVectorsAndMasks = 0xe6;  // bits 1, 2 and 5 to 7 of XCR0: XMM, YMM, masks, ZMM
  if ((saved & kVectorsAndMasks) != kVectorsAndMasks || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kNeeded = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  return (b & kNeeded) == kNeeded;
}
#endif

struct InstructionSet {
  std::string name;
  const Kernels* kernels;
};

const std::vector<InstructionSet>& available() {
  static const std::vector<InstructionSet> sets = [] {
    std::vector<InstructionSet> sets{{POSBENCH_BASELINE, &kernel_table}};
#ifdef POSBENCH_HAS_V4
    if (has_v4()) sets.push_back({"x86-64-v4", &v4::kernel_table});
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

}  // namespace posbench::inline POSBENCH_REAL
