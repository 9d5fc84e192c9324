// Provides cumulative sums over rows and over columns, and their gradients.
#pragma once
#include "model/tensor.h"

namespace posbench::inline POSBENCH_REAL {

/// Replaces every row by the sum of the rows up to it, as PyTorch's cumsum(dim=0).
void cumsum_over_rows(Out rows);
/// Replaces every row by the sum of the rows from it on: the gradient of the sums becomes that of the rows.
void cumsum_over_rows_backward(Out d_rows);

/// Replaces every column by the sum of the columns up to it, as PyTorch's cumsum(dim=1).
void cumsum_over_columns(Matrix& columns);
/// Replaces every column by the sum of the columns from it on: the gradient of the sums becomes that of the
/// columns.
void cumsum_over_columns_backward(Matrix& d_columns);

}  // namespace posbench::inline POSBENCH_REAL
