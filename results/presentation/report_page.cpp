#include "results/presentation/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "results/document/page_template.h"
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

PageSource make_source(const Report& report, const Summary& summary, std::span<const NamedReport> runs,
                       const PageOptions& options) {
  PageSource source{report, summary, runs, options, by_rank(summary), {}, {}};
  for (const ExperimentResult& experiment : report.experiments) {
    source.experiments[experiment.id.task][experiment.id.encoding].push_back(&experiment);
  }
  for (const TaskBaseline& task : report.tasks) {
    if (source.experiments.contains(task.task)) source.tasks.push_back(task.task);
  }
  return source;
}

/// Leaves out plots that have nothing to show, and sections without any other.
void add_sections(std::vector<Section> sections, Page& page) {
  for (Section& section : sections) {
    std::erase_if(section.plots, [](const Plot& plot) { return plot.rows.empty(); });
    if (!section.plots.empty()) page.sections.push_back(std::move(section));
  }
}

/// Returns one line with the machine and the time of a run.
std::string provenance(const NamedReport& run) {
  std::set<std::uint64_t> seeds;
  for (const ExperimentResult& experiment : run.report.experiments) seeds.insert(experiment.id.seed);
  std::string line = fmt::format("{}: {}, {}", run.name, counted(run.report.experiments.size(), "experiment"),
                                 counted(seeds.size(), "seed"));
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
  return fmt::format("{}: {} on {}, {}", names, counted(source.encodings.size(), "position encoding"),
                     counted(source.tasks.size(), "task"), counted(seeds.size(), "seed"));
}

void add_names(const PageSource& source, Page& page) {
  page.items.names = source.encodings;
  for (const std::string& encoding : source.encodings) {
    page.items.families.push_back(source.options.family ? source.options.family(encoding) : "");
    page.items.styles.push_back(source.options.style ? source.options.style(encoding)
                                                     : static_cast<int>(page.items.styles.size()));
  }
}

/// The part of a report that its page shows.
struct PagePart {
  size_t encodings = 0;      // the first in the order of the page
  bool single_seeds = true;  // with the results of each seed, in addition to those over seeds
};

/// Returns the sections of a report's page except for that of single seeds.
std::vector<Section> report_sections(const PageSource& source) {
  std::vector<Section> sections{result_section(source), effective_length_section(source), phase_section(source)};
  for (Section& section : accuracy_sections(source)) sections.push_back(std::move(section));
  for (Section& section : loss_sections(source)) sections.push_back(std::move(section));
  for (const auto make : {map_section, ranking_section, learning_section, unfinished_section, cost_section}) {
    sections.push_back(make(source));
  }
  return sections;
}

/// Removes the values of each seed, which are in the last column of a curve.
void remove_seeds(std::vector<Section>& sections) {
  for (Section& section : sections) {
    for (Plot& plot : section.plots) {
      if (std::string_view(plot.kind) != "curve") continue;
      for (Json& row : plot.rows) row.back() = Json::array();
    }
  }
}

/// Returns a note with what the page leaves out, and the commands that show it.
std::string left_out_note(const PageSource& whole, const PagePart& part, size_t max_size) {
  const size_t count = whole.encodings.size(), missing = count - part.encodings;
  const std::string run = whole.runs.size() == 1 ? whole.runs.front().name : "RUNS";
  const double megabytes = static_cast<double>(max_size) / 1e6;
  if (missing == 0) {
    return fmt::format(
        "Note: This page leaves out the results of single seeds, because it would have more than {:g} MB with them. "
        "'posbench report {} -o seeds.csv' writes them.",
        megabytes, run);
  }
  return fmt::format(
      "Note: This page leaves out {} of {} encodings, which have the worst mean ranks, and the results of single seeds, "
      "because it would have more than {:g} MB with them. 'posbench report {} -e ENCODING -o page.html' makes a page of "
      "chosen encodings, and 'posbench report {} -o seeds.csv' writes all results.",
      missing, count, megabytes, run, run);
}

