// Sets fixed cache sizes for Eigen, which splits long sums by them, so that all machines give the same bytes. They
// are set before main() in every program that links the library.
#include <Eigen/Core>

namespace posbench::inline POSBENCH_REAL {
namespace {

[[maybe_unused]] const bool fixed = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  return true;
}();

}  // namespace
}  // namespace posbench::inline POSBENCH_REAL
