// The folder of a site.
#include "harness/runs/site_folder.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;
namespace fs = std::filesystem;

namespace {

const std::vector<SiteFile> kFirst{{"index.html", "one"}, {"tasks/a.html", "two"}};
const std::vector<SiteFile> kSecond{{"index.html", "three"}};

size_t count_entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a site is written into a new or an empty folder") {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "empty");
  for (const char* name : {"new/site", "empty", "slash/"}) {
    CAPTURE(name);
    SiteFolder(directory / name, false).write(kFirst);
    CHECK(read_whole(directory / name / "tasks/a.html") == "two");
    CHECK(fs::exists(directory / name / "posbench-site.json"));
  }
  CHECK(count_entries(directory / "") == 3);  // no temporary folder is left
}

TEST_CASE("a site is replaced only with force, and as a whole") {
  const TemporaryDirectory directory;
  SiteFolder(directory / "site", false).write(kFirst);
  CHECK_THROWS_WITH(SiteFolder(directory / "site", false),
                    ContainsSubstring("is not empty; choose another directory with -o"));
  SiteFolder(directory / "site", true).write(kSecond);
  CHECK(read_whole(directory / "site/index.html") == "three");
  CHECK(!fs::exists(directory / "site/tasks"));
  CHECK(count_entries(directory / "") == 1);
}

TEST_CASE("a folder with other files is refused with force too") {
  const TemporaryDirectory directory;
  const fs::path site = directory / "site";
  SiteFolder(site, false).write(kFirst);
  write_file(site / "tasks/mine.txt", "mine");
  CHECK_THROWS_WITH(SiteFolder(site, true),
                    ContainsSubstring("has the file 'tasks/mine.txt', which 'posbench site' did not write"));
  fs::remove(site / "tasks/mine.txt");
  fs::create_symlink("index.html", site / "link");
  CHECK_THROWS_WITH(SiteFolder(site, true), ContainsSubstring("has the file 'link'"));
  fs::remove(site / "link");
  write_file(site / "posbench-site.json", R"({"schema_version": 1, "written_by": "me", "files": []})");
  CHECK_THROWS_WITH(SiteFolder(site, true), ContainsSubstring("expected 'posbench site'"));
  write_file(site / "posbench-site.json", "{");
  CHECK_THROWS_AS(SiteFolder(site, true), InputError);
  fs::remove(site / "posbench-site.json");
  CHECK_THROWS_WITH(SiteFolder(site, true), ContainsSubstring("was not written by 'posbench site'"));
  CHECK(read_whole(site / "index.html") == "one");
  CHECK_THROWS_WITH(SiteFolder(site / "index.html", true), ContainsSubstring("is a file, expected a directory"));
}

TEST_CASE("a site in a folder that cannot be written is refused before its pages are made") {
  const TemporaryDirectory directory;
  const fs::path site = directory.write("file", "") / "site";
  CHECK_THROWS_WITH(SiteFolder(site, false), "cannot create '" + site.string() +
                                                 "': Not a directory; create the folder or choose another -o");
}

TEST_CASE("a link to a site is followed") {
  const TemporaryDirectory directory;
  SiteFolder(directory / "real", false).write(kFirst);
  fs::create_symlink("real", directory / "site");
  SiteFolder(directory / "site", true).write(kSecond);
  CHECK(fs::is_symlink(directory / "site"));
  CHECK(read_whole(directory / "real/index.html") == "three");
}
