// Flushes denormal numbers, such as e^-87 times a gradient, for each of which processors need about a hundred
// cycles.
#pragma once
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>

#include "base/real.h"
#endif

namespace posbench::inline POSBENCH_REAL {

/// Makes this thread flush denormal inputs and results to zero as long as the object lives. Denormal numbers come
/// from attention to keys whose scores are far below the best; sums with them do not change.
class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) { set_control(before_ | kFlush); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { set_control(before_); }

 private:
#if defined(__SSE2__)
  static constexpr std::uint64_t kFlush = 0x8040;  // results and inputs
  static std::uint64_t control() { return _mm_getcsr(); }
  static void set_control(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = 1 << 24;  // results and inputs
  static std::uint64_t control() {
    std::uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
#error "this processor has no code that flushes denormal numbers; add it, because reports would differ without it"
#endif

  std::uint64_t before_;
};

}  // namespace posbench::inline POSBENCH_REAL
