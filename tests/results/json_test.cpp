#include "results/json/json.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "results/json/read_bytes.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;
using Catch::Matchers::StartsWith;

namespace {

Json parsed(std::string_view text) { return parse_json(text, "a.json"); }

std::string repeated(std::string_view piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// The items of the list "list" as JSON by index, and the value that remains.
struct Streamed {
  std::map<size_t, std::string> items;
  std::string rest;
};

Streamed streamed(const std::string& bytes) {
  Streamed result;
  ByteSource source(bytes, "a.json");
  const Json rest =
      read_json(source, [&](const Json& before, const std::string& key, const Json& item, size_t index) {
        CHECK(before.at("a") == 1);
        if (key == "list") result.items[index] = to_compact_json(item);
        return key == "list" || key == "junk";
      });
  result.rest = to_compact_json(rest);
  return result;
}

}  // namespace

TEST_CASE("JSON keeps the order of its keys") {
  CHECK(to_compact_json(parsed(R"({"b": 1, "a": [true, null, -2.5, "x"]})")) ==
        R"({"b":1,"a":[true,null,-2.5,"x"]})");
}

TEST_CASE("a text that is not JSON is refused with file, line and column") {
  CHECK_THROWS_WITH(parsed("{\n \"a\": NaN}"),
                    StartsWith("a.json: not JSON: parse error at line 2, column 7: syntax error"));
  CHECK_THROWS_WITH(parsed(""), StartsWith("a.json: not JSON: parse error at line 1, column 1: "));
  CHECK_THROWS_WITH(parsed("{} {}"),
                    StartsWith("a.json: not JSON: parse error at line 1, column 4: syntax error"));
  CHECK_THROWS_WITH(parsed("[\"\xff\"]"),
                    StartsWith("a.json: not JSON: parse error at line 1, column 3: syntax error"));
}

TEST_CASE("a number that no double holds is refused") {
  CHECK_THROWS_WITH(parsed("[1e999]"), "a.json: number overflow parsing '1e999'");
  CHECK(parsed("[18446744073709551615]")[0] == 18446744073709551615u);
}

TEST_CASE("a hundred megabytes of nesting are refused quickly") {
  const std::string brackets(100'000'000, '[');
  const char* message = "a.json: lists and objects nest more than 64 deep";
  CHECK_THROWS_WITH(parsed(brackets), message);
  CHECK_THROWS_WITH(parsed("{\"experiments\":" + brackets), message);
  CHECK_THROWS_WITH(parsed(repeated("{\"a\":", 1'000'000)), message);
  CHECK_NOTHROW(parsed(std::string(64, '[') + std::string(64, ']')));
  CHECK_THROWS_WITH(parsed(std::string(65, '[') + std::string(65, ']')), message);
}

TEST_CASE("an object with a duplicate key or with too many keys is refused") {
  CHECK_THROWS_WITH(parsed(R"({"a": 1, "b": 2, "a": 3})"), "a.json: an object has the key \"a\" twice");
  std::string keys = "{\"k\": 0";
  for (int i = 0; i < 10000; ++i) keys += ", \"" + std::to_string(i) + "\": 0";
  CHECK_THROWS_WITH(parsed(keys + "}"), "a.json: an object has more than 10000 keys");
}

TEST_CASE("messages stay short, and on one line, for long and odd texts") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      const Json json = parsed(text);
      const std::string file = "a.json";
      const Field field(json, file);
      field["x"].integer(0, 9);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  const std::string longest(1'000'000, 'x');
  CHECK(message("{\"x\": \"" + longest + "\"}").size() < 200);
  CHECK(message("{\"" + longest).size() < 300);
  CHECK(message("{\"x\": tr" + longest).size() < 300);
  CHECK(message(R"({"x": "a\nb\u001b[2J\u009b\u2028"})") ==
        "a.json: x is \"a\\nb\\u001b[2J?????\", expected an integer from 0 to 9");
}

TEST_CASE("a field names its file and JSON path") {
  const Json json = parsed(R"({"list": [{"a": 1}, {"a": "one", "b": 1.5, "c": -1, "d": "x\ty"}]})");
  const std::string file = "a.json";
  const Field root(json, file);
  const Field list = root["list"];
  const Field item = list[1];
  CHECK(list.size() == 2);
  CHECK_THROWS_WITH(item["z"], "a.json: list[1].z is missing");
  CHECK_THROWS_WITH(item["a"].integer(0, 9), "a.json: list[1].a is \"one\", expected an integer from 0 to 9");
  CHECK_THROWS_WITH(item["b"].integer(0, 9), "a.json: list[1].b is 1.5, expected an integer from 0 to 9");
  CHECK_THROWS_WITH(item["b"].number(0, 1), "a.json: list[1].b is 1.5, expected a number from 0 to 1");
  CHECK_THROWS_WITH(item["c"].natural(),
                    "a.json: list[1].c is -1, expected an integer from 0 to 18446744073709551615");
  CHECK_THROWS_WITH(item["c"].text(), "a.json: list[1].c is -1, expected a text");
  CHECK_THROWS_WITH(item["c"].flag(), "a.json: list[1].c is -1, expected true or false");
  CHECK_THROWS_WITH(item["d"].name(), "a.json: list[1].d is \"x\\ty\", expected a name");
  CHECK_THROWS_WITH(item["a"].choice({"two", "three"}),
                    "a.json: list[1].a is \"one\", expected one of two, three");
  CHECK_THROWS_WITH(list.object(), "a.json: list is a list, expected an object");
  CHECK_THROWS_WITH(root.size(), "a.json: the whole is an object, expected a list");
}

TEST_CASE("pretty JSON reads back, with small values on one line each") {
  const Json json =
      parsed(R"({"a": {"b": [{"c": 1, "d": {"e": [1, 2]}}, {"c": 2}]}, "f": {}, "g": [], "h": "x\"y"})");
  CHECK(parsed(to_indented_json(json)) == json);
  CHECK(to_indented_json(json) ==
        "{\n"
        " \"a\": {\n"
        "  \"b\": [\n"
        "   {\n"
        "    \"c\": 1,\n"
        "    \"d\": {\"e\":[1,2]}\n"
        "   },\n"
        "   {\"c\":2}\n"
        "  ]\n"
        " },\n"
        " \"f\": {},\n"
        " \"g\": [],\n"
        " \"h\": \"x\\\"y\"\n"
        "}\n");
}

