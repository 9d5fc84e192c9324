// Numbers so small that processors take a hundred cycles over each: e^-87 times a gradient is one.
#pragma once
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace posbench {

/// While it lives, this thread takes and gives 0 instead of numbers too small for a full mantissa. They come from
/// attention to keys that are far below the best, whose sums do not notice them. Elsewhere than on x86: nothing.
class FlushDenormals {
 public:
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlush); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kFlush = 0x8040;  // results, and what is read
  unsigned before_;
#else
  FlushDenormals() {}
#endif
};

}  // namespace posbench
