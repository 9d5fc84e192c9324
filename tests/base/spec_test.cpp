#include "base/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/name.h"
#include "base/options.h"
#include "base/random.h"
#include "base/registry.h"
#include "tests/catch.h"

using namespace posbench;

TEST_CASE("a spec reads back as it was written") {
  for (const char* text :
       {"cope", "cope:positions=16,gates=values", "randomized:base=(rope:theta=500000,scale=2),max=2048",
        "interpolated:base=(rope:theta=5)"}) {
    CHECK(Spec::parse(text).text() == text);
  }
  const Spec nested = Spec::parse("randomized:base=(rope:theta=5),max=9");
  CHECK(nested.options.at(0).second == "rope:theta=5");
}

TEST_CASE("every spec that is accepted reads back the same, alone and in a list") {
  constexpr std::string_view kCharacters = "ab=,:() ";
  Rng rng = make_rng(1, "specs");
  int accepted = 0;
  for (int n = 0; n < 30000; ++n) {
    std::string text = "x:k=";
    for (int size = uniform(rng, 0, 12); size > 0; --size) text += kCharacters.at(uniform(rng, 0, 7));
    INFO(text);
    Spec spec;
    try {
      spec = Spec::parse(text);
    } catch (const InputError&) {
      continue;
    }
    const auto is_key = [](const auto& option) { return option.first.find_first_of(":() ") == std::string::npos; };
    if (!std::ranges::all_of(spec.options, is_key)) continue;  // no option has such a name
    ++accepted;
    const Spec again = Spec::parse(spec.text());
    CHECK(again.name == spec.name);
    CHECK(again.options == spec.options);
    CHECK(split_specs("a," + spec.text() + ",b") == std::vector<std::string>{"a", spec.text(), "b"});
  }
  CHECK(accepted > 1000);
}

TEST_CASE("a name can be printed and selected in a list, and a registered name is of ASCII") {
  for (const char* name : {"ood_long", "a b", "2x (ours)", "rope:theta=5,max=9", "x.y-z", "\u6a21"})
    CHECK_NOTHROW(check_name(name, "x"));
  for (const char* name : {"", " ", "a ", " a", "\u00a0", "a\u3000", "a\nb", "a\tb", "\x1b[31m", "\xff", "\u202e",
                           "a,b", "a=b", "-a", "a(", "a)b", "all", "ALL", "aspect:recall"})
    CHECK_THROWS_AS(check_name(name, "x"), InputError);
  CHECK_THROWS_WITH(
      check_name("a\n", "x.json: the name"),
      "x.json: the name is 'a?', expected printable text that a list can hold: without a comma, an =, an "
      "unpaired parenthesis, a leading - or a space at its ends");
  for (const char* name : {"rope", "rope++", "k_2.x-y", "2d"}) CHECK_NOTHROW(check_identifier("task", name));
  for (const char* name : {"", "bad name<img>", "a:b", "-a", "_a", "\u6a21", "a,b", "a\n"})
    CHECK_THROWS_AS(check_identifier("task", name), std::logic_error);
}

TEST_CASE("a text that is not a spec is refused") {
  CHECK_THROWS_WITH(Spec::parse(""), "'' names nothing; expected NAME or NAME:option=value");
  CHECK_THROWS_WITH(Spec::parse("rope:"), "'rope:' ends where option=value was expected");
  CHECK_THROWS_WITH(Spec::parse("rope:theta"), "'theta' in 'rope:theta' is not option=value");
  CHECK_THROWS_WITH(Spec::parse("text:file=a(b"), "'text:file=a(b' has a parenthesis without its partner");
}

TEST_CASE("a list of specs is split between them and not inside them") {
  CHECK(split_specs("mine, cope:positions=16, gates=values ,rope") ==
        std::vector<std::string>{"mine", "cope:positions=16,gates=values", "rope"});
  CHECK(split_specs("mine,cope:positions=16,gates=values,-rope*") ==
        std::vector<std::string>{"mine", "cope:positions=16,gates=values", "-rope*"});
  CHECK(split_specs("randomized:base=(dape:base=alibi,hidden=4),max=8,rope") ==
        std::vector<std::string>{"randomized:base=(dape:base=alibi,hidden=4),max=8", "rope"});
}

namespace {

enum class Form { soft, hard };

struct Options {
  int buckets = 32;
  double rate = 0.5;
  bool tied = false;
  Integers length{1, 40};
  Form form = Form::soft;
  std::string name;
  void describe(OptionTable& o) {
    o.integer("buckets", buckets, 2, 64, "");
    o.number("rate", rate, 0, 1, "");
    o.flag("tied", tied, "");
    o.integers("length", length, 1, 500, "");
    o.choice("form", form, {"soft", "hard"}, "");
    o.text("name", name, "a word", "");
  }
};

}  // namespace

