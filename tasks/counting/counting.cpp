// Counts the increments of a variable since it was last set to 0.
//
//   a = 0 ; pass; a ++; b = 0 ; pass; a ++; b ++; print a   ->   2
//
// Each statement is drawn with weights set : pass : increment. If no variable is set, or the chosen one is at the
// maximum, an increment is discarded and a new statement is drawn. The queried variable has been set, and a
// program that sets none is drawn again. The distance is the number of tokens from the target position back to the
// last reset of the variable.
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::counting {
namespace {

const TaskInfo kInfo{
    .name = "counting",
    .family = "counting",
    .aspects = {Aspect::counting},
    .definition =
        "The model reads a program that sets variables to 0 and increments them, and whose statements are mostly no-ops. It "
        "answers the value of one variable: its increments since its last reset.",
    .requirement = "Neither the statements before the reset nor the number of passes may change the count.",
    .source = "Golovneva et al. 2024, arXiv:2405.18719, Table 3; code facebookresearch/RAM, projects/cope",
    .published_name = "counting, with 1, 3 or 5 variables",
    .published =
        "The paper trains and tests with 1, 3 or 5 variables on 3..512 statements with weights 1 : 50 : 7 "
        "(length=3..512,pass=50), truncated from the left to 512 tokens. "
        "Here programs are shorter, with fewer passes so that they still count, and are never truncated. "
        "The released generator draws the length again if no variable was set (redraw=length), so that its "
        "programs have a mean of 279 statements; here the length is kept, which gives 257.5. "
        "Padding and start tokens are left out.",
    .length_unit = "statements",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained lengths and mixture"},
               {"ood_dense",
                {{"pass", "5"}, {"length", "3..0.47x"}},
                "as many statements that count, with fewer passes between them"},
               {"ood_sparse",
                {{"pass", "50"}, {"length", "6..2.08x"}},
                "as many statements that count, with more passes between them"},
               {"ood_length2",
                {{"length", "1x..2x"}},
                "up to twice the trained lengths, with the trained mixture"},
               {"ood_length4", {{"length", "2x..4x"}}, "up to four times the trained lengths, same mixture"}},
    .largest_answer_fraction = 0.25,
    .shortcuts = {.token = 0.36, .neighbor = 0.27, .count = 0.54},
};

enum class Redraw { program, length };

struct Options {
  Integers length{3, 64};
  int variables = 1;
  int maximum = 10;
  int set = 1, pass = 20, increment = 7;
  Redraw redraw = Redraw::program;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 100000, "statements");
    o.integer("variables", variables, 1, 5, "variables");
    o.integer("maximum", maximum, 1, 1000, "no variable is incremented beyond it");
    o.integer("set", set, 1, 10000, "weight of statements that set a variable to 0");
    o.integer("pass", pass, 0, 10000, "weight of statements that do nothing");
    o.integer("increment", increment, 0, 10000, "weight of statements that increment a variable");
    o.choice("redraw", redraw, {"program", "length"},
             "if no variable was set: draw the program again, or its length too, as the released generator does");
  }
};

class Counting final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return zero() + options_.maximum + 1; }
  double chance_level() const override { return 1.0 / (options_.maximum + 1); }
  std::string token_text(int token) const override {
    if (token < options_.variables) return std::string(1, static_cast<char>('a' + token));
    if (token >= zero()) return std::to_string(token - zero());
    static constexpr const char* kTexts[] = {"=", ";", "++;", "pass;", "print"};
    return kTexts[token - options_.variables];
  }

  Example sample(int length, Rng& rng) const override {
    Program program;
    for (bool first = true; program.set.empty(); first = false) {
      if (!first && options_.redraw == Redraw::length) length = options_.length.draw(rng);
      program = draw_program(length, rng);
    }

    const Variable queried = program.set[uniform(rng, 0, static_cast<int>(program.set.size()) - 1)];
    program.append(length, {id(kPrint)});
    const int distance = static_cast<int>(program.tokens.size()) - queried.reset;
    Example example = ask(layout_, std::move(program.tokens), queried.name, {zero() + queried.value});
    example.distances = {distance};
    example.length = length;
    set_segments(example, std::move(program.segments), length);
    return example;
  }

 private:
  enum Word { kEquals, kSemicolon, kIncrement, kPass, kPrint, kZero };

  struct Variable {
    int name, value, reset;  // reset: the position of the last set
  };
  struct Program {
    std::vector<int> tokens, segments;
    std::vector<Variable> set;  // each variable that has been set, once
    void append(int statement, const std::vector<int>& words) {
      tokens.insert(tokens.end(), words.begin(), words.end());
      segments.insert(segments.end(), words.size(), statement);
    }
  };

  int id(Word word) const { return options_.variables + word; }  // the ids below are the variables'
  int zero() const { return id(kZero); }

  Program draw_program(int length, Rng& rng) const {
    const int first_pass = options_.set, first_increment = first_pass + options_.pass;
    Program program;
    for (int statement = 0; statement < length;) {
      const int operation = uniform(rng, 0, first_increment + options_.increment - 1);
      if (operation < first_pass) {
        const Variable variable{uniform(rng, 0, options_.variables - 1), 0,
                                static_cast<int>(program.tokens.size())};
        std::erase_if(program.set, [&](const Variable& v) { return v.name == variable.name; });
        program.set.push_back(variable);
        program.append(statement++, {variable.name, id(kEquals), zero(), id(kSemicolon)});
      } else if (operation < first_increment) {
        program.append(statement++, {id(kPass)});
      } else if (!program.set.empty()) {
        Variable& variable = program.set[uniform(rng, 0, static_cast<int>(program.set.size()) - 1)];
        if (variable.value == options_.maximum) continue;
        ++variable.value;
        program.append(statement++, {variable.name, id(kIncrement)});
      }
    }
    return program;
  }
};

const RegisterTask<Counting> registered{kInfo};

}  // namespace
}  // namespace posbench::counting
