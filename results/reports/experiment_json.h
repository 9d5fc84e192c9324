// Writes and reads the JSON of a finished experiment.
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "results/json/json.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Adds accuracies and Wilson intervals for other programs. Readers check that they follow from the counts.
Json to_json(const ExperimentResult&);
/// Reads an experiment. `file` is the prefix of messages: "experiments.jsonl:12". Throws InputError.
ExperimentResult experiment_from_json(const Json&, const std::string& file);

ExperimentResult read_experiment(const Field&);

Json to_json(const Swept&);
Json to_json(const Extended&);
Json to_json(const CurvePoint&);
std::vector<CurvePoint> read_curve(const Field&);
Json to_json(const RateResult&);
std::vector<RateResult> read_rates(const Field&);

/// Refuses a list with two items that have the same `key`.
template <class T>
void check_unique(const Field& list, const std::vector<T>& items, const char* key, std::string T::*member,
                  const char* what) {
  std::set<std::string> names;
  for (size_t i = 0; i < items.size(); ++i) {
    if (names.insert(items[i].*member).second) continue;
    const Field item = list[i];
    item[key].fail(what);
  }
}

}  // namespace posbench