/// Returns the experiments of these encodings.
Report select_encodings(const Report& report, const std::set<std::string>& encodings) {
  Report selected{.tasks = report.tasks, .timing = report.timing};
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

/// Returns a page with the names and the runs of a part of a report, and without sections.
Page begin_page(const PageSource& whole, const PageSource& source) {
  Page page{.title = page_title(whole), .items = {.tasks = source.tasks}};
  add_names(source, page);
  for (const NamedReport& run : source.runs) {
    page.notes.push_back(provenance(run));
    page.documents.push_back({fmt::format("configuration{}", page.items.runs.size()),
                              fmt::format("Configuration: {}", run.name), run.report.config});
    page.documents.push_back({fmt::format("context{}", page.items.runs.size()),
                              fmt::format("Context: {}", run.name), run.report.context});
    page.items.runs.push_back(run.name);
  }
  return page;
}

/// Makes pages of parts of one report.
class ReportPage {
 public:
  ReportPage(PageSource whole, std::span<const std::string> warnings, size_t max_size)
      : whole_(std::move(whole)), warnings_(warnings), max_size_(max_size) {}

  Page whole() const { return page(whole_, {.encodings = whole_.encodings.size()}); }

  /// Returns the page of the largest part that fits, or that of one encoding.
  std::string fitting_html() const {
    constexpr size_t kFew = 32;  // encodings whose page shows how much an encoding needs
    const size_t all = whole_.encodings.size();
    PagePart part{.encodings = std::min(all, kFew)};
    std::string page = html(part);
    if (part.encodings < all && num_fitting(page, part) >= all) page = html(part = {.encodings = all});
    if (part.encodings == all && (page.size() <= max_size_ || all == 0)) return page;
    part = {.encodings = std::min(all, kFew), .single_seeds = false};
    page = html(part);
    part.encodings = std::clamp<size_t>(num_fitting(page, part), 1, all);
    for (page = html(part); page.size() > max_size_ && part.encodings > 1; page = html(part)) {
      part.encodings = std::clamp<size_t>(num_fitting(page, part), 1, part.encodings - 1);
    }
    return page;
  }

 private:
  std::string html(const PagePart& part) const {
    if (part.encodings == whole_.encodings.size()) return to_html(page(whole_, part));
    const auto first = whole_.encodings.begin();
    const std::set<std::string> encodings(first, first + static_cast<std::ptrdiff_t>(part.encodings));
    const Report report = select_encodings(whole_.report, encodings);
    const Summary summary = select_encodings(whole_.summary, encodings);
    return to_html(page(make_source(report, summary, whole_.runs, whole_.options), part));
  }

  /// Estimates from the page of a part how many encodings fit.
  size_t num_fitting(const std::string& page, const PagePart& part) const {
    const size_t fixed = kPageTemplate.size();
    if (max_size_ < fixed) return 0;
    return (max_size_ - fixed) * part.encodings / std::max<size_t>(page.size() - fixed, 1);
  }

  Page page(const PageSource& source, const PagePart& part) const {
    Page page = begin_page(whole_, source);
    if (!part.single_seeds) page.notes.push_back(left_out_note(whole_, part, max_size_));
    for (std::string& note : memory_notes(source.report)) page.notes.push_back(std::move(note));
    for (const std::string& warning : warnings_) page.notes.push_back("Note: " + warning);
    std::vector<Section> sections = report_sections(source);
    // A page of fewer encodings with single seeds is only an estimate, for which the curves suffice.
    if (part.single_seeds && &source == &whole_) sections.push_back(seed_section(source));
    add_sections(std::move(sections), page);
    if (!part.single_seeds) remove_seeds(page.sections);
    return page;
  }

  PageSource whole_;
  std::span<const std::string> warnings_;
  size_t max_size_;
};

std::vector<Section> added_sections(const PageSource& source, AddedSections added) {
  std::vector<Section> sections;
  if (added == AddedSections::board) sections.push_back(map_section(source));
  for (Section& section : accuracy_sections(source)) sections.push_back(std::move(section));
  if (added == AddedSections::task) {
    sections.push_back(effective_length_section(source));
    sections.push_back(learning_section(source));
    return sections;
  }
  for (const auto make : {ranking_section, effective_length_section, unfinished_section, seed_section}) {
    sections.push_back(make(source));
  }
  return sections;
}

/// Adds the given sections, then those of the report.
Page complete_page(const Report& report, Page page, std::vector<Section> sections, const PageOptions& options,
                   AddedSections added) {
  const Summary summary = summarize(report);
  const NamedReport run{"all reports", report};
  const PageSource source = make_source(report, summary, {&run, 1}, options);
  page.items.tasks = source.tasks;
  add_names(source, page);
  for (Section& section : added_sections(source, added)) sections.push_back(std::move(section));
  add_sections(std::move(sections), page);
  return page;
}

}  // namespace

std::string make_report_page(const MergedReport& all, const Summary& summary, std::span<const NamedReport> runs,
                             const PageOptions& options, size_t max_size) {
  return ReportPage(make_source(all.report, summary, runs, options), all.warnings, max_size).fitting_html();
}

std::string make_report_page(std::span<const NamedReport> runs, const PageOptions& options, size_t max_size) {
  const MergedReport all = merge_reports(runs);
  return make_report_page(all, summarize(all.report), runs, options, max_size);
}

std::string make_report_page(const NamedReport& run, const Summary& summary, const PageOptions& options) {
  return make_report_page(merge_reports({&run, 1}), summary, {&run, 1}, options);
}

std::string make_report_page(const NamedReport& run, const PageOptions& options, const SitePart& site) {
  const Summary summary = summarize(run.report);
  return to_html(ReportPage(make_source(run.report, summary, {&run, 1}, options), {}, kMaxPage).whole(), site);
}

std::string make_page(const Report& report, Page page, std::vector<Section> sections, const PageOptions& options) {
  return to_html(complete_page(report, std::move(page), std::move(sections), options, AddedSections::board));
}

std::string make_page(const Report& report, Page page, std::vector<Section> sections, const PageOptions& options,
                      AddedSections added, const SitePart& site) {
  return to_html(complete_page(report, std::move(page), std::move(sections), options, added), site);
}

void make_anonymous(Report& report) {
  const auto remove_names = [](Json& context) {
    if (!context.is_object()) return;
    for (const char* key : {"host", "command"}) context.erase(key);
  };
  remove_names(report.context);
  if (const auto shards = report.context.find("shards"); shards != report.context.end())
    std::ranges::for_each(*shards, remove_names);  // the contexts of the runs that 'posbench merge' joined
}

}  // namespace posbench
