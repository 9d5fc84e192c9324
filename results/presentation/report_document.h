// Makes the document of a report: the tables of its accuracies, their notes and its page.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "results/document/document.h"
#include "results/presentation/report_page.h"
#include "results/statistics/summary.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// The part of a report that its tables show. CSV and JSON have every metric and split.
struct ReportChoice {
  Metric metric = Metric::sequence;
  bool by_split = false;    // a table for each task, with a column for each split
  bool by_length = false;   // a table for each task, with the accuracy at each multiple of the trained length
  bool separation = false;  // the tasks that separate encodings, instead of accuracies
};

/// Returns the document of one run, or of several next to each other, whose summary may be known. The reports must
/// outlive it. Throws InputError if the runs cannot be shown together.
Document make_report_document(std::span<const NamedReport>, const ReportChoice& = {}, const PageOptions& = {},
                              std::optional<Summary> = {});

/// Returns the accuracies of a finished run, their notes, and the experiments that did not finish.
Document make_accuracy_document(const SummarizedReport&);

}  // namespace posbench
