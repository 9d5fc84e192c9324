#include "harness/runs/board_lookups.h"

#include <nlohmann/json.hpp>
#include <string>

#include "model/model_config.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

/// Returns the mark of a task, "control" or "open". Returns an empty text for a learnable task and for a spec with
/// options.
std::string mark_of(const std::string& task) {
  if (!tasks().contains(task)) return "";
  const Learnability learnability = tasks().find(task).info.learnability;
  return learnability == Learnability::learnable ? "" : to_string(learnability);
}

std::string recurrent_block_of(const Report& report) {
  const Json model = report.config.value("model", Json::object());
  if (!model.is_object() || !model.contains("block") || !model.at("block").is_string()) return "";
  const std::string block = model.at("block").get<std::string>();
  return is_recurrent_block(block) ? block : "";
}

}  // namespace

bool is_recurrent_block(const std::string& name) {
  for (const BlockKind block : {BlockKind::sequential, BlockKind::parallel, BlockKind::attention, BlockKind::lstm,
                                BlockKind::gated_delta}) {
    if (name == to_string(block)) return ModelConfig{.block = block}.is_recurrent();
  }
  return false;
}

BoardLookups board_lookups() { return {mark_of, recurrent_block_of}; }

}  // namespace posbench
