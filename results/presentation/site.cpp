#include "results/presentation/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "results/document/page_template.h"
#include "results/presentation/board_page.h"
#include "results/presentation/report_page.h"
#include "results/presentation/report_page_options.h"
#include "results/presentation/site_parts.h"

namespace posbench {
namespace {

/// Returns the tasks that the most encodings ran.
Board select_common_tasks(const Board& board) {
  size_t most = 0;
  for (const BoardTask& task : board.tasks) most = std::max(most, task.summary.encodings);
  Board common{.options = board.options, .tasks = {}};
  for (const BoardTask& task : board.tasks) {
    if (task.summary.encodings == most) common.tasks.push_back(task);
  }
  return common;
}

SitePart root_part(const SiteSource& source) { return SiteText(source, "").finish(); }

SiteFile make_board_file(const SiteSource& source) {
  const SiteContents& contents = source.contents;
  return {"board.html", make_board_page(contents.board, source.board.options, contents.texts, root_part(source))};
}

SiteFile make_reference_file(const SiteSource& source) {
  const BoardTexts& texts = source.contents.texts;
  const PageOptions options{.family = texts.family, .style = texts.style, .inspections = {}};
  return {"reference.html", make_report_page(source.contents.reference, options, root_part(source))};
}

}  // namespace

SiteFile make_submit_page(const SiteSource& source) {
  Page page{.title = "Submit your encoding"};
  SiteText text(source, "");
  text.begin_section("compare", "Compare your encoding with the board");
  text.add_paragraph(
      "Train it with the settings of the board, for example from a plug-in, and add its report to the board. 'none' lets the "
      "board estimate its cost. The first command takes 2 to 10 minutes on two cores.");
  text.add_lines(
      "posbench --plugin ./libmine.so run -e mine,none -s 8,9,10,11,12 -o runs/mine\n"
      "posbench board runs/mine --only-own\n"
      "posbench board runs/mine -o board.html");
  text.add_paragraph("An encoding that is a PyTorch module trains on the same samples:");
  text.add_lines(
      "pip install '.[torch]'\n"
      "python3 -c 'import posbench.torch as pt; help(pt.run)'");
  text.begin_section("check", "Check the report as a reviewer does");
  text.add_paragraph(
      "The build must be one that others can make: a released version, or a commit of a public branch. All experiments count: a "
      "report with some left out is refused.");
  text.add_lines(
      "posbench --version\n"
      "posbench verify runs/mine/report.json --sample 5");
  text.begin_section("submit", "Submit it");
  text.add_paragraph(
      "Write the report into results/data/submissions and open a pull request with it, one sentence on its result, the hardware "
      "and the time that it took. An encoding from outside the source tree goes with the source of its plug-in.");
  text.add_lines(
      "scripts/keep_report.py runs/mine/report.json results/data/submissions/mine-quick-0.1.0.json.gz\n"
      "posbench site --submissions results/data/submissions/mine-quick-0.1.0.json.gz -o site/");
  return {"submit.html", to_html(page, std::move(text).finish())};
}

SiteFile make_licenses_page(const SiteSource& source) {
  Page page{.title = "Licenses of Vega and D3"};
  page.notes = {
      "Vega, Copyright 2015-2022 University of Washington Interactive Data Lab, BSD-3-Clause; in it D3, Copyright "
      "2010-2022 Mike Bostock, ISC. The file files/vega.js has their code."};
  SitePart part = root_part(source);
  const size_t begin = kPageTemplate.rfind("<pre>"), end = kPageTemplate.rfind("</pre>");
  part.content = fmt::format("<pre class=\"block\" tabindex=\"0\">{}</pre>\n",
                             kPageTemplate.substr(begin + 5, end - begin - 5));
  return {"licenses.html", to_html(page, part)};
}

std::vector<SiteFile> make_site(const SiteContents& contents, int jobs,
                                const std::function<void(size_t done, size_t total)>& on_page) {
  Board board = make_board(contents.board);
  const SiteSource source{.contents = contents,
                          .addresses = SiteAddresses(contents),
                          .board = board,
                          .common = summarize_over_tasks(select_common_tasks(board)),
                          .all = summarize_over_tasks(board)};
  std::vector<std::function<SiteFile()>> pages{
      [&] { return make_board_file(source); },  [&] { return make_reference_file(source); },
      [&] { return make_index_page(source); },  [&] { return make_claims_index(source); },
      [&] { return make_submit_page(source); }, [&] { return make_licenses_page(source); }};
  for (const SiteTask& task : contents.tasks) pages.push_back([&] { return make_task_page(source, task); });
  for (const SiteEncoding& encoding : contents.encodings)
    pages.push_back([&] { return make_encoding_page(source, encoding); });
  for (const SiteClaim& claim : contents.claims) pages.push_back([&] { return make_claim_page(source, claim); });
  std::vector<SiteFile> files(pages.size());
  std::atomic<size_t> done = 0;
  parallel_for(pages.size(), jobs, [&](size_t n) {
    files[n] = pages[n]();
    if (on_page) on_page(++done, pages.size());
  });
  for (SiteFile& file : make_shared_files(source)) files.push_back(std::move(file));
  return files;
}

}  // namespace posbench
