// Defines the text that must be equal in a plug-in and in the program: the hash of the public headers, and Eigen's
// layout and alignment of memory. Both contain this text. The program searches the plug-in's file for it before it
// runs any code of the plug-in.
#pragma once
#include "harness/exchange/header_hash.h"
#include "model/tensor.h"

#define POSBENCH_TEXT_OF(x) #x
#define POSBENCH_TEXT(x) POSBENCH_TEXT_OF(x)
#define POSBENCH_ABI_BEGIN "posbench-plugin-abi{"
#define POSBENCH_ABI                                                                                      \
  "posbench " POSBENCH_HEADER_VERSION ", headers " POSBENCH_HEADER_HASH                                   \
  ", Eigen " POSBENCH_TEXT(EIGEN_WORLD_VERSION) "." POSBENCH_TEXT(EIGEN_MAJOR_VERSION) "." POSBENCH_TEXT( \
      EIGEN_MINOR_VERSION) ", alignment " POSBENCH_TEXT(EIGEN_MAX_ALIGN_BYTES)
