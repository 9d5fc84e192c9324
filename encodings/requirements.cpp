#include "encodings/requirements.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "encodings/registry.h"
#include "model/transformer.h"

namespace posbench::inline POSBENCH_REAL {
namespace {

bool depends_on_length(const Positions& positions) {
  return positions.depends_on_length || std::ranges::any_of(positions.members, depends_on_length);
}

/// Clears the marks of tables that depend on the length.
void clear_marks(Positions& positions) {
  positions.depends_on_length = false;
  std::ranges::for_each(positions.members, clear_marks);
}

/// A model with random parameters.
struct RandomModel {
  ParameterLayout layout;
  std::unique_ptr<PositionEncoding> encoding;
  Transformer transformer;
  Parameters parameters;

  RandomModel(const Spec& spec, const ModelConfig& config)
      : encoding(make_encoding(spec, config, layout)),
        transformer(config, layout, *encoding),
        parameters(initialize(layout, 0)) {
    Rng rng = make_rng(0, "cacheable");
    for (const ParameterLayout::Entry& entry : layout.entries()) {  // since some begin as zeros
      MatrixView values = parameters[entry.parameter];
      for (Index n = 0; n < values.size(); ++n) values.data()[n] += Real(0.1) * static_cast<Real>(normal(rng));
    }
    encoding->constrain(parameters);
  }

  void place(Sequence& s) const {
    Rng rng = make_rng(0, "cacheable");
    s.positions = encoding->positions(s, rng);
  }

  Matrix logits(Sequence s, StepCache& step) const {
    for (int t = 0; t < static_cast<int>(s.tokens.size()); ++t) s.target_positions.push_back(t);
    SequenceWorkspace workspace;
    transformer.prepare(parameters, s, step, nullptr);
    transformer.forward(parameters, s, step, nullptr, workspace);
    return workspace.logits;
  }
};

}  // namespace

const EnumNames<Cacheable>& names_of(Cacheable) {
  static const EnumNames<Cacheable> names{
      {Cacheable::yes, "yes"}, {Cacheable::rewritten, "keys are rewritten"}, {Cacheable::no, "no"}};
  return names;
}

Cacheable cacheable(const Spec& spec, const ModelConfig& config, Sequence whole) {
  const RandomModel model(spec, config);
  whole.training = false;
  whole.target_positions.clear();
  Sequence beginning = whole;
  beginning.tokens.pop_back();
  for (std::vector<int>* values : {&beginning.segments, &beginning.digit_positions})
    if (!values->empty()) values->pop_back();
  for (std::vector<int>& values : beginning.coordinates) values.pop_back();
  model.place(whole);
  model.place(beginning);
  Positions all = whole.positions, first = beginning.positions;
  clear_marks(all);
  clear_marks(first);
  if (!first.is_prefix_of(all)) return Cacheable::no;
  if (depends_on_length(whole.positions)) return Cacheable::rewritten;
  StepCache step;  // both sequences read its tables
  const Matrix of_whole = model.logits(whole, step), of_beginning = model.logits(beginning, step);
  constexpr double kRounding = 1e-4;  // sums of some encodings are grouped by the length
  const double change = (of_whole.topRows(of_beginning.rows()) - of_beginning).cwiseAbs().maxCoeff();
  return change <= kRounding * (1 + of_beginning.cwiseAbs().maxCoeff()) ? Cacheable::yes : Cacheable::no;
}

Cacheable cacheable(const Spec& spec) {
  constexpr int kTokens = 24, kSegment = 4;
  const EncodingInfo& info = encodings().find(spec.name).info;
  ModelConfig config;
  config.vocabulary = 7;
  config.layers = std::max(2, info.min_layers);
  config.heads = 4;
  config.trained_length = kTokens;
  config.longest = 2 * kTokens;
  Sequence sequence;
  sequence.tokens.resize(kTokens);
  for (int t = 0; t < kTokens; ++t) {
    sequence.tokens[static_cast<size_t>(t)] = t % config.vocabulary;
    sequence.segments.push_back(t / kSegment);
    sequence.digit_positions.push_back(t % kSegment);
  }
  return cacheable(spec, config, sequence);
}

}  // namespace posbench::inline POSBENCH_REAL
