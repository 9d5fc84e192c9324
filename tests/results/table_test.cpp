#include "results/presentation/table.h"

#include "base/printable.h"
#include "results/presentation/report_table.h"
#include "tests/catch.h"
#include "tests/results/fixtures.h"

using namespace posbench;

namespace {

Table example() {
  return {.columns = {{"encoding"}, {"last_x_retrieval", Align::right}, {"seeds", Align::right}},
          .rows = {{"rope", "0.97", "3"}, {"cope:positions=16", {"1.00", Tone::good}, "10"}}};
}

std::string row(const std::string& text, size_t number) {
  size_t begin = 0;
  while (number-- > 0) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    longest = std::max(longest, text.find('\n', begin) - begin);
  }
  return longest;
}

}  // namespace

TEST_CASE("a console table aligns its columns and breaks long headers") {
  CHECK(console(example()) ==
        "                     last_x_\n"
        "encoding           retrieval  seeds\n"
        "-----------------------------------\n"
        "rope                    0.97      3\n"
        "cope:positions=16       1.00     10\n");
}

TEST_CASE("a console table that is too wide becomes blocks that repeat the first column") {
  CHECK(console(example(), {.width = 30}) ==
        "                     last_x_\n"
        "encoding           retrieval\n"
        "----------------------------\n"
        "rope                    0.97\n"
        "cope:positions=16       1.00\n"
        "\n"
        "encoding           seeds\n"
        "------------------------\n"
        "rope                   3\n"
        "cope:positions=16     10\n");
}

TEST_CASE("colour changes nothing but colour") {
  std::string colored = console(example(), {.color = true});
  CHECK(colored.find("\033[32m     1.00\033[0m") != colored.npos);
  for (const std::string code : {"\033[32m", "\033[0m"}) colored.erase(colored.find(code), code.size());
  CHECK(colored == console(example()));
}

TEST_CASE("columns align by characters, not by bytes") {
  const Table table{.columns = {{"name"}, {"x"}}, .rows = {{"é", "1"}, {"ab", "2"}}};
  CHECK(console(table) == "name  x\n-------\né     1\nab    2\n");
}

TEST_CASE("a table without rows still shows its header") {
  CHECK(console({.columns = {{"a"}, {"b"}}}) == "a  b\n----\n");
}

TEST_CASE("text from a file cannot drive a terminal") {
  CHECK(printable("\033[2J\x07 a\nb \xC2\x9B \xE2\x80\xAE é") == "?[2J? a?b ?? ??? é");
  CHECK(console({.columns = {{"a"}}, .rows = {{"\033[31mred"}}}) == "a\n--------\n?[31mred\n");
}

TEST_CASE("a Markdown table escapes what would be markup") {
  CHECK(markdown(example()) ==
        "| encoding | last_x_retrieval | seeds |\n"
        "| :-- | --: | --: |\n"
        "| rope | 0.97 | 3 |\n"
        "| cope:positions=16 | 1.00 | 10 |\n");
  CHECK(markdown_text("<script>alert(1)</script> a|b `c` *d* [e](f) & g\nh") ==
        "&lt;script&gt;alert(1)&lt;/script&gt; a\\|b \\`c\\` \\*d\\* \\[e\\](f) &amp; g?h");
}

TEST_CASE("CSV is quoted by RFC 4180, and a spreadsheet runs none of it as a formula") {
  const Table table{.columns = {{"a"}, {"b, c"}},
                    .rows = {{"x\"y", "two\nlines"}, {"=1+1", "@sum"}, {"-0.25", "+inf"}, {"", "cope:a=1,b=2"}}};
  CHECK(csv(table) ==
        "a,\"b, c\"\r\n"
        "\"x\"\"y\",\"two\nlines\"\r\n"
        "'=1+1,'@sum\r\n"
        "-0.25,'+inf\r\n"
        ",\"cope:a=1,b=2\"\r\n");
}

