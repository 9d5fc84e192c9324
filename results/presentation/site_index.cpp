// Makes the index of a site, and the names that its search finds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/document/page.h"
#include "results/document/page_template.h"
#include "results/document/site_template.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/claims_text.h"
#include "results/presentation/over_tasks_text.h"
#include "results/presentation/site_parts.h"

namespace posbench {
namespace {

/// The number of tasks of an encoding, and its cost.
struct BoardCounts {
  int tasks = 0, learned = 0, in_first_tier = 0;
  std::string cost;
};

/// Returns the counts of each encoding. Marked tasks do not count.
std::map<std::string, BoardCounts> count_tasks(const Board& board) {
  std::map<std::string, BoardCounts> counts;
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : task.rows) {
      BoardCounts& count = counts[row.encoding];
      count.cost = cost_text(row);
      if (!task.mark.empty()) continue;
      ++count.tasks;
      count.learned += row.status != BoardStatus::not_learned ? 1 : 0;
      count.in_first_tier += row.tier == 1 ? 1 : 0;
    }
  }
  return counts;
}

std::map<std::string, std::string> interquartile_means(const OverTasks& over) {
  std::map<std::string, std::string> means;
  for (const OverTasksRow& row : over.rows) means[row.encoding] = estimate_text(row.interquartile_mean);
  return means;
}

/// Returns the encodings with the highest interquartile mean first, then those without one.
std::vector<const SiteEncoding*> sort_encodings(const SiteSource& source) {
  std::map<std::string, size_t> places;
  for (const OverTasksRow& row : source.common.rows) places.emplace(row.encoding, places.size());
  std::vector<const SiteEncoding*> sorted;
  for (const SiteEncoding& encoding : source.contents.encodings) sorted.push_back(&encoding);
  std::ranges::stable_sort(sorted, {}, [&](const SiteEncoding* encoding) {
    const auto found = places.find(encoding->about.name);
    return found == places.end() ? places.size() : found->second;
  });
  return sorted;
}

SiteTable encodings_table(const SiteSource& source) {
  Table table{{{"encoding"},
               {"family"},
               {fmt::format("over {} tasks (95 %)", source.common.tasks.size()), Align::right},
               {fmt::format("over {} tasks (95 %)", source.all.tasks.size()), Align::right},
               {"tier 1 on", Align::right},
               {"learned", Align::right},
               {"tasks", Align::right},
               {"cost", Align::right},
               {"claims", Align::right},
               {"also called"}},
              {}};
  const std::map<std::string, BoardCounts> counts = count_tasks(source.board);
  const auto common = interquartile_means(source.common), all = interquartile_means(source.all);
  const auto or_dash = [](const auto& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string("-") : found->second;
  };
  for (const SiteEncoding* encoding : sort_encodings(source)) {
    const std::string& name = encoding->about.name;
    const auto found = counts.find(name);
    const BoardCounts count = found == counts.end() ? BoardCounts{} : found->second;
    const auto claims = std::ranges::count_if(source.contents.claims, [&](const SiteClaim& claim) {
      return std::ranges::find(claim.encodings, name) != claim.encodings.end();
    });
    table.rows.push_back({name, encoding->about.family, or_dash(common, name), or_dash(all, name),
                          fmt::format("{}", count.in_first_tier), fmt::format("{}", count.learned),
                          fmt::format("{}", count.tasks), count.cost.empty() ? "-" : count.cost,
                          fmt::format("{}", claims), fmt::format("{}", fmt::join(encoding->aliases, ", "))});
  }
  return {std::move(table), {{0, Named::encoding}}};
}

std::vector<std::string> encodings_notes(const SiteSource& source) {
  std::vector<std::string> notes{fmt::format(
      "over {} tasks: the interquartile mean of the sequence accuracy out of distribution, on the tasks that all or most "
      "encodings ran: {}. In brackets, 95 % by resampling seeds. The next column has the same over all {} tasks that an "
      "encoding of the board has learned, for encodings that ran all of them.",
      source.common.tasks.size(), fmt::format("{}", fmt::join(source.common.tasks, ", ")),
      source.all.tasks.size())};
  notes.emplace_back(
      "tier 1 on: tasks on which the seeds cannot tell the encoding from the best. learned: tasks on which at least half of the "
      "seeds learn the training distribution. tasks: tasks that it ran. cost: core time of a training step; plain attention "
      "has 1.");
  const std::vector<std::string> marked = marked_tasks(source.board);
  if (!marked.empty()) notes.push_back(marked_text(marked));
  return notes;
}

SiteTable tasks_table(const SiteSource& source) {
  Table table{{{"task"},
               {"family"},
               {"aspects"},
               {"learned by", Align::right},
               {"0.90 or more", Align::right},
               {"best encoding"},
               {"its accuracy", Align::right},
               {"published as"}},
              {}};
  for (const SiteTask& task : source.contents.tasks) {
    const auto found = std::ranges::find(source.board.tasks, task.name, &BoardTask::task);
    std::vector<Cell> cells{task.name, task.family, task.aspects.empty() ? "-" : task.aspects};
    if (found == source.board.tasks.end()) {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    } else {
      const BoardTaskSummary& summary = found->summary;
      cells.insert(cells.end(), {learned_by_text(*found), fmt::format("{}", summary.keep.size()),
                                 summary.best ? name_text(*summary.best) : "-",
                                 summary.best ? accuracy_text(summary.best->mean) : "-"});
    }
    cells.emplace_back(fmt::format("{}", fmt::join(task.aliases, ", ")));
    table.rows.push_back(std::move(cells));
  }
  return {std::move(table), {{0, Named::task}, {5, Named::encoding}}};
}

