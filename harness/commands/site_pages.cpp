#include "harness/commands/site_pages.h"

#include <fmt/format.h>

#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "encodings/aliases.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "results/presentation/board_page.h"
#include "results/presentation/report_page.h"
#include "results/presentation/report_page_options.h"

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

/// Returns the experiments and the baselines of one task.
Report select_task(const Report& report, const std::string& task) {
  Report one;
  for (const TaskBaseline& baseline : report.tasks) {
    if (baseline.task == task) one.tasks.push_back(baseline);
  }
  for (const ExperimentResult& experiment : report.experiments) {
    if (experiment.id.task == task) one.experiments.push_back(experiment);
  }
  return one;
}

PageOptions page_options() { return {.family = family_of, .style = style_of, .inspections = {}}; }

/// Returns the page of a task: its document, then plots of all results on it.
SiteFile make_task_page(const Site& site, const std::string& task, const SiteAddresses& addresses) {
  const std::string path = addresses.find(Names::tasks, task), root = site_root(path);
  const Document document = task_document(task, site.results, /*measures=*/false);
  const Report report = select_task(site.results.all.report, task);
  if (report.experiments.empty()) return make_site_page(path, document, addresses);
  return {path, make_page(report, make_page(document, addresses.from(root)), {}, page_options(),
                          AddedSections::task, {root})};
}

Document submit_document() {
  return {
      .title = "Submit your encoding",
      .blocks = {
          Heading{"Compare your encoding with the board", "compare"},
          Text{
              "Train it with the settings of the board, for example from a plug-in, and add its report to the board. 'none' "
              "lets the board estimate its cost. The first command takes 2 to 10 minutes on two cores."},
          Text{"posbench --plugin ./libmine.so run -e mine,none -s 8,9,10,11,12 -o runs/mine\n"
               "posbench board runs/mine --only-own\n"
               "posbench board runs/mine -o board.html",
               /*is_preformatted=*/true},
          Text{"An encoding that is a PyTorch module trains on the same samples:"},
          Text{"pip install '.[torch]'\n"
               "python3 -c 'import posbench.torch as pt; help(pt.run)'",
               /*is_preformatted=*/true},
          Heading{"Check the report as a reviewer does", "check"},
          Text{
              "The build must be one that others can make: a released version, or a commit of a public branch. All experiments "
              "count: a report with some left out is refused."},
          Text{"posbench --version\n"
               "posbench check runs/mine/report.json --sample 5",
               /*is_preformatted=*/true},
          Heading{"Submit it", "submit"},
          Text{
              "Write the report into results/data/submissions and open a pull request with it, one sentence on its result, the "
              "hardware and the time that it took. An encoding from outside the source tree goes with the source of its "
              "plug-in."},
          Text{"scripts/keep_report.py runs/mine/report.json results/data/submissions/mine-quick-0.1.0.json.gz\n"
               "posbench site --submissions results/data/submissions/mine-quick-0.1.0.json.gz -o site/",
               /*is_preformatted=*/true}}};
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
      [&]() -> SiteFile {
        return {"board.html", make_board_page(results.all, results.board.options, results.texts, SitePart{})};
      },
      [&]() -> SiteFile {
        return {"reference.html", make_report_page(site.reference, page_options(), SitePart{})};
      },
      [&] { return page("index.html", index_document(site)); },
      [&] { return page("claims.html", claims_document(addresses.from(""))); },
      [&] { return page("submit.html", submit_document()); }};
  for (const std::string& task : site.tasks)
    pages.push_back([&] { return make_task_page(site, task, addresses); });
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
