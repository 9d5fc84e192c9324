#include "harness/exchange/array_file.h"

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// Two arrays of three rows, written row by row, alternately.
void write_example(const std::filesystem::path& path, ArrayFormat format) {
  ArrayWriter file(path, format, {{"tokens", Scalar::int32, {3, 2}}, {"logits", Scalar::float32, {3, 1, 2}}},
                   {{"manifest", "{}"}});
  for (int row = 0; row < 3; ++row) {
    file.append(0, std::vector<std::int32_t>{row, -row});
    file.append(1, std::vector<float>{0.5f * static_cast<float>(row), -1e30f});
  }
  file.finish();
}

std::string message(const std::filesystem::path& path) {
  try {
    ArrayReader reader(path);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("arrays that are written in alternating pieces read back unchanged") {
  const TemporaryDirectory directory;
  const ArrayFormat format = GENERATE(ArrayFormat::npz, ArrayFormat::safetensors);
  const auto path = directory / "arrays";
  write_example(path, format);
  CHECK_FALSE(std::filesystem::exists(path.string() + ".tmp"));
  const ArrayReader reader(path);
  const ArrayView &tokens = reader.arrays().at("tokens"), &logits = reader.arrays().at("logits");
  CHECK(tokens.shape == std::vector<std::int64_t>{3, 2});
  CHECK(logits.shape == std::vector<std::int64_t>{3, 1, 2});
  CHECK(tokens.type() == "int32");
  CHECK(logits.type() == "float32");
  for (int row = 0; row < 3; ++row) {
    CHECK(tokens.integer(2 * row) == row);
    CHECK(tokens.integer(2 * row + 1) == -row);
    CHECK(logits.number(2 * row) == 0.5 * row);
  }
}

TEST_CASE("an unfinished file of arrays leaves no file") {
  const TemporaryDirectory directory;
  { ArrayWriter file(directory / "x.npz", ArrayFormat::npz, {{"a", Scalar::int32, {1}}}); }
  CHECK(std::filesystem::is_empty(directory / ""));
}

TEST_CASE("a truncated file of arrays is refused in one line") {
  const TemporaryDirectory directory;
  const ArrayFormat format = GENERATE(ArrayFormat::npz, ArrayFormat::safetensors);
  write_example(directory / "whole", format);
  const std::string bytes = read_file(directory / "whole");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string text = message(directory.write("part", bytes.substr(0, size)));
    CAPTURE(size, text);
    CHECK((text.find("part") != text.npos && text.find('\n') == text.npos));
  }
}

TEST_CASE("a damaged number in an .npz file is found by its checksum") {
  const TemporaryDirectory directory;
  write_example(directory / "whole", ArrayFormat::npz);
  std::string bytes = read_file(directory / "whole");
  const size_t at = bytes.find(std::string_view("\x01\0\0\0\xff\xff\xff\xff", 8));
  REQUIRE(at != bytes.npos);
  bytes[at] = 2;
  CHECK(message(directory.write("x", bytes)).ends_with("x: 'tokens' is damaged: its checksum is another"));
}
