// What must be equal in a plug-in and in the program: the public headers, byte for byte, and how Eigen lays out and
// aligns memory. Both compile this text; the program searches the plug-in's file for it, without running any of its
// code.
#pragma once
#include "harness/runs/header_hash.h"
#include "model/tensor.h"

#define POSBENCH_TEXT_OF(x) #x
#define POSBENCH_TEXT(x) POSBENCH_TEXT_OF(x)
#define POSBENCH_ABI_BEGIN "posbench-plugin-abi{"
#define POSBENCH_ABI                                                                                                    \
  "posbench " POSBENCH_HEADER_VERSION ", headers " POSBENCH_HEADER_HASH ", Eigen " POSBENCH_TEXT(EIGEN_WORLD_VERSION) "." \
  POSBENCH_TEXT(EIGEN_MAJOR_VERSION) "." POSBENCH_TEXT(EIGEN_MINOR_VERSION)                                             \
  ", alignment " POSBENCH_TEXT(EIGEN_MAX_ALIGN_BYTES)
