#include "results/presentation/report_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/presentation/page_sections.h"
#include "results/presentation/report_table.h"

namespace posbench {
namespace {

/// Returns the encodings in the order of ranking_table.
std::vector<std::string> by_rank(const Summary& summary) {
  std::vector<std::string> names;
  for (const Ranking& row : sort_by_rank(summary.ranking)) names.push_back(row.encoding);
  return names;
}

PageSource make_source(const Report& report, const Summary& summary) {
  PageSource source{report, summary, by_rank(summary), {}, {}};
  for (const ExperimentResult& experiment : report.experiments) {
    source.experiments[experiment.id.task][experiment.id.encoding].push_back(&experiment);
  }
  for (const TaskBaseline& task : report.tasks) {
    if (source.experiments.contains(task.task)) source.tasks.push_back(task.task);
  }
  return source;
}

/// Returns "5 seeds".
std::string seeds_text(const Report& report) {
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : report.experiments) seeds.insert(experiment.id.seed);
  return counted(seeds.size(), "seed");
}

/// Returns one line with the machine and the time of a run.
std::string provenance(const NamedReport& run) {
  std::string line = fmt::format("{}: {}, {}", run.name, counted(run.report.experiments.size(), "experiment"),
                                 seeds_text(run.report));
  for (const char* key : {"started", "host", "cpu", "commit", "command"}) {
    const auto value = run.report.context.find(key);
    if (value == run.report.context.end() || !value->is_string()) continue;
    line += fmt::format("; {} {}", key, value->get<std::string>());
  }
  return line;
}

/// Returns "before, after: 7 position encodings on 7 tasks, 5 seeds".
std::string page_title(const PageSource& source, std::span<const NamedReport> runs) {
  std::vector<std::string> names;
  for (const NamedReport& run : runs) names.push_back(short_run_name(run.name));
  return fmt::format("{}: {} on {}, {}", fmt::join(names, ", "),
                     counted(source.encodings.size(), "position encoding"), counted(source.tasks.size(), "task"),
                     seeds_text(source.report));
}

void add_names(const PageSource& source, const PageOptions& options, Page& page) {
  page.items.tasks = source.tasks;
  page.items.names = source.encodings;
  for (const std::string& encoding : source.encodings) {
    page.items.families.push_back(options.family ? options.family(encoding) : "");
    page.items.styles.push_back(options.style ? options.style(encoding)
                                              : static_cast<int>(page.items.styles.size()));
  }
}

/// Returns the first encodings in the order of the page, as many as have at most this number of experiments, and
/// at least one.
std::set<std::string> fitting_encodings(const PageSource& source, size_t most) {
  std::set<std::string> fitting;
  size_t experiments = 0;
  for (const std::string& encoding : source.encodings) {
    for (const auto& [task, of_task] : source.experiments) {
      if (const auto found = of_task.find(encoding); found != of_task.end()) experiments += found->second.size();
    }
    if (experiments > most && !fitting.empty()) break;
    fitting.insert(encoding);
  }
  return fitting;
}

/// Returns the experiments of these encodings.
Report select_encodings(const Report& report, const std::set<std::string>& encodings) {
  Report selected{.tasks = report.tasks};
  for (const ExperimentResult& experiment : report.experiments) {
    if (encodings.contains(experiment.id.encoding)) selected.experiments.push_back(experiment);
  }
  return selected;
}

/// Returns the rows of these encodings, with their ranks among all encodings.
Summary select_encodings(Summary summary, const std::set<std::string>& encodings) {
  const auto is_left_out = [&](const auto& row) { return !encodings.contains(row.encoding); };
  std::erase_if(summary.rows, is_left_out);
  std::erase_if(summary.ranking, is_left_out);
  return summary;
}

void add_report_sections(const PageSource& source, Page& page) {
  for (const auto make :
       {multiple_section, effective_length_section, phase_section, length_section, distance_section, loss_section,
        position_section, map_section, ranking_section, learning_section})
    page.sections.push_back(make(source));
}

}  // namespace

Page make_report_page(const MergedReport& all, const Summary& summary, std::span<const NamedReport> runs,
                      const PageOptions& options, size_t most) {
  const PageSource whole = make_source(all.report, summary);
  Page page{.title = page_title(whole, runs)};
  for (const NamedReport& run : runs) {
    page.notes.push_back(provenance(run));
    for (const auto& [name, json] : {std::pair<const char*, const Json&>("Configuration", run.report.config),
                                     std::pair<const char*, const Json&>("Context", run.report.context)})
      page.documents.push_back({fmt::format("{}{}", lower_case(name), page.documents.size() / 2),
                                fmt::format("{}: {}", name, run.name), json});
  }
  const std::set<std::string> fitting = fitting_encodings(whole, most);
  if (fitting.size() == whole.encodings.size()) {
    add_names(whole, options, page);
    add_report_sections(whole, page);
    return page;
  }
  page.notes.push_back(fmt::format(
      "Note: The plots leave out {} of {} encodings, which have the worst mean ranks, because more than {} experiments make a "
      "page too large. 'posbench report {} -e ENCODING -o page.html' makes a page of chosen encodings.",
      whole.encodings.size() - fitting.size(), whole.encodings.size(), most,
      runs.size() == 1 ? runs.front().name : "RUNS"));
  const Report report = select_encodings(all.report, fitting);
  const Summary part = select_encodings(summary, fitting);
  const PageSource source = make_source(report, part);
  add_names(source, options, page);
  add_report_sections(source, page);
  return page;
}

void add_report_plots(const Report& report, const PageOptions& options, AddedSections added, Page& page) {
  const Summary summary = summarize(report);
  const PageSource source = make_source(report, summary);
  add_names(source, options, page);
  if (added == AddedSections::board) page.sections.push_back(map_section(source));
  for (const auto make : {multiple_section, length_section, distance_section})
    page.sections.push_back(make(source));
  if (added == AddedSections::board) page.sections.push_back(ranking_section(source));
  page.sections.push_back(effective_length_section(source));
  if (added == AddedSections::task) page.sections.push_back(learning_section(source));
}

}  // namespace posbench
