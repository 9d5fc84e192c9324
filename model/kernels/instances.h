// Declares the table of kernels of one instruction set. The sources of this folder are compiled once for each set.
#pragma once
#include "model/kernels.h"
#include "model/lanes.h"

namespace posbench::inline POSBENCH_REAL {
inline namespace POSBENCH_ISA {

void multiply_kernel(const Operand& a, const Operand& b, const Real* start, Index start_stride, Real scale,
                     Index last_diagonal, Real* result, Index stride);
void pack_kernel(const Operand& b, Real* packed);

extern const Kernels kernel_table;

}  // namespace POSBENCH_ISA
}  // namespace posbench::inline POSBENCH_REAL