TEST_CASE("bytes that are not UTF-8 are replaced as they are written") {
  CHECK(to_compact_json(Json{{"host", "a\xff"}}) == "{\"host\":\"a\xEF\xBF\xBD\"}");
  CHECK_NOTHROW(parsed(to_indented_json(Json{{"host", "a\xff"}})));
}

TEST_CASE("items that the callback takes are not in the result") {
  const Streamed result = streamed(
      R"({"s": "list", "a": 1, "nested": {"list": [3]}, "list": [{"x": [1, -1], "s": "]}\\\"{["} , 2, [[]]], )"
      R"("junk": [[], {}], "kept": [-1], "list2": []})");
  CHECK(result.items ==
        std::map<size_t, std::string>{{0, R"({"x":[1,-1],"s":"]}\\\"{["})"}, {1, "2"}, {2, "[[]]"}});
  CHECK(result.rest == R"({"s":"list","a":1,"nested":{"list":[3]},"list":[],"junk":[],"kept":[-1],"list2":[]})");
}

TEST_CASE("a value that is followed by a zero byte is refused, in a text and in a file") {
  const std::string message = "a.json: not JSON: it contains a zero byte";
  for (const std::string& end : {std::string(1, '\0'), std::string("\0garbage", 8), std::string(" \0{}", 4)}) {
    CHECK_THROWS_WITH(parsed("{}" + end), message);
    CHECK_THROWS_WITH(streamed(R"({"a": 1, "list": [1]})" + end), message);
  }
  CHECK_THROWS_WITH(streamed(std::string("{\"a\": 1, \0}", 11)),
                    StartsWith("a.json: not JSON: parse error at line 1"));
}

