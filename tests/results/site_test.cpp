// The pages of a site of a small board.
#include "results/presentation/site.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "results/document/page_template.h"
#include "tests/catch.h"
#include "tests/results/claim_fixtures.h"
#include "tests/results/golden_board.h"

using namespace posbench;

namespace {

/// The golden board, with encodings whose names are no names of files. `reference` must outlive the contents.
SiteContents small_contents(const Report& reference) {
  SiteContents contents{.version = "posbench 1 (commit {{content}} <x>)",
                        .evidence = {},
                        .board = golden_board(),
                        .aspects = golden_aspects(),
                        .texts = {.cost_source = "a test"},
                        .reference = {"reference", reference}};
  for (const char* name : {"rope", "alibi", "cope", "Rope", "cope (runs/<mine>)", "..", "cope (runs//mine )"})
    contents.encodings.push_back({.about = {name, "rotary", "q k <sup>", "source & more", {"LLaMA"}},
                                  .aliases = {"rotary"},
                                  .facts = {{"notes", ""}, {"models", "causal"}},
                                  .options = {}});
  for (const TaskBaseline& task : contents.board.report.tasks)
    contents.tasks.push_back({.name = task.task, .family = "family", .aspects = "recall", .facts = {{"a", "b"}}});
  SiteClaim claim{.claim = {.name = "rope-fails", .statement = "rope fails on <task2>", .expected = "reproduced"},
                  .result = {.verdict = ClaimVerdict::not_comparable, .reason = "a reason"},
                  .full_claim = {},
                  .full_result = {},
                  .encodings = {"rope"},
                  .tasks = {"task2"}};
  contents.claims.push_back(claim);
  return contents;
}

std::vector<SiteFile> small_site() {
  const Report reference = golden_board().report;
  return make_site(small_contents(reference), 2);
}

std::string text_of(const std::vector<SiteFile>& files, const std::string& path) {
  const auto found = std::ranges::find(files, path, &SiteFile::path);
  return found == files.end() ? "" : found->text;
}

}  // namespace

TEST_CASE("every encoding of a site has its own file, whatever its name is") {
  std::set<std::string> paths;
  for (const SiteFile& file : small_site()) {
    CHECK(paths.insert(file.path).second);
    CHECK(file.path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
          std::string::npos);
    CHECK(file.path.find("/.") == std::string::npos);
    CHECK(!file.text.empty());
  }
  for (const char* path : {"index.html", "board.html", "reference.html", "submit.html", "licenses.html",
                           "claims.html", "encodings/rope.html", "encodings/Rope-2.html",
                           "encodings/cope--runs--mine--.html", "encodings/cope--runs--mine---2.html",
                           "encodings/-...html", "tasks/task2.html", "claims/rope-fails.html"}) {
    CAPTURE(path);
    CHECK(paths.contains(path));
  }
}

TEST_CASE("the pages of a site link encodings, tasks and claims, and escape texts") {
  const std::vector<SiteFile> files = small_site();
  const std::string index = text_of(files, "index.html"), rope = text_of(files, "encodings/rope.html"),
                    task = text_of(files, "tasks/task2.html"), claim = text_of(files, "claims/rope-fails.html");
  CHECK(index.find("<a href=\"encodings/rope.html\">rope</a>") != std::string::npos);
  CHECK(index.find("<a href=\"tasks/task2.html\">task2</a>") != std::string::npos);
  CHECK(index.find("<a href=\"claims/rope-fails.html\">rope-fails</a>") != std::string::npos);
  CHECK(index.find("{{content}} &lt;x&gt;") != std::string::npos);  // as text, and not filled in again
  CHECK(rope.find("<a href=\"../tasks/task2.html\">task2</a>") != std::string::npos);
  CHECK(rope.find("<a href=\"../claims/rope-fails.html\">rope-fails</a>") != std::string::npos);
  CHECK(rope.find("q k &lt;sup&gt;") != std::string::npos);
  CHECK(rope.find("<dt>notes</dt>") == std::string::npos);  // an empty text
  CHECK(task.find("<a href=\"../encodings/cope.html\">cope</a>") != std::string::npos);
  CHECK(claim.find("rope fails on &lt;task2&gt;") != std::string::npos);
  CHECK(claim.find("files/vega.js") == std::string::npos);  // a claim without evidence has no plot
  CHECK(rope.find("<script src=\"../files/vega.js\"></script>") != std::string::npos);
}

