#include "harness/console/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <vector>

#include "harness/console/lines.h"
#include "harness/console/split_text.h"
#include "results/document/wrap.h"

namespace posbench {

std::vector<SiteFact> encoding_facts(const EncodingInfo& info) {
  return {{"notes", info.notes},
          {"models", info.causal_only ? "causal" : "causal, bidirectional"},
          {"learned", info.learned ? "yes" : "no"},
          {"relative", to_string(info.relative)},
          {"content", info.content_dependent},
          {"extrapolates", to_string(info.extrapolates)},
          {"distinct", to_string(info.distinct)},
          {"distance decay", to_string(info.distance_decay)}};
}

std::vector<SiteFact> task_facts(const TaskInfo& info) {
  return {{"definition", info.definition},
          {"requirement", info.requirement},
          {"aspects", aspects_text(info)},
          {"learnability", learnability_text(info)},
          {"source", info.source},
          {"published as", info.published_name},
          {"published use", info.published},
          {"models", info.causal_only ? "causal" : "causal, bidirectional (answer slots)"},
          {"length unit", info.length_unit},
          {"distance unit", info.distance_unit}};
}

std::string fact_line(const std::string& name, const std::string& text) {
  constexpr size_t kColumn = 16;
  return text.empty() ? "" : fmt::format("{:<15} {}\n", name + ":", wrapped_lines(text, kColumn, list_width()));
}

std::string fact_lines(const std::vector<SiteFact>& facts) {
  std::string lines;
  for (const SiteFact& fact : facts) lines += fact_line(fact.name, fact.text);
  return lines;
}

std::string aspects_text(const TaskInfo& info) {
  std::vector<std::string> names;
  for (const Aspect aspect : info.aspects) names.push_back(to_string(aspect));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace posbench
