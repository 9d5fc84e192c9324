// Tables and texts for LaTeX.
#include "results/document/latex.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/catch.h"

using namespace posbench;

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