TEST_CASE("a file that breaks a rule in a streamed list gets the same message as a text") {
  const std::string many = repeated("0,", 5'000'000);
  for (const std::string& text :
       {std::string("{\"a\": 1, \"list\": [1, 2"), std::string("{\"a\": 1, \"list\": [1e999]}"),
        std::string("{\"a\": 1, \"list\": [{\"b\": 1, \"b\": 2}]}"),
        std::string("{\"a\": 1, \"list\": [{}], \"list\": [{}]}"), std::string("{\"a\": 1, \"list\": [\"\xff\"]}"),
        "{\"a\": 1,\n\"list\": [" + repeated("{},", 10'000) + "{\"b\" 1}]}",
        "{\"a\": 1, \"list\": [" + std::string(63, '[') + std::string(63, ']') + "]}",
        "{\"a\": 1, \"list\": [[" + many + "0]]}"}) {
    CAPTURE(text.substr(0, 80));
    std::string message;
    try {
      parsed(text);
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK_FALSE(message.empty());
    CHECK_THROWS_WITH(streamed(text), message);
  }
}

TEST_CASE("a file that cannot be read is named") {
  CHECK_THROWS_WITH(read_json("/nowhere/report.json"), "/nowhere/report.json: there is no such file or folder");
  CHECK_THROWS_WITH(read_json("/"), "/: is a folder, expected a file");
}

namespace {

/// Returns the text compressed by gzip.
std::string compressed(const std::string& text) {
  const TemporaryDirectory folder;
  gzFile file = gzopen((folder / "a.json").c_str(), "wb");
  for (size_t at = 0; at < text.size(); at += 1 << 20) {
    const size_t size = std::min<size_t>(1 << 20, text.size() - at);
    gzwrite(file, text.data() + at, static_cast<unsigned>(size));
  }
  gzclose(file);
  return read_whole(folder / "a.json");
}

/// Returns the message of read_json for a file with these bytes, without the file's name.
std::string refusal(const std::string& bytes) {
  const TemporaryDirectory folder;
  const std::filesystem::path path = folder.write("a.json", bytes);
  try {
    read_json(path);
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).substr(path.string().size() + 2);
  }
  return "";
}

}  // namespace

TEST_CASE("a compressed file reads like the uncompressed one") {
  const std::string text =
      R"({"a": 1, "list": [)" + repeated("{\"x\": [1, 2, 3]}, ", 200'000) + R"({"x": 0}], "b": 2})";
  const Streamed plain = streamed(text), unpacked = streamed(compressed(text));
  CHECK(refusal(text).empty());  // of several blocks
  CHECK(plain.items.size() == 200'001);
  CHECK(unpacked.items == plain.items);
  CHECK(unpacked.rest == plain.rest);
  CHECK(refusal(compressed("[1, ") + compressed("2]")).empty());        // files of gzip may be joined
  CHECK(refusal(compressed("[1]") + std::string(1000, '\0')).empty());  // and padded, as by tape archives
  CHECK_THAT(refusal(compressed("[1]") + std::string("\0[2]", 4)),
             StartsWith("its compressed data are damaged ("));
}

TEST_CASE("a compressed file that is cut off, damaged or too large is refused in a line") {
  const std::string text = "[" + repeated("1234567, ", 100000) + "0]", whole = compressed(text);
  CHECK(refusal(whole).empty());
  CHECK(refusal(whole.substr(0, whole.size() / 2)) == "its compressed data are cut off; copy the file again");
  CHECK(refusal(whole.substr(0, whole.size() - 4)) == "its compressed data are cut off; copy the file again");
  std::string damaged = whole;
  for (size_t at = whole.size() / 2; at < whole.size() - 8; ++at) damaged[at] = '\xff';
  CHECK_THAT(refusal(damaged), StartsWith("its compressed data are damaged ("));
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 5] ^= 1;
  CHECK(refusal(wrong_sum) == "its compressed data are damaged (incorrect data check); copy the file again");
}

TEST_CASE("a compressed file that unpacks to a hundred times its size is refused") {
  const std::string packed = compressed("[" + repeated("0,", 100'000'000) + "0]");
  REQUIRE(packed.size() > 170'000);
  REQUIRE(packed.size() < 300'000);
  CHECK(refusal(packed) == "unpacks to more than " + std::to_string(100 * packed.size()) +
                               " bytes, expected at most 16 MiB or 100 times its " +
                               std::to_string(packed.size()) + " bytes; if it is a report, unpack it with gunzip");
}
