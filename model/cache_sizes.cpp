// Eigen cuts long sums where the caches of the machine suggest; fixed sizes give the same bytes on every machine. They
// are set before main(), for the program and for whoever links the library alike.
#include <Eigen/Core>

namespace posbench {
namespace {

[[maybe_unused]] const bool fixed = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
  return true;
}();

}  // namespace
}  // namespace posbench
