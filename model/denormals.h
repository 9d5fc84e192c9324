// Numbers so small that processors take a hundred cycles over each: e^-87 times a gradient is one.
#pragma once
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace posbench {

/// While it lives, this thread takes and gives 0 in place of numbers too small for a full mantissa. They come from
/// attention to keys that are far below the best, whose sums do not notice them.
class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) { set_control(before_ | kFlush); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { set_control(before_); }

 private:
#if defined(__SSE2__)
  static constexpr std::uint64_t kFlush = 0x8040;  // results, and what is read
  static std::uint64_t control() { return _mm_getcsr(); }
  static void set_control(std::uint64_t bits) { _mm_setcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = 1 << 24;  // both
  static std::uint64_t control() {
    std::uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
#error "say here how this processor flushes denormal numbers: reports would differ"
#endif

  std::uint64_t before_;
};

}  // namespace posbench
