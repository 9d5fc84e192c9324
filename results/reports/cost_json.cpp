#include "results/reports/cost_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace posbench {

MeasuredCosts read_costs(const Json& json, const std::string& file) {
  constexpr double kLeast = 1e-3, kGreatest = 1e6;
  const Field root(json, file);
  const Field list = root["benchmarks"], context = root["context"];
  MeasuredCosts measured;
  std::string first;
  list.each([&](const Field& item) {
    const std::string size =
        fmt::format("size {}, length {}", item["size"].text(), item["length"].integer(1, 1'000'000'000));
    if (first.empty()) first = size;
    if (size == first) measured.costs[item["encoding"].name()] = item["relative_cost"].number(kLeast, kGreatest);
  });
  if (measured.costs.empty()) list.fail("expected one measurement or more");
  measured.source = fmt::format("posbench bench, {}, on {} ({})", first, context["cpu"].text(),
                                context["instruction_set"].text());
  return measured;
}

}  // namespace posbench
