// Makes the document of a report: the tables of its accuracies, their notes and its page.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/document/document.h"
#include "results/presentation/report_page_options.h"
#include "results/statistics/summary.h"
#include "results/types/metric.h"
#include "results/types/report.h"

namespace posbench {

/// The part of a report that its tables show. CSV, JSON and the page have every metric and split.
struct ReportChoice {
  Metric metric = Metric::sequence;
  bool by_split = false;      // a table for each task, with a column for each split
  bool separation = false;    // the tasks that separate encodings, instead of accuracies
  std::string order = "run";  // of the encodings: run, name or accuracy
};

/// Returns the document of one run, or of several next to each other. The reports must outlive it. Throws
/// InputError if the runs cannot be shown together.
Document make_report_document(std::span<const NamedReport>, const ReportChoice& = {}, const PageOptions& = {});

/// Returns the accuracies of a finished run, their notes, and the experiments that did not finish.
Document make_accuracy_document(const SummarizedReport&);

}  // namespace posbench
