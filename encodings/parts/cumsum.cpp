#include "encodings/parts/cumsum.h"

namespace posbench::inline POSBENCH_REAL {

void cumsum_over_rows(Out rows) {
  for (Index t = 1; t < rows.rows(); ++t) rows.row(t) += rows.row(t - 1);
}

void cumsum_over_rows_backward(Out d_rows) {
  for (Index t = d_rows.rows() - 1; t > 0; --t) d_rows.row(t - 1) += d_rows.row(t);
}

void cumsum_over_columns(Matrix& columns) {
  for (Index h = 0; h < columns.rows(); ++h) {
    for (Index t = 1; t < columns.cols(); ++t) columns(h, t) += columns(h, t - 1);
  }
}

void cumsum_over_columns_backward(Matrix& d_columns) {
  for (Index h = 0; h < d_columns.rows(); ++h) {
    for (Index t = d_columns.cols() - 1; t > 0; --t) d_columns(h, t - 1) += d_columns(h, t);
  }
}

}  // namespace posbench::inline POSBENCH_REAL
