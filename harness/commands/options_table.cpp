#include "harness/commands/options_table.h"

#include <vector>

namespace posbench {

Table options_table(const std::vector<OptionInfo>& options) {
  Table table{{{"option"}, {"default"}, {"meaning"}, {"expected"}}, {}};
  for (const OptionInfo& o : options)
    table.rows.push_back({o.name, o.value.empty() ? "-" : o.value, o.help, o.expected});
  return table;
}

}  // namespace posbench