TEST_CASE("the table of a run shows accuracy in and out of distribution and marks what did not finish") {
  const Summary summary = summarize(small_report());
  CHECK(console(accuracy_table(summary)) ==
        "                       flip_\n"
        "                       flop:\n"
        "encoding            length=9    counting\n"
        "----------------------------------------\n"
        "cope:positions=16  1.00/1.00  0.50/0.47d\n"
        "rope               1.00/0.68      failed\n");
  CHECK(accuracy_notes(summary) ==
        std::vector<std::string>{
            "sequence accuracy, in distribution / out of distribution, mean over seeds and splits, rounded down",
            "d: the loss of one or more seeds diverged; they count as 0",
            "f: one or more seeds failed; they count as 0"});
}

TEST_CASE("seven encodings on seven tasks fit a hundred columns") {
  Report report = drawn_report(7, 7, 3, [](int, int, int, int) { return 0.5; });
  const char* names[] = {"selective_copy", "counting",   "flip_flop",     "last_x_retrieval",
                         "parity_check",   "even_pairs", "reverse_string"};
  for (size_t t = 0; t < 7; ++t) report.tasks[t].task = names[t];
  for (ExperimentResult& experiment : report.experiments) {
    experiment.id.task = names[experiment.id.task.back() - '0'];
    if (experiment.id.encoding == "encoding0") experiment.id.encoding = "learned_abs";
  }
  const std::string text = console(accuracy_table(summarize(report)), {.width = 100});
  CHECK(longest_line(text) <= 100);
  CHECK(text.find("\n\n") == text.npos);
  CHECK(row(text, 0) ==
        "             selective_                          last_x_    parity_      even_   reverse_");
  CHECK(row(text, 3) ==
        "learned_abs   0.50/0.50  0.50/0.50  0.50/0.50  0.50/0.50  0.50/0.50  0.50/0.50  0.50/0.50");
}

TEST_CASE("an accuracy of 1.00 is shown only if every answer is right") {
  const Report report = drawn_report(1, 1, 1, [](int, int, int split, int) { return split == 0 ? 1 : 0.999; });
  CHECK(row(console(accuracy_table(summarize(report))), 2) == "encoding0  1.00/0.99");
}

TEST_CASE("encodings are ranked from the best on") {
  const auto draw = [](int, int encoding, int, int) { return 0.5 + 0.1 * encoding; };
  const Report report = drawn_report(2, 3, 5, draw);
  CHECK(markdown(ranking_table(summarize(drawn_report(2, 1, 3, draw)))).find("1.0 (3 seeds cannot tell)") !=
        std::string::npos);
  CHECK(markdown(ranking_table(summarize(report))) ==
        "| encoding | mean rank out of distribution (95 %) | in distribution (95 %) | tasks |\n"
        "| :-- | --: | --: | --: |\n"
        "| encoding2 | 1.0 (1.0 to 1.0) | 1.0 (1.0 to 1.0) | 2 |\n"
        "| encoding1 | 2.0 (2.0 to 2.0) | 2.0 (2.0 to 2.0) | 2 |\n"
        "| encoding0 | 3.0 (3.0 to 3.0) | 3.0 (3.0 to 3.0) | 2 |\n");
}

TEST_CASE("a spreadsheet gets a row for each task, encoding and split") {
  const Table table = split_table(summarize(small_report()));
  CHECK(table.rows.size() == 8);
  const std::string text = csv(table);
  CHECK(row(text, 0) ==
        "task,encoding,split,kind,seeds,diverged,failed,sequence,sequence_low,sequence_high,token,token_low,token_"
        "high,"
        "above_trivial,solved\r");
  const std::string rope = row(text, 4);
  CHECK(rope.starts_with("flip_flop:length=9,rope,ood_far,out_of_distribution,2,0,0,0.6875,0."));
  CHECK(rope.ends_with(",0.375,0\r"));
}

TEST_CASE("what did not finish is listed with its reason") {
  CHECK(markdown(unfinished_table(small_report())) ==
        "| task | encoding | seed | status | reason |\n"
        "| :-- | :-- | --: | :-- | :-- |\n"
        "| counting | cope:positions=16 | 7 | diverged | the loss was inf |\n"
        "| counting | rope | 0 | failed | no memory for &lt;b&gt;1e9&lt;/b&gt; parameters |\n");
}
