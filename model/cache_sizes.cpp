// Eigen splits long sums by the machine's cache sizes; fixed sizes give the same bytes on every machine. They
// are set before main(), for the program and for every program that links the library.
#include <Eigen/Core>

namespace posbench {
namespace {

[[maybe_unused]] const bool fixed = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  return true;
}();

}  // namespace
}  // namespace posbench
