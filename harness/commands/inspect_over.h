// Makes the document of `posbench inspect --over N`.
#pragma once
#include <string>

#include "harness/analysis/head_report.h"
#include "results/document/document.h"

namespace posbench {

/// `unfinished_run` is a note on a run that has not finished, or empty.
Document make_head_document(HeadReport, const std::string& unfinished_run);

}  // namespace posbench
