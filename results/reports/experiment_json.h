// The JSON of a finished experiment, written and read.
#pragma once
#include <string>
#include <vector>

#include "results/json/json.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// The accuracies and Wilson intervals in the JSON are for readers without this code: they are not read back.
Json to_json(const ExperimentResult&);
/// `file` is the prefix of messages: "experiments.jsonl:12". Throws std::runtime_error.
ExperimentResult experiment_from_json(const Json&, const std::string& file);

ExperimentResult read_experiment(const Field&);
/// The same, faster, but its messages have no JSON path.
ExperimentResult read_experiment(const simdjson::dom::element&);

Json to_json(const Swept&);
Json to_json(const Extended&);
Json to_json(const CurvePoint&);
std::vector<CurvePoint> read_curve(const Field&);
Json to_json(const RateResult&);
std::vector<RateResult> read_rates(const Field&);
SplitKind read_kind(const Field&);

}  // namespace posbench
