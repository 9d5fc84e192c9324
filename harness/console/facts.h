// States facts about encodings and tasks, as several commands show them.
#pragma once
#include <string>
#include <vector>

#include "encodings/registry.h"
#include "results/presentation/site_description.h"
#include "tasks/task.h"

namespace posbench {

/// Return the facts with their labels. Some texts are empty.
std::vector<SiteFact> encoding_facts(const EncodingInfo&);
std::vector<SiteFact> task_facts(const TaskInfo&);

/// Returns "name:" and the text in a column, wrapped on a terminal. Empty if the text is empty.
std::string fact_line(const std::string& name, const std::string& text);

/// Returns a line for each fact whose text is not empty.
std::string fact_lines(const std::vector<SiteFact>&);

/// Returns the names of the aspects that a task tests, separated by commas.
std::string aspects_text(const TaskInfo&);

}  // namespace posbench