std::string claim_counts(const SiteSource& source) {
  std::vector<Claim> claims;
  std::vector<ClaimResult> results;
  for (const SiteClaim& claim : source.contents.claims) {
    claims.push_back(claim.claim);
    results.push_back(claim.result);
  }
  return fmt::format("Verdicts of the stored runs: {}. Kinds: {}.", claim_notes(claims, results).front(),
                     claim_kinds(claims));
}

/// Returns an entry of the search.
Json search_entry(const std::string& name, const std::string& kind, const std::string& address,
                  std::vector<std::string> aliases, const std::string& text) {
  return {{"name", name}, {"kind", kind}, {"address", address}, {"aliases", std::move(aliases)}, {"text", text}};
}

Json search_entries(const SiteSource& source) {
  Json entries = Json::array();
  for (const SiteEncoding& encoding : source.contents.encodings) {
    std::vector<std::string> aliases = encoding.aliases;
    aliases.insert(aliases.end(), encoding.about.used_in.begin(), encoding.about.used_in.end());
    const std::string& name = encoding.about.name;
    entries.push_back(search_entry(name, fmt::format("encoding, {}", encoding.about.family),
                                   source.addresses.find(Named::encoding, name), std::move(aliases),
                                   encoding.about.source));
  }
  for (const SiteTask& task : source.contents.tasks)
    entries.push_back(search_entry(task.name, fmt::format("task, {}", task.family),
                                   source.addresses.find(Named::task, task.name), task.aliases, task.aspects));
  for (const SiteClaim& claim : source.contents.claims) {
    const std::string verdict = to_string(claim.result.verdict);
    entries.push_back(search_entry(claim.claim.name, fmt::format("claim, {}: {}", verdict, claim.claim.statement),
                                   source.addresses.find(Named::claim, claim.claim.name), {}, claim.claim.source));
  }
  return entries;
}

/// Returns the part of the page between two texts. Throws std::logic_error if it is missing.
std::string_view find_part(std::string_view begin, std::string_view end) {
  const size_t at = kPageTemplate.find(begin);
  if (at == kPageTemplate.npos) throw std::logic_error(fmt::format("the page has no '{}'", begin));
  const std::string_view rest = kPageTemplate.substr(at + begin.size());
  return rest.substr(0, rest.find(end));
}

}  // namespace

SiteTable claim_rows(const std::vector<const SiteClaim*>& claims) {
  Table table{{{"claim"}, {"verdict"}, {"published size"}, {"statement"}, {"kind"}, {"predicted"}}, {}};
  for (const SiteClaim* one : claims) {
    table.rows.push_back({one->claim.name, verdict_cell(one->result.verdict),
                          verdict_cell(one->full_result.verdict), one->claim.statement, to_string(one->claim.kind),
                          one->claim.expected});
  }
  return {std::move(table), {{0, Named::claim}}};
}

SiteFile make_index_page(const SiteSource& source) {
  const SiteContents& contents = source.contents;
  Page page{.title = "posbench: position encodings of transformers"};
  page.notes = {fmt::format(
      "This site has a page for each of {} position encodings, {} synthetic tasks or tasks with options, and {} claims. "
      "The board has the results of small transformers with {} of the encodings on {} of the tasks. {}",
      contents.encodings.size(), contents.tasks.size(), contents.claims.size(), count_tasks(source.board).size(),
      source.board.tasks.size(), contents.version)};
  SiteText text(source, "");
  text.begin_section("encodings", "Encodings");
  text.add_table("Encodings", encodings_table(source));
  for (const std::string& note : encodings_notes(source)) text.add_paragraph(note);
  text.begin_section("tasks", "Tasks");
  text.add_table("Tasks", tasks_table(source));
  text.add_paragraph(
      "learned by: encodings of which at least half of the seeds learn the training distribution. 0.90 or more, best "
      "encoding: of those, by the sequence accuracy out of distribution.");
  if (!marked_tasks(source.board).empty()) text.add_paragraph(kAboutMarks);
  text.begin_section("claims", "Claims");
  std::vector<const SiteClaim*> claims;
  for (const SiteClaim& claim : contents.claims) claims.push_back(&claim);
  text.add_table("Claims", claim_rows(claims));
  text.add_paragraph(
      claim_counts(source) +
      " The column 'published size' has the verdicts on models of the published size. The page Claims, above, counts the "
      "verdicts by family, and has plots of the published and the found values.");
  for (const std::string& warning : contents.board.warnings) page.notes.push_back("Note: " + warning);
  return {"index.html", to_html(page, std::move(text).finish())};
}

std::vector<SiteFile> make_shared_files(const SiteSource& source) {
  const std::string_view specifications =
      find_part("<script type=\"application/json\" id=\"specifications\">", "</script>");
  const std::string_view vega = find_part("<script>// Vega", "</script>");
  const std::string_view script = find_part("<script>\"use strict\";", "</script>");
  return {
      {"files/site.css", fmt::format("{}{}", find_part("<style>\n", "</style>"), kSiteStyle)},
      {"files/vega.js", fmt::format("// licenses.html has the licenses of Vega and D3.\n{}\n",
                                    vega.substr(vega.find("const vega")))},
      {"files/plots.js", fmt::format("\"use strict\";\n{{\nconst node = document.createElement(\"script\");\n"
                                     "node.type = \"application/json\";\nnode.id = \"specifications\";\n"
                                     "node.textContent = JSON.stringify({});\ndocument.body.append(node);\n}}\n{}",
                                     specifications, script)},
      {"files/site.js", std::string(kSiteScript)},
      {"files/names.js", fmt::format("const posbench_names = {};\n", to_script_json(search_entries(source)))}};
}

}  // namespace posbench