TEST_CASE("options of every type are set from text, and bad values are refused in one line") {
  const auto options =
      read_options<Options>(Spec::parse("mine:buckets=8,rate=0.25,tied=true,length=21/30,form=hard"), "task");
  CHECK(options.buckets == 8);
  CHECK(options.rate == 0.25);
  CHECK(options.tied);
  CHECK(options.length.values() == std::vector<int>{21, 30});
  CHECK(options.form == Form::hard);

  const auto read = [](const char* text) { return read_options<Options>(Spec::parse(text), "task"); };
  CHECK_THROWS_WITH(read("mine:bucket=8"),
                    "unknown option 'bucket' of task 'mine'; did you mean 'buckets'? (it has buckets, rate, tied, "
                    "length, form, name)");
  CHECK_THROWS_WITH(read("mine:buckets=65"), "task 'mine': buckets is '65', expected an integer from 2 to 64");
  CHECK_THROWS_WITH(read("mine:buckets=8x"), "task 'mine': buckets is '8x', expected an integer from 2 to 64");
  CHECK_THROWS_WITH(read("mine:rate=nan"), "task 'mine': rate is 'nan', expected a number from 0 to 1");
  CHECK_THROWS_WITH(read("mine:tied=yes"), "task 'mine': tied is 'yes', expected true or false");
  CHECK_THROWS_WITH(read("mine:name=a\tb"),
                    "task 'mine': name is 'a?b', expected a word in UTF-8 without control characters and unpaired "
                    "parentheses");
  CHECK_THROWS_AS(read("mine:name=caf\xe9"), InputError);
  CHECK_THROWS_WITH(read("mine:form=firm"), "task 'mine': form is 'firm', expected one of soft, hard");
  for (const char* bad : {"", "40..1", "0..9", "1..501", "1/x", "1..", "5..99999999999"}) {
    CHECK_THROWS_AS(read(("mine:length=" + std::string(bad)).c_str()), InputError);
  }
}

TEST_CASE("a canonical spec omits defaults and orders the other options") {
  CHECK(make_canonical<Options>(Spec::parse("mine:length=1..40,rate=0.50,tied=true,buckets=8"), "task").text() ==
        "mine:buckets=8,tied=true");
}

TEST_CASE("an unknown name is answered with the nearest") {
  Registry<int> registry{"encoding"};
  registry.add("rope", 1);
  registry.add("alibi", 2);
  CHECK(registry.find("rope") == 1);
  CHECK_THROWS_WITH(registry.find("rop"),
                    "unknown encoding 'rop'; did you mean 'rope'? ('posbench list encodings' shows all)");
  for (const std::string misspelled : {"rpe", "roope", "rolpe"}) {
    CAPTURE(misspelled);
    CHECK_THROWS_WITH(registry.find(misspelled), ContainsSubstring("did you mean 'rope'?"));
  }
  for (const std::string unlike : {"zzzzzz", "x", ""}) {
    CHECK_THROWS_WITH(registry.find(unlike),
                      fmt::format("unknown encoding '{}' ('posbench list encodings' shows all)", unlike));
  }
}

TEST_CASE("a spec in parentheses is the spec") {
  CHECK(Spec::parse("(rope:theta=5)").text() == "rope:theta=5");
  CHECK(Spec::parse("(rope)").name == "rope");
}

TEST_CASE("an option that is set twice and deeply nested specs are refused") {
  CHECK_THROWS_WITH(Spec::parse("mine:buckets=8,buckets=9"), "'mine:buckets=8,buckets=9' sets buckets twice");
  std::string deep = "rope";
  for (int n = 0; n < 32; ++n) deep = "randomized:base=(" + deep + ")";
  CHECK(Spec::parse(deep).name == "randomized");
  CHECK_THROWS_WITH(Spec::parse("randomized:base=(" + deep + ")"), ContainsSubstring("up to 32 colons"));
}

TEST_CASE("a name that is registered twice and an empty name are refused with a line that names the entry") {
  Registry<int> registry{"encoding"};
  registry.add("alibi", 1);
  CHECK_THROWS_WITH(registry.add("alibi", 2),
                    "encoding 'alibi' is registered twice; the .name of each registration must differ");
  CHECK_THROWS_WITH(registry.add("", 3), "this encoding is registered without a name");
  CHECK(registry.find("alibi") == 1);
}
