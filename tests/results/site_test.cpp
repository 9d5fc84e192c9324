// Documents as HTML, and the files of a site.
#include "results/document/site.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "results/document/page_template.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Names that are no names of files, and two that differ in case.
const std::vector<SiteEntry> kEntries{{Names::encodings, "rope", "encoding, rotary", {"rotary"}, "a <source>"},
                                      {Names::encodings, "Rope", "", {}, ""},
                                      {Names::encodings, "cope (runs/<mine>)", "", {}, ""},
                                      {Names::encodings, "cope (runs//mine )", "", {}, ""},
                                      {Names::encodings, "..", "", {}, ""},
                                      {Names::tasks, "rope", "task", {}, ""},
                                      {Names::claims, "rope-fails", "claim", {}, ""}};

Document small_document() {
  const Plot plot{.kind = "dots", .title = "A plot", .about = "", .columns = {{"row", "row"}}, .rows = {{"a"}}};
  return {.title = "a & b {{content}}",
          .blocks = {Text{"A <note>."}, Heading{"Facts & more"}, Text{"q k <sup>\nline", /*is_preformatted=*/true},
                     Facts{{{"empty", ""}, {"like", "rope, größe_α:<b>", Names::encodings}}}, Text{"The tasks:"},
                     Table{{{"task", Align::left, Names::tasks}, {"mean", Align::right}},
                           {{"rope *", Cell("0.5 < 1", Tone::good)}}},
                     Heading{"Without texts"}},
          .page = [plot] {
            return Page{.sections = {{"Plots", "", {plot}}}};
          }};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every name of a site has its own file, whatever it is") {
  const SiteAddresses addresses(kEntries);
  std::set<std::string> paths;
  for (const SiteEntry& entry : kEntries) {
    const std::string path = addresses.find(entry.kind, entry.name);
    CHECK(paths.insert(path).second);
    CHECK(path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
          std::string::npos);
    CHECK(!has(path, "/."));
  }
  for (const char* path : {"encodings/rope.html", "encodings/Rope-2.html", "encodings/cope--runs--mine--.html",
                           "encodings/cope--runs--mine---2.html", "encodings/-...html", "tasks/rope.html",
                           "claims/rope-fails.html"}) {
    CAPTURE(path);
    CHECK(paths.contains(path));
  }
  CHECK(addresses.find(Names::encodings, "rope +2") == "encodings/rope.html");
  CHECK(addresses.find(Names::encodings, "alibi").empty());
}

TEST_CASE("a page of a document escapes texts, links names, and has its texts before its plots") {
  const SiteAddresses addresses(kEntries);
  const std::string page = make_site_page("tasks/a.html", small_document(), addresses).text;
  CHECK(has(page, "<title>a &amp; b {{content}}</title>"));  // as text, and not filled in again
  CHECK(has(page, "<p>A &lt;note&gt;.</p>"));
  CHECK(has(page, "<li><a href=\"#facts---more\">Facts &amp; more</a></li>"));
  CHECK(has(page, "q k &lt;sup&gt;\nline</pre>"));
  CHECK(!has(page, "<dt>empty</dt>"));
  CHECK(has(page, "<dd><a href=\"../encodings/rope.html\">rope</a>, größe_<wbr>α:<wbr>&lt;b&gt;</dd>"));
  CHECK(has(page, "<table class=\"results sortable\" aria-label=\"The tasks\">"));
  CHECK(has(page, "<th scope=\"row\"><a href=\"../tasks/rope.html\">rope *</a></th>"));
  CHECK(has(page, "<td class=\"number good\">0.5 &lt; 1</td>"));
  CHECK(!has(page, "Without texts"));
  CHECK(has(page, "<script src=\"../files/vega.js\"></script>"));
  Document without_plots = small_document();
  without_plots.page = {};
  CHECK(!has(make_site_page("a.html", without_plots, addresses).text, "files/vega.js"));
  const std::string alone = to_html(make_page(small_document()));
  CHECK(has(alone, "<th scope=\"row\">rope *</th>"));
  CHECK(has(alone, "<style>"));
}

TEST_CASE("a site has the libraries of its plots once") {
  const std::vector<SiteFile> files = make_shared_files(kEntries, SiteAddresses(kEntries));
  const auto text_of = [&](const std::string& path) {
    return std::ranges::find(files, path, &SiteFile::path)->text;
  };
  const std::string vega = text_of("files/vega.js"), plots = text_of("files/plots.js");
  CHECK(vega.size() > 100'000);
  CHECK(kPageTemplate.find(vega.substr(vega.find("const vega"), 100'000)) != kPageTemplate.npos);
  CHECK(plots.starts_with("\"use strict\";"));
  CHECK(has(plots, "JSON.stringify({\"curve\":"));
  CHECK(has(text_of("licenses.html"), "Redistribution"));
  CHECK(has(text_of("files/names.js"), "\"address\":\"encodings/rope.html\",\"aliases\":[\"rotary\"]"));
}
