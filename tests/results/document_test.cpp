// Checks each renderer with small tables and documents.
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/printable.h"
#include "results/document/render.h"
#include "results/document/wrap.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

Table example() {
  return {.columns = {{"encoding"}, {"last_x_retrieval", Align::right}, {"seeds", Align::right}},
          .rows = {{"rope", "0.97", "3"}, {"cope:positions=16", {"1.00", Tone::good}, "10"}}};
}

/// A document with each kind of block.
Document each_block() {
  Document document{.title = "About <it>"};
  document.blocks = {Text{"a first paragraph"},
                     Facts{{{"name", "x_1"}, {"empty", ""}}},
                     Text{"y = x\n  + 1", /*is_preformatted=*/true},
                     Heading{"Numbers"},
                     example(),
                     Table{.columns = {{"none"}}},
                     Note{"a unit"},
                     Note{"a sign"}};
  return document;
}

}  // namespace

TEST_CASE("the console has the blocks of a document, without tables that have no rows") {
  CHECK(to_console_text(each_block()) ==
        "About <it>\n\na first paragraph\n\nname:           x_1\n\n    y = x\n      + 1\n\nNumbers\n\n" +
            to_console_text(example()) + "\na unit\na sign\n");
  Document wide{.blocks = {Text{"one two three four five six"}, Note{"one two three four five six"}}};
  CHECK(to_console_text(wide, {.width = 22}) ==
        "one two three four\nfive six\n\none two three four\n  five six\n");
}

TEST_CASE("Markdown, LaTeX and a page have the same blocks, escaped") {
  const std::string markdown = to_markdown(each_block());
  CHECK(markdown.starts_with("# About &lt;it&gt;\n\na first paragraph\n\n* **name**: x_1\n\n    y = x\n"));
  CHECK(markdown.ends_with("\n## Numbers\n\n" + to_markdown(example()) + "\na unit\n\na sign\n"));
  const std::string latex = to_latex(each_block());
  CHECK(latex.starts_with("% About <it>\n% a first paragraph\n\n% name: x_1\n\n% y = x\n%   + 1\n"));
  CHECK(latex.ends_with("% Numbers\n\n" + to_latex(example()) + "\n% a unit\n% a sign\n"));
  const std::string page = to_html(each_block());
  CHECK(page.find("<title>About &lt;it&gt;</title>") != page.npos);
  CHECK(page.find("<p class=\"about\">a unit</p>\n<p class=\"about\">a sign</p>") != page.npos);
}

TEST_CASE("a document without forms of its own has its texts and tables as JSON, and its only table as CSV") {
  const Json json = Json::parse(to_json_text(each_block()));
  CHECK(json["texts"] == Json{"a first paragraph", "y = x\n  + 1", "Numbers", "a unit", "a sign"});
  CHECK(json["facts"][0]["value"] == "x_1");
  Document document{.title = "t", .blocks = {example()}};
  CHECK(Json::parse(to_json_text(document))["tables"][0][1]["encoding"] == "cope:positions=16");
  CHECK(to_csv(document) == to_csv(example()));
  document.blocks.emplace_back(example());
  CHECK_THROWS_WITH(to_csv(document), ContainsSubstring("has no rows for csv; use --format console"));
  document.rows = [] { return Table{.columns = {{"long"}}}; };
  document.json = [] { return Json{{"items", Json::array()}, {"more", 1}}; };
  document.json_list = JsonList{"items", 2, [](size_t n) { return Json{{"n", n}, {"list", {1}}}; }};
  CHECK(to_csv(document) == "long\r\n");
  CHECK(Json::parse(to_json_text(document)) ==
        Json::parse(R"({"items": [{"n": 0, "list": [1]}, {"n": 1, "list": [1]}], "more": 1})"));
}

