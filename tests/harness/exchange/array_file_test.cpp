#include "harness/exchange/array_file.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
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
void write_example(const std::filesystem::path& path) {
  ArrayWriter file(path, {{"tokens", Scalar::int32, {3, 2}}, {"logits", Scalar::float32, {3, 1, 2}}},
                   {{"manifest", "{}"}});
  for (int row = 0; row < 3; ++row) {
    file.append(0, std::vector<std::int32_t>{row, -row});
    file.append(1, std::vector<float>{0.5f * static_cast<float>(row), -1e30f});
  }
  file.finish();
}

/// The bytes of a file with this header and these numbers.
std::string file_of(const std::string& header, std::string_view numbers) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size).append(header).append(numbers);
}

std::string message(const std::string& bytes) {
  try {
    parse_arrays(bytes, "x");
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("arrays that are written in alternating pieces read back unchanged") {
  const TemporaryDirectory directory;
  const auto path = directory / "arrays";
  write_example(path);
  CHECK_FALSE(std::filesystem::exists(path.string() + ".tmp"));
  const std::string bytes = read_file(path);
  const ArrayFile file = parse_arrays(bytes, "x");
  const ArrayView &tokens = file.arrays.at("tokens"), &logits = file.arrays.at("logits");
  CHECK(file.metadata.at("manifest") == "{}");
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

TEST_CASE("a flipped bit of the numbers or the metadata of arrays is refused") {
  const TemporaryDirectory directory;
  write_example(directory / "x");
  const std::string bytes = read_file(directory / "x");
  std::vector<size_t> places{bytes.find("\"{}\"") + 1};
  for (size_t at = bytes.size() - parse_arrays(bytes, "x").numbers.size(); at < bytes.size(); ++at)
    places.push_back(at);
  for (const size_t at : places) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 2);
    CHECK(message(changed).starts_with("x: __metadata__.crc32 is \""));
  }
}

TEST_CASE("an unfinished file of arrays leaves no file") {
  const TemporaryDirectory directory;
  { ArrayWriter file(directory / "x.safetensors", {{"a", Scalar::int32, {1}}}, {}); }
  CHECK(std::filesystem::is_empty(directory / ""));
}

TEST_CASE("a file of arrays with missing or further bytes is refused in one line") {
  const TemporaryDirectory directory;
  write_example(directory / "whole");
  const std::string bytes = read_file(directory / "whole");
  CHECK(message(bytes).empty());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string text = message(bytes.substr(0, size));
    CAPTURE(size, text);
    CHECK((text.starts_with("x: ") && text.find('\n') == text.npos));
  }
  CHECK(message(bytes + '\0').ends_with("by its header; it is truncated or damaged"));
}

TEST_CASE("each type of numbers, arrays without numbers, and any order of the numbers are read") {
  const std::string numbers("\x00\x3c\x00\xc0\x01\x00\x00\x7c\x80\x3f\xff\xff", 12);
  const std::string bytes = file_of(
      R"({"bf16": {"dtype": "BF16", "shape": [1], "data_offsets": [8, 10]},
          "f16": {"dtype": "F16", "shape": [2, 2], "data_offsets": [0, 8]},
          "none": {"dtype": "F64", "shape": [2, 0], "data_offsets": [8, 8]},
          "u16": {"dtype": "U16", "shape": [], "data_offsets": [10, 12]}}  )",
      numbers);
  const ArrayFile file = parse_arrays(bytes, "x");
  const ArrayView& half = file.arrays.at("f16");
  CHECK(half.number(0) == 1);
  CHECK(half.number(1) == -2);
  CHECK(half.number(2) == std::ldexp(1, -24));
  CHECK(half.number(3) == HUGE_VAL);
  CHECK(file.arrays.at("bf16").number(0) == 1);
  CHECK(file.arrays.at("bf16").is_float());
  CHECK(file.arrays.at("u16").integer(0) == 65535);
  CHECK(file.arrays.at("none").shape == std::vector<std::int64_t>{2, 0});
}

TEST_CASE("an invalid header is refused with the position of the error") {
  const auto refused = [](const std::string& type, const std::string& shape, const std::string& place) {
    return message(file_of(R"({"a": {"dtype": ")" + type + R"(", "shape": )" + shape + R"(, "data_offsets": )" +
                               place + R"(}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [4, 6]}})",
                           "123456"));
  };
  CHECK(refused("I16", "[2]", "[0, 4]").empty());
  CHECK(refused("U8", "[5]", "[0, 5]") ==
        "x: b.data_offsets begin at 4, expected 5, the end of the array before it; it is damaged");
  CHECK(refused("I16", "[1]", "[0, 2]") ==
        "x: b.data_offsets begin at 4, expected 2, the end of the array before it; it is damaged");
  CHECK(refused("I16", "[3]", "[0, 4]") == "x: a.shape is a list, expected one for the 4 bytes of data_offsets");
  CHECK(refused("I16", "[281474976710656, 281474976710656]", "[0, 4]").starts_with("x: a.shape is a list"));
  CHECK(refused("I16", "[2]", "[4, 0]").starts_with("x: a.data_offsets is a list, expected the first byte"));
  CHECK(refused("I16", "[2]", "[4, 8]").find(" bytes, expected ") != std::string::npos);
  CHECK(refused("F8", "[4]", "[0, 4]").starts_with("x: a.dtype is \"F8\", expected one of BOOL, I8, "));
  CHECK(message(file_of(std::string("{}\0\0\0\0\0\0", 8), "")) == "x: not JSON: it contains a zero byte");
}

TEST_CASE("an .npz file is refused with the formats that remain") {
  CHECK(is_array_file("a.safetensors"));
  CHECK(is_array_file("A.SafeTensors"));
  CHECK_FALSE(is_array_file("a.json"));
  const std::string expected =
      ": .npz is no longer read or written; use .safetensors, or .jsonl for samples and answers; in Python "
      "posbench.write_arrays(new, numpy.load(old)) converts a file";
  CHECK_THROWS_WITH(is_array_file("a.NPZ"), "a.NPZ" + expected);
  CHECK(message("PK\3\4 and more") == "x" + expected);
}
