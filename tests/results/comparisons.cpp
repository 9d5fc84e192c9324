#include "tests/results/comparisons.h"

#include <array>
#include <string>

#include "tests/results/fixtures.h"

namespace posbench {

Comparison compare_one(const Report& baseline, const Report& candidate, const CompareOptions& options) {
  const std::array candidates = {NamedReport{"after.json", candidate}};
  return compare({"before.json", baseline}, candidates, options);
}

Report constant_report(int encodings, int seeds, double accuracy) {
  return drawn_report(1, encodings, seeds, [&](int, int, int, int) { return accuracy; });
}

void rename_encoding(Report& report, const std::string& from, const std::string& to) {
  for (ExperimentResult& experiment : report.experiments) {
    if (experiment.id.encoding == from) experiment.id.encoding = to;
  }
}

}  // namespace posbench
