// `posbench site`: a web site of all encodings, tasks and claims.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "encodings/aliases.h"
#include "harness/commands/commands.h"
#include "harness/commands/site_index.h"
#include "harness/config/user_files.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/console/read_reports.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "harness/runs/questions.h"
#include "harness/runs/site_folder.h"
#include "results/presentation/board_document.h"
#include "results/presentation/report_document.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

struct SiteRequest {
  fs::path directory = "site";
  AddedReports submissions;
  bool force = false;
  int jobs = 0;
};

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

/// Returns all files. Shows the number of pages that are made.
std::vector<SiteFile> make_site(const Site& site, int jobs, Progress& status) {
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
    status.set_progress(++done, pages.size());
  });
  for (SiteFile& file : make_shared_files(entries, addresses)) files.push_back(std::move(file));
  return files;
}

void write_site(const SiteRequest& request) {
  const SiteFolder folder = read_user_files([&] { return SiteFolder(request.directory, request.force); });
  const std::vector<Report> submissions = read_run_reports(request.submissions.paths);
  Progress status("reading the board");
  const std::vector<StoredReport> stored = board_reports();
  const StoredReport& reference = stored.front();
  const BoardResults results =
      read_user_files([&] { return make_board_results(merge_board(stored, request.submissions, submissions)); });
  const Site site(results, {reference.name, reference.report});
  status.set_text("making the pages");
  const std::vector<SiteFile> files = make_site(site, request.jobs > 0 ? request.jobs : count_cores(), status);
  folder.write(files);
  status.clear();
  size_t bytes = 0;
  for (const SiteFile& file : files) bytes += file.text.size();
  print_text("{}: {} encodings, {} pages of tasks and {} claims; {:.1f} MB in {} files\n",
             (request.directory / "index.html").string(), site.encodings.size(), site.tasks.size(),
             claim_files().size(), static_cast<double>(bytes) / 1e6, files.size() + 1);
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

void add_site(CommandLine& line) {
  const auto request = std::make_shared<SiteRequest>();
  Command& command = line.add(
      kResults, "site", "Write a web site of all encodings, tasks and claims, with the results of the board");
  command.folder("-o,--output", request->directory, "directory of the site, new or empty").output();
  command
      .file("--submissions", request->submissions.paths,
            "reports or run directories to add to the board, as 'posbench board' adds them")
      .default_text("none");
  command.flag("--allow-different-budget", request->submissions.allow_different_budget,
               "add submissions even if their model or training settings differ from those of the board");
  command.flag("--force", request->force,
               "replace a directory that this command wrote; its posbench-site.json lists the files");
  command.number("-j,--jobs", request->jobs, 1, 4096, "number of pages that are made at once")
      .default_text("all cores");
  command.explain(
      {{"posbench site -o site/", "then open site/index.html"},
       {"posbench site -o site/ --force", "the same again"},
       {"posbench site -o with-mine/ --submissions runs/mine", "with your own encodings on the board"}},
      {"The pages need no server and fetch nothing from elsewhere. The directory appears when all its files are "
       "written."});
  command.run([request] { write_site(*request); });
}

}  // namespace posbench
