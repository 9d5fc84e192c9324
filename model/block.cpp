#include "model/block.h"

namespace posbench {

std::unique_ptr<Block> make_block(const ModelShape& shape, const PositionEncoding& encoding, int layer,
                                  ParameterLayout& layout) {
  switch (shape.block) {
    case BlockKind::sequential:
      return make_sequential_block(shape, encoding, layer, layout);
    case BlockKind::parallel:
      return make_parallel_block(shape, encoding, layer, layout);
    case BlockKind::attention:
      return make_attention_block(shape, encoding, layer, layout);
  }
  return nullptr;
}

void keep_rows(const std::vector<int>* rows, Matrix& workspace, Matrix& x) {
  if (!rows) return;
  workspace.resize(static_cast<Index>(rows->size()), x.cols());
  gather(x, *rows, workspace);
  x = workspace;
}

void spread_rows(const std::vector<int>* rows, Index length, Matrix& workspace, Matrix& d_x) {
  if (!rows) return;
  workspace = d_x;
  d_x.resize(length, workspace.cols());
  d_x.setZero();
  scatter_add(workspace, *rows, d_x);
}

}  // namespace posbench
