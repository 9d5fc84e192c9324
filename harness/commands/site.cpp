// `posbench site`: a web site of all encodings, tasks and claims.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "harness/commands/commands.h"
#include "harness/commands/site_pages.h"
#include "harness/config/embedded_data.h"
#include "harness/config/user_files.h"
#include "harness/console/command.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/progress.h"
#include "harness/console/read_reports.h"
#include "harness/runs/claims.h"
#include "harness/runs/site_folder.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

struct SiteRequest {
  fs::path directory = "site";
  AddedReports submissions;
  bool force = false;
  int jobs = 0;
};

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
  const std::vector<SiteFile> files =
      make_site(site, request.jobs > 0 ? request.jobs : count_cores(),
                [&](size_t done, size_t total) { status.set_progress(done, total); });
  folder.write(files);
  status.clear();
  size_t bytes = 0;
  for (const SiteFile& file : files) bytes += file.text.size();
  print_text("{}: {} encodings, {} pages of tasks and {} claims; {:.1f} MB in {} files\n",
             (request.directory / "index.html").string(), site.encodings.size(), site.tasks.size(),
             claim_files().size(), static_cast<double>(bytes) / 1e6, files.size() + 1);
}

}  // namespace

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
