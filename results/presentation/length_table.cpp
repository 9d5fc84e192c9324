#include "results/presentation/length_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/effective_length.h"

namespace posbench {

std::vector<TaskTable> length_tables(const Report& report, const Summary& summary) {
  std::map<ExperimentId, const ExperimentResult*> experiments;
  for (const ExperimentResult& experiment : report.experiments) experiments[experiment.id] = &experiment;
  std::vector<TaskTable> tables;
  for (const SummaryRow& row : summary.rows) {
    if (tables.empty() || tables.back().task != row.task) {
      tables.push_back({row.task, {.columns = {{"encoding"}, {"grid"}, {"seed", Align::right}}}});
      for (const double multiple : kGridMultiples)
        tables.back().table.columns.push_back({fmt::format("{}x", multiple), Align::right});
    }
    for (const auto* effective : {&row.effective_far, &row.effective_length, &row.effective_distance}) {
      if (!*effective) continue;
      const std::string& option = (*effective)->option;
      std::vector<std::vector<Cell>> rows(1 + row.seeds.size(), {row.encoding, option});
      rows[0].emplace_back("mean");
      for (size_t seed = 0; seed < row.seeds.size(); ++seed)
        rows[1 + seed].emplace_back(std::to_string(row.seeds[seed]));
      for (const double multiple : kGridMultiples) {
        double sum = 0;
        bool is_tested = true;
        for (size_t seed = 0; seed < row.seeds.size(); ++seed) {
          const std::optional<double> value =
              accuracy_at(*experiments.at({row.task, row.encoding, row.seeds[seed]}), option, multiple);
          rows[1 + seed].emplace_back(value ? accuracy_text(*value) : "-");
          sum += value.value_or(0);
          is_tested = is_tested && value;
        }
        rows[0].emplace_back(is_tested ? accuracy_text(sum / static_cast<double>(row.seeds.size())) : "-");
      }
      std::ranges::move(rows, std::back_inserter(tables.back().table.rows));
    }
  }
  std::erase_if(tables, [](const TaskTable& task) { return task.table.rows.empty(); });
  return tables;
}

}  // namespace posbench