TEST_CASE("a site has the verdict on a claim at both sizes, with its command and plot") {
  const Report reference = golden_board().report;
  SiteContents contents = small_contents(reference);
  SiteClaim& one = contents.claims.front();
  one.claim.comparable = false;
  one.full_claim = claim({order("solves", "fails")});
  one.full_claim.name = one.claim.name;
  contents.evidence = three_encodings();
  one.full_result = judge_claims(std::vector{one.full_claim}, contents.evidence).front();
  const std::vector<SiteFile> files = make_site(contents, 2);
  const std::string page = text_of(files, "claims/rope-fails.html"), counts = text_of(files, "claims.html");
  const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != text.npos; };
  CHECK(has(page, "<dt>verdict</dt><dd>not comparable</dd>"));
  CHECK(has(page, "<dt>verdict</dt><dd>reproduced</dd>"));
  CHECK(has(page, "posbench reproduce --full rope-fails"));
  CHECK(!has(page, "posbench reproduce rope-fails"));
  CHECK(has(page, "\"title\":\"Evidence at the published size\""));
  CHECK(has(text_of(files, "index.html"), ">not comparable</td><td class=\"good\">reproduced</td>"));
  CHECK(has(counts, ">1 claims: 1 not comparable.</p>"));
  CHECK(has(counts, ">1 claims: 1 reproduced.</p>"));
  CHECK(has(counts, "\"addresses\":{\"rope-fails\":\"claims/rope-fails.html\"}"));
  one.has_one_size = true;
  CHECK(has(text_of(make_site(contents, 2), "claims/rope-fails.html"), ">Verdict at the published size<") ==
        false);
}

TEST_CASE("the index of a site shows marks, and counts no results on marked tasks") {
  const Report reference = golden_board().report;
  SiteContents contents = small_contents(reference);
  for (ExperimentResult& experiment : contents.board.report.experiments) {
    if (experiment.id.task == "task2") experiment.splits[0].sequence.correct = 0;
  }
  const std::string before = text_of(make_site(contents, 2), "index.html");
  contents.board.find_mark = [](const std::string& task) { return task == "task2" ? "open" : ""; };
  const std::string index = text_of(make_site(contents, 2), "index.html");
  const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != text.npos; };
  CHECK(has(before, ">0 of 3</td>"));
  CHECK(has(index, ">open</td>"));
  CHECK(has(index, "1 task marked control or open does not count: task2."));
  CHECK(has(index, "no setting was found at which a model with attention learns it"));
  CHECK(has(before, ">3</td><td class=\"number\">1.9x</td>"));  // the tasks and the cost of cope
  CHECK(has(index, ">2</td><td class=\"number\">1.9x</td>"));
}

TEST_CASE("a site has the libraries of its plots once") {
  const std::vector<SiteFile> files = small_site();
  const auto bytes = [&](const std::string& path) { return text_of(files, path).size(); };
  CHECK(bytes("files/vega.js") > 100'000);
  CHECK(bytes("encodings/rope.html") < 20'000);
  const std::string vega = text_of(files, "files/vega.js"), plots = text_of(files, "files/plots.js");
  CHECK(kPageTemplate.find(vega.substr(vega.find("const vega"), 100'000)) != kPageTemplate.npos);
  CHECK(plots.starts_with("\"use strict\";"));
  CHECK(plots.find("JSON.stringify({\"curve\":") != std::string::npos);
  CHECK(text_of(files, "licenses.html").find("Redistribution") != std::string::npos);
}

TEST_CASE("a site does not depend on the number of threads") {
  const Report reference = golden_board().report;
  const SiteContents contents = small_contents(reference);
  const std::vector<SiteFile> one = make_site(contents, 1), four = make_site(contents, 4);
  REQUIRE(one.size() == four.size());
  for (size_t n = 0; n < one.size(); ++n) {
    CAPTURE(one[n].path);
    CHECK(one[n].path == four[n].path);
    CHECK(one[n].text == four[n].text);
  }
}
