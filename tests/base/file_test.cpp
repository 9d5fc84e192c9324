#include "base/file.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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
