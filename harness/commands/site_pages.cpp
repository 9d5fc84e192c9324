#include "harness/commands/site_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "encodings/aliases.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "harness/runs/questions.h"
#include "results/presentation/board_document.h"
#include "results/presentation/report_document.h"

namespace posbench {
namespace {

/// Returns the entries of the search, one for each page of a name.
std::vector<SiteEntry> site_entries(const Site& site) {
  std::vector<SiteEntry> entries;
  for (const std::string& name : site.encodings) {
    SiteEntry entry{Names::encodings, name, "encoding, " + family_of(name), aliases_of(name), ""};
    if (encodings().contains(name)) {
      const EncodingInfo& info = encodings().find(name).info;
      entry.aliases.insert(entry.aliases.end(), info.used_in.begin(), info.used_in.end());
      entry.text = info.source;
    }
    entries.push_back(std::move(entry));
  }
  for (const std::string& name : site.tasks) {
    SiteEntry entry{Names::tasks, name, "task, other", {}, ""};
    if (tasks().contains(spec_name(name))) {
      const TaskInfo& info = tasks().find(spec_name(name)).info;
      entry.about = "task, " + info.family;
      if (!info.published_name.empty()) entry.aliases.push_back(info.published_name);
      entry.text = aspects_text(info);
    }
    entries.push_back(std::move(entry));
  }
  for (const ClaimFile& file : claim_files()) {
    const std::string verdict = to_string(stored_result(file, ClaimSize::reduced).verdict);
    entries.push_back({Names::claims,
                       file.claim.name,
                       fmt::format("claim, {}: {}", verdict, file.claim.statement),
                       {},
                       file.claim.source});
  }
  return entries;
}

/// Returns the board without the plots of single tasks, which have pages of their own.
Document board_document(const BoardResults& results) {
  Document document = make_board_document(results.all, results.board, results.texts);
  document.page = [whole = document.page] {
    Page page = whole();
    std::erase_if(page.sections, [](const Section& section) {
      return !section.plots.empty() && section.plots.front().details.value("screen", false);
    });
    return page;
  };
  return document;
}

}  // namespace

Site::Site(const BoardResults& board, const NamedReport& run)
    : results(board), reference(run), encodings(posbench::encodings().names()), tasks(posbench::tasks().names()) {
  std::set<std::string> known_encodings(encodings.begin(), encodings.end()),
      known_tasks(tasks.begin(), tasks.end());
  for (const ExperimentResult& experiment : results.all.report.experiments) {
    if (known_encodings.insert(experiment.id.encoding).second) encodings.push_back(experiment.id.encoding);
    if (known_tasks.insert(experiment.id.task).second) tasks.push_back(experiment.id.task);
  }
}

std::vector<SiteFile> make_site(const Site& site, int jobs,
                                const std::function<void(size_t done, size_t total)>& on_page) {
  const BoardResults& results = site.results;
  const std::vector<SiteEntry> entries = site_entries(site);
  const SiteAddresses addresses(entries);
  const auto page = [&](const std::string& path, const Document& document) {
    return make_site_page(path, document, addresses);
  };
  std::vector<std::function<SiteFile()>> pages{
      [&] { return page("board.html", board_document(results)); },
      [&] {
        return page("reference.html", make_report_document({&site.reference, 1}, {}, page_options()));
      },
      [&] { return page("index.html", index_document(site)); },
      [&] { return page("claims.html", claims_document(addresses.from(""))); },
      [&] { return page("questions.html", questions_document()); }};
  for (const std::string& task : site.tasks) {
    pages.push_back([&] {
      return page(addresses.find(Names::tasks, task), task_document(task, results, /*measures=*/false));
    });
  }
  for (const std::string& name : site.encodings) {
    pages.push_back(
        [&] { return page(addresses.find(Names::encodings, name), encoding_document(name, results)); });
  }
  for (const ClaimFile& file : claim_files())
    pages.push_back([&] { return page(addresses.find(Names::claims, file.claim.name), claim_document(file)); });
  std::vector<SiteFile> files(pages.size());
  std::atomic<size_t> done = 0;
  parallel_for(pages.size(), jobs, [&](size_t n) {
    files[n] = pages[n]();
    if (on_page) on_page(++done, pages.size());
  });
  for (SiteFile& file : make_shared_files(entries, addresses)) files.push_back(std::move(file));
  return files;
}

}  // namespace posbench
