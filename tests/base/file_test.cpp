#include "base/file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/signals.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// Returns the lines of a file with this text. "..." marks a line without a line break.
std::vector<std::string> lines_of(const std::string& text) {
  const TemporaryDirectory folder;
  write_file(folder / "lines", text);
  std::vector<std::string> lines;
  for_each_line(folder / "lines", [&](std::string_view line, bool is_whole) {
    lines.emplace_back(line);
    if (!is_whole) lines.back() += "...";
  });
  return lines;
}

}  // namespace

TEST_CASE("a file is read line by line, and the last line may have no line break") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("one\n") == std::vector<std::string>{"one"});
  CHECK(lines_of("one\n\nthree") == std::vector<std::string>{"one", "", "three..."});
  CHECK_THROWS_AS(for_each_line("/no/such/file", [](std::string_view, bool) {}), FileError);
}

TEST_CASE("lines that end near the end of a block that is read at once, or take several blocks, are whole") {
  constexpr size_t kMebibyte = 1 << 20;
  for (const size_t size : {kMebibyte - 2, kMebibyte - 1, kMebibyte, kMebibyte + 1, 3 * kMebibyte}) {
    const std::string first(size, 'a'), second(700'000, 'b');
    CHECK(lines_of(first + "\n" + second + "\nend\n") == std::vector<std::string>{first, second, "end"});
  }
}

TEST_CASE("a file or a folder that cannot be created is refused with the path that the user gave") {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.write("file", "");
  const auto message = [](const std::filesystem::path& path, const std::string& reason) {
    return "cannot create '" + path.string() + "': " + reason + "; create the folder or choose another -o";
  };
  const std::filesystem::path missing = folder / "no/such", in_file = file / "x", shown = "given";
  CHECK_THROWS_WITH(check_output_file(missing), message(missing, "No such file or directory"));
  CHECK_THROWS_WITH(check_output_file(in_file), message(in_file, "Not a directory"));
  CHECK_THROWS_WITH(check_output_folder(in_file, shown), message(shown, "Not a directory"));
  CHECK_NOTHROW(check_output_folder(missing, shown));
  CHECK_NOTHROW(check_output_file(folder / "new"));
  CHECK_NOTHROW(check_output_file("/dev/null"));
  std::filesystem::create_symlink("no/such", folder / "link");
  CHECK_THROWS_AS(check_output_file(folder / "link"), InputError);
  if (geteuid() == 0) return;  // root may write everywhere
  std::filesystem::permissions(folder / "",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  CHECK_THROWS_WITH(check_output_file(folder / "new"), message(folder / "new", "Permission denied"));
  CHECK_THROWS_WITH(check_output_folder(missing, missing), message(missing, "Permission denied"));
  std::filesystem::permissions(folder / "", std::filesystem::perms::owner_all);
}

TEST_CASE("a file that is written again keeps its mode, its links and, with replace, a copy by links") {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.write("file", "old"), link = folder / "link";
  permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_file(file, "new");
  CHECK(status(file).permissions() == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  create_hard_link(file, link);
  for (const std::string text : {"longer than new", "", "x"}) {
    write_file(file, text);
    CHECK(read_whole(link) == text);
    OutputFile whole(file, OutputFile::Order::anywhere);
    whole.write_at(2, text);
    whole.write_at(0, "--");
    whole.finish();
    CHECK(read_whole(link) == "--" + text);
  }
  write_file(file, "replaced", OutputFile::Links::replace);
  CHECK(read_whole(link) == "--x");
  CHECK(read_whole(file) == "replaced");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 2);
}

TEST_CASE("a signal deletes the temporary file of a process that has written many files") {
  const TemporaryDirectory folder;
  const pid_t child = fork();
  if (child == 0) {
    for (int n = 0; n < 100; ++n) write_file(folder / "file", "text");
    const OutputFile unfinished(folder / "other", OutputFile::Order::sequential);
    end_by_signal(SIGTERM);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  CHECK(std::distance(std::filesystem::directory_iterator(folder / ""), {}) == 1);
}

TEST_CASE("of several that create a new folder, one does it") {
  const TemporaryDirectory folder;
  CHECK(make_new_folder(folder / "deep/new"));
  CHECK_FALSE(make_new_folder(folder / "deep/new"));
}
