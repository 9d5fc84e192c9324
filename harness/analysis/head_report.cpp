#include "harness/analysis/head_report.h"

#include <cstdint>
#include <string>
#include <vector>

#include "harness/training/evaluate.h"
#include "model/block.h"

namespace posbench {
namespace {

/// Returns the scored positions of a sample as queries, and counts its answers.
std::vector<Query> count_answers(const SavedModel& saved, const PreparedSample& sample, const Matrix& logits,
                                 Index outputs, HeadReport& report) {
  const Example& example = sample.sample.example;
  std::vector<Query> queries;
  for (size_t n = 0; n < example.scored.size(); ++n) {
    Query query{.at = example.scored[n]};
    query.keys = saved.model.config.causal ? query.at + 1 : static_cast<Index>(example.tokens.size());
    if (!example.evidence.empty()) query.evidence = example.evidence[n];
    const Count count{
        score_row(logits, static_cast<Index>(n), outputs, example.candidates, sample.targets[n]).right, 1};
    report.answers += count;
    report.has_evidence |= query.evidence.has_value();
    queries.push_back(query);
  }
  return queries;
}

}  // namespace

HeadReport measure_heads(const SavedModel& saved, const std::string& split, int samples) {
  const Model& model = saved.model;
  require_attention(model.config);
  const SampleStream stream = saved.task->stream({Purpose::test, split, saved.experiment.seed});
  HeadReport report{.id = saved.experiment.id(), .split = split, .samples = samples};
  for (int layer = 0; layer < model.config.layers; ++layer) {
    for (int head = 0; model.config.has_attention(layer) && head < model.config.heads; ++head)
      report.heads.push_back({layer, head, {}});
  }
  StepCache tables;
  SequenceWorkspace activations;
  for (int n = 0; n < samples; ++n) {
    const auto index = static_cast<std::uint64_t>(n);
    const PreparedSample sample = draw_batch(stream, *model.encoding, /*training=*/false, index, 1).front();
    model.transformer->prepare(saved.parameters, sample.sequence, tables, nullptr);
    model.transformer->forward(saved.parameters, sample.sequence, tables, nullptr, activations);
    const std::vector<Query> queries =
        count_answers(saved, sample, activations.logits, stream.num_outputs(), report);
    std::vector<AttentionMap> maps;  // of the layer of the head, for all of its heads
    for (MeasuredHead& head : report.heads) {
      if (head.head == 0)
        maps =
            model.transformer->inspect(saved.parameters, sample.sequence, tables.tables, head.layer, activations);
      for (const Query& query : queries) head.statistics.add(maps, static_cast<size_t>(head.head), query);
    }
  }
  return report;
}

}  // namespace posbench