TEST_CASE("a grouped table that is too wide has a table for each name") {
  Table table{
      .columns = {{"task"}, {"encoding"}, {"split"}, {"accuracy", Align::right}},
      .rows = {{"copy", "rope", "far", "0.5"}, {"copy", "cope", "far", "1"}, {"copy", "rope", "near", "0.75"}},
      .naming = 3,
      .is_grouped = true};
  CHECK(to_console_text(table, {.width = 20}) ==
        "copy, rope\n"
        "split  accuracy\n"
        "---------------\n"
        "far         0.5\n"
        "near       0.75\n"
        "\n"
        "copy, cope\n"
        "split  accuracy\n"
        "---------------\n"
        "far           1\n");
  CHECK(to_console_text(table, {.width = 80}) == to_console_text(table));
}

TEST_CASE("Markdown hides the folded rows of a table") {
  Table table{.columns = {{"a"}}, .rows = {{"1"}, {"2"}}, .folded = "1 same", .first_folded = 1};
  const std::string head = "| a |\n| :-- |\n";
  CHECK(to_markdown(table) ==
        head + "| 1 |\n\n<details><summary>1 same</summary>\n\n" + head + "| 2 |\n\n</details>\n");
  table.first_folded = 2;
  CHECK(to_markdown(table) == head + "| 1 |\n| 2 |\n");
}

TEST_CASE("a console table aligns its columns and breaks long headers") {
  CHECK(to_console_text(example()) ==
        "                     last_x_\n"
        "encoding           retrieval  seeds\n"
        "-----------------------------------\n"
        "rope                    0.97      3\n"
        "cope:positions=16       1.00     10\n");
}

TEST_CASE("each block of a wide table repeats all columns that name its rows") {
  Table table{.columns = {{"size"}, {"encoding"}, {"ms/step", Align::right}, {"tokens/s", Align::right}},
              .rows = {{"tiny", "rope", "1.25", "3200"}},
              .naming = 2};
  CHECK(to_console_text(table, {.width = 30}) ==
        "size  encoding  ms/step\n"
        "-----------------------\n"
        "tiny  rope         1.25\n"
        "\n"
        "size  encoding  tokens/s\n"
        "------------------------\n"
        "tiny  rope          3200\n");
}

TEST_CASE("a wide cell is broken at every space, also between parentheses") {
  const Table table{.columns = {{"name"}, {"about"}},
                    .rows = {{"a", "a number (of all 12 tasks) in [0, 1) or so"}}};
  CHECK(to_console_text(table, {.width = 30}) ==
        "name  about\n"
        "----------------------------\n"
        "a     a number (of all 12\n"
        "      tasks) in [0, 1) or so\n");
}

TEST_CASE("colour changes nothing but colour") {
  std::string colored = to_console_text(example(), {.color = true});
  CHECK(colored.find("\033[32m     1.00\033[0m") != colored.npos);
  for (const std::string code : {"\033[32m", "\033[0m"}) colored.erase(colored.find(code), code.size());
  CHECK(colored == to_console_text(example()));
}

TEST_CASE("columns align by the columns of a terminal, of which a wide character has two") {
  CHECK(display_width("é模a") == 4);
  const Table table{.columns = {{"name"}, {"x"}}, .rows = {{"é", "1"}, {"模型", "2"}, {"模é", "3"}}};
  CHECK(to_console_text(table) == "name  x\n-------\né     1\n模型  2\n模é   3\n");
}

TEST_CASE("a table without rows still shows its header") {
  CHECK(to_console_text({.columns = {{"a"}, {"b"}}}) == "a  b\n----\n");
}

TEST_CASE("text from a file cannot drive a terminal") {
  CHECK(to_printable("\033[2J\x07 a\nb \xC2\x9B \u202e\u2069 é") == "?[2J? a?b ?? ?????? é");
  CHECK(to_console_text({.columns = {{"a"}}, .rows = {{"\033[31mred"}}}) == "a\n--------\n?[31mred\n");
}

