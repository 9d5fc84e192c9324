#include "results/presentation/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/presentation/page_sections.h"
#include "results/presentation/report_table.h"

namespace posbench {
namespace {

/// Returns the encodings by mean rank, best first, as in ranking_table.
std::vector<std::string> by_rank(const Summary& summary) {
  const auto mean_rank = [](const Ranking& r) {
    const std::optional<MeanRank>& rank = r.out_of_distribution ? r.out_of_distribution : r.in_distribution;
    return rank ? rank->mean : 1e9;
  };
  std::vector<Ranking> ranking = summary.ranking;
  std::stable_sort(ranking.begin(), ranking.end(),
                   [&](const Ranking& a, const Ranking& b) { return mean_rank(a) < mean_rank(b); });
  std::vector<std::string> names;
  for (const Ranking& row : ranking) names.push_back(row.encoding);
  return names;
}

void add_experiments(PageSource& source) {
  for (const ExperimentResult& experiment : source.report.experiments) {
    source.experiments[experiment.id.task][experiment.id.encoding].push_back(&experiment);
  }
  for (const TaskBaseline& task : source.report.tasks) {
    if (source.experiments.contains(task.task)) source.tasks.push_back(task.task);
  }
}

/// Leaves out plots that have nothing to show, and sections without any other.
void add_sections(const std::vector<Section>& sections, Page& page) {
  for (const Section& section : sections) {
    Section kept{section.title, section.about, {}};
    for (const Plot& plot : section.plots) {
      if (!plot.rows.empty()) kept.plots.push_back(plot);
    }
    if (!kept.plots.empty()) page.sections.push_back(std::move(kept));
  }
}

/// Returns one line with the machine and the time of a run.
std::string provenance(const NamedReport& run) {
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : run.report.experiments) seeds.insert(experiment.id.seed);
  std::string line = fmt::format("{}: {} experiments, {} {}", run.name, run.report.experiments.size(),
                                 seeds.size(), seeds.size() == 1 ? "seed" : "seeds");
  for (const char* key : {"started", "host", "cpu", "commit", "command"}) {
    const auto value = run.report.context.find(key);
    if (value == run.report.context.end() || !value->is_string()) continue;
    line += fmt::format("; {} {}", key, value->get<std::string>());
  }
  return line;
}

/// Returns "before, after: 7 position encodings on 7 tasks, 5 seeds".
std::string page_title(const PageSource& source) {
  std::string names;
  for (const NamedReport& run : source.runs) names += (names.empty() ? "" : ", ") + short_run_name(run.name);
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : source.report.experiments) seeds.insert(experiment.id.seed);
  const auto count = [](size_t n, const char* noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); };
  return fmt::format("{}: {} on {}, {}", names, count(source.encodings.size(), "position encoding"),
                     count(source.tasks.size(), "task"), count(seeds.size(), "seed"));
}

void add_names(const PageSource& source, Page& page) {
  page.names = source.encodings;
  for (const std::string& encoding : source.encodings) {
    page.families.push_back(source.options.family ? source.options.family(encoding) : "");
    page.styles.push_back(source.options.style ? source.options.style(encoding)
                                               : static_cast<int>(page.styles.size()));
  }
}

/// Returns the last component of a path.
std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

std::string make_report_page(std::span<const NamedReport> runs, const PageOptions& options) {
  const MergedReport all = merge_reports(runs);
  const Summary summary = summarize(all.report);
  PageSource source{all.report, summary, runs, options, by_rank(summary), {}, {}};
  add_experiments(source);
  Page page{.title = page_title(source), .tasks = source.tasks};
  add_names(source, page);
  for (const NamedReport& run : runs) {
    page.notes.push_back(provenance(run));
    page.documents.push_back({fmt::format("configuration{}", page.runs.size()),
                              fmt::format("Configuration: {}", run.name), run.report.config});
    page.documents.push_back(
        {fmt::format("context{}", page.runs.size()), fmt::format("Context: {}", run.name), run.report.context});
    page.runs.push_back(run.name);
  }
  for (std::string& note : memory_notes(all.report)) page.notes.push_back(std::move(note));
  for (const std::string& warning : all.warnings) page.notes.push_back("Note: " + warning);
  std::vector<Section> sections{result_section(source), phase_section(source)};
  for (Section& section : accuracy_sections(source)) sections.push_back(std::move(section));
  for (Section& section : loss_sections(source)) sections.push_back(std::move(section));
  for (const auto make : {map_section, ranking_section, threshold_section, learning_section, unfinished_section,
                          cost_section, seed_section}) {
    sections.push_back(make(source));
  }
  add_sections(sections, page);
  return to_html(page);
}

std::string make_page(const Report& report, Page page, std::vector<Section> sections, const PageOptions& options) {
  const Summary summary = summarize(report);
  const NamedReport run{"all reports", report};
  PageSource source{report, summary, std::span(&run, 1), options, by_rank(summary), {}, {}};
  add_experiments(source);
  page.tasks = source.tasks;
  add_names(source, page);
  sections.push_back(map_section(source));
  for (Section& section : accuracy_sections(source)) sections.push_back(std::move(section));
  for (const auto make : {ranking_section, threshold_section, unfinished_section, seed_section}) {
    sections.push_back(make(source));
  }
  add_sections(sections, page);
  return to_html(page);
}

void make_anonymous(Report& report) {
  report.context.erase("host");
  report.context.erase("command");
  const auto plugins = report.context.find("plugins");
  if (plugins == report.context.end() || !plugins->is_array()) return;
  for (Json& plugin : *plugins) {
    if (plugin.is_object() && plugin.contains("file") && plugin["file"].is_string())
      plugin["file"] = file_name(plugin["file"]);
  }
}

}  // namespace posbench