TEST_CASE("a Markdown table escapes what would be markup") {
  CHECK(to_markdown(example()) ==
        "| encoding | last_x_retrieval | seeds |\n"
        "| :-- | --: | --: |\n"
        "| rope | 0.97 | 3 |\n"
        "| cope:positions=16 | 1.00 | 10 |\n");
  CHECK(escape_markdown("<script>alert(1)</script> a|b `c` *d* [e](f) & g\nh") ==
        "&lt;script&gt;alert(1)&lt;/script&gt; a\\|b \\`c\\` \\*d\\* \\[e\\](f) &amp; g?h");
  CHECK(escape_markdown("_mine_ flip_flop (_x_) a__b") == "\\_mine\\_ flip_flop (\\_x\\_) a__b");
}

TEST_CASE("CSV is quoted by RFC 4180, and a spreadsheet runs none of it as a formula") {
  const Table table{.columns = {{"a"}, {"b, c"}},
                    .rows = {{"x\"y", "two\nlines"}, {"=1+1", "@sum"}, {"-0.25", "+inf"}, {"", "cope:a=1,b=2"}}};
  CHECK(to_csv(table) ==
        "a,\"b, c\"\r\n"
        "\"x\"\"y\",\"two\nlines\"\r\n"
        "'=1+1,'@sum\r\n"
        "-0.25,'+inf\r\n"
        ",\"cope:a=1,b=2\"\r\n");
}

TEST_CASE("no character of a text is a command of LaTeX") {
  CHECK(escape_latex(R"(a_b & 50 % of $x$ {y} #1 ~ ^ \begin)") ==
        R"(a\_b \& 50 \% of \$x\$ \{y\} \#1 \textasciitilde{} \textasciicircum{} \textbackslash{}begin)");
  CHECK(escape_latex("cope -> rope, >=16x, <=0.1, <1x, a|b, --list") ==
        R"(cope $\to$ rope, $\ge$16x, $\le$0.1, $<$1x, a\textbar{}b, -{}-list)");
  CHECK(escape_latex("-0.10 (-0.2 to +0.3), ±0.1, mid-2, a-b") ==
        R"($-$0.10 ($-$0.2 to +0.3), $\pm$0.1, mid-2, a-b)");
  CHECK(escape_latex("one\ntwo\x1b[31m") == "one?two?[31m");
}

TEST_CASE("a table of LaTeX has the rules of booktabs, intervals, and the best tier in bold") {
  const Table table{{{"tier"}, {"encoding"}, {"out_of_distribution (95 %)", Align::right}},
                    {{Cell{"1", Tone::good}, Cell{"cope", Tone::good}, Cell{"0.97 (0.90 to 0.99)", Tone::good}},
                     {"[2]", "rope & alibi", "-0.10"}}};
  CHECK(to_latex(table) ==
        "% needs \\usepackage{booktabs}\n"
        "\\begin{tabular}{llr}\n"
        "\\toprule\n"
        "tier & encoding & out\\_of\\_distribution (95 \\%) \\\\\n"
        "\\midrule\n"
        "\\textbf{1} & \\textbf{cope} & \\textbf{0.97 (0.90 to 0.99)} \\\\\n"
        "{}[2] & rope \\& alibi & $-$0.10 \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n");
}

TEST_CASE("a column of long texts breaks its lines in LaTeX") {
  const Table table{{{"claim"}, {"statement"}}, {{"a", std::string(41, 'x')}, {"b", "y"}}};
  CHECK(to_latex(table).find("\\begin{tabular}{lp{0.4\\textwidth}}\n") != std::string::npos);
}

TEST_CASE("writes a document with a table of every character to the path POSBENCH_WRITE_LATEX", "[.write_latex]") {
  const char* path = std::getenv("POSBENCH_WRITE_LATEX");
  REQUIRE(path != nullptr);
  std::string all;
  for (char c = ' '; c <= '~'; ++c) all += c;
  const Table table{{{"*" + all}, {all, Align::right}}, {{"[" + all, {all, Tone::good}}, {"*", all}}};
  std::ofstream(path) << "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
                      << to_latex(table) << "\n"
                      << escape_latex(all) << "\n\\end{document}\n";
}
