// Names that commands accept and explain: those of papers, and those of splits, settings, metrics and claims.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encodings/aliases.h"
#include "encodings/registry.h"
#include "harness/config/embedded_data.h"
#include "results/json/json.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

TEST_CASE("names from papers stand for registered encodings, which reports record") {
  const TemporaryDirectory directory;
  const auto listed = [&](const std::string& encodings) {
    const std::string run = "run --profile smoke -t parity_check -s 1 --list-only -e ";
    return posbench_command(directory, run + "'" + encodings + "'");
  };
  CHECK(listed("NoPE,t5,rotary").out == "parity_check none 0\nparity_check t5_bias 0\nparity_check rope 0\n");
  CHECK(listed("sin,learned,xl").out ==
        "parity_check sinusoidal 0\nparity_check learned_abs 0\nparity_check txl 0\n");
  CHECK(listed("NoPE,rope,rotary").error == "'NoPE' is the encoding 'none'\n'rotary' is the encoding 'rope'\n");
  CHECK(listed("rotry").error.starts_with("posbench: unknown encoding 'rotry'; did you mean 'rotary'?"));
  CHECK(listed("sum:of=(nope,T5)").out == "parity_check sum:of=(none,t5_bias) 0\n");
  CHECK(listed("randomized:base=rotary").out == listed("randomized:base=rope").out);
  CHECK(listed("relative").error ==
        "posbench: 'relative' can be any of the encodings shaw_k, shaw_kv, t5_bias, txl; name one of them\n");
  CHECK(listed("absolute").error.find("learned_abs, sinusoidal;") != std::string::npos);
  CHECK(listed("shaw").error.find("shaw_k, shaw_kv;") != std::string::npos);
  CHECK(listed("stick").error.find("did you mean 'stick_breaking'?") != std::string::npos);
  CHECK(posbench_command(directory, "show none").out.find("also called:    nope, nopos\n") != std::string::npos);
  const Outcome model = posbench_command(directory, "show llama");
  CHECK(model.out.starts_with("LLaMA (model)\n\nrope (encoding, rotary)\n"));
  CHECK(model.out.find("used in:        RoFormer, GPT-J") != std::string::npos);
  CHECK(posbench_command(directory, "show NoPE").out == posbench_command(directory, "show none").out);
  CHECK(posbench_command(directory, "list encodings").out.find("also nope, nopos; ") != std::string::npos);
  CHECK(posbench_command(directory, "--complete run -e nop").out.find("\nnope\n") != std::string::npos);
  const Outcome extended =
      posbench_command(directory, "run --profile smoke -t parity_check -e rope -s 1 --extend nope --show-config");
  CHECK(Json::parse(extended.out)["extend"]["encodings"] == "none");
}

TEST_CASE("no alias is the registered name of an encoding or a task, and all are in lower case") {
  int aliases = 0;
  for (const std::string& name : encodings().names()) {
    for (const std::string& alias : aliases_of(name)) {
      CAPTURE(name, alias);
      CHECK_FALSE(encodings().contains(alias));
      CHECK_FALSE(tasks().contains(alias));
      CHECK(std::ranges::none_of(alias, [](unsigned char c) { return std::isupper(c) != 0; }));
      const std::vector<std::string> called = encodings_called(alias);
      CHECK(std::ranges::find(called, name) != called.end());
      ++aliases;
    }
  }
  CHECK(aliases > 10);
}

TEST_CASE("a method is a name of an encoding with options, and options that are given come after them") {
  const TemporaryDirectory directory;
  const auto listed = [&](const std::string& spec) {
    const Outcome out = posbench_command(directory, "run -t flip_flop -e " + spec + " -s 1 --show-config");
    return out.code == 0 ? Json::parse(out.out)["encodings"].at(0).get<std::string>() : out.error;
  };
  CHECK(listed("yarn") == "interpolated:method=yarn");
  CHECK(listed("YaRN:scale=8") == "interpolated:method=yarn,scale=8");
  CHECK(listed("yarn:method=ntk") == listed("ntk"));
  CHECK(listed("'sum:of=(self-extend,none)'") == listed("'sum:of=(remapped:method=self_extend,none)'"));
  CHECK(listed("rpoe").find("did you mean 'rope'?") != std::string::npos);
}

TEST_CASE("show explains every term of the glossary by each of its names") {
  const TemporaryDirectory directory;
  for (const Term& term : glossary()) {
    std::vector<std::string> names = term.aliases;
    names.push_back(term.name);
    for (const std::string& name : names) {
      CAPTURE(name);
      const Outcome shown = posbench_command(directory, "show '" + name + "'");
      CHECK(shown.out.starts_with(term.name + " (term)\n\nmeaning: "));
    }
    for (const std::string& command : term.commands) {
      CAPTURE(command);
      CHECK(command.starts_with("posbench "));
    }
  }
}

TEST_CASE("show explains splits, settings, metrics, claims, aspects and verdicts") {
  const TemporaryDirectory directory;
  const auto shown = [&](const std::string& name) { return posbench_command(directory, "show " + name).out; };
  CHECK(shown("ood_far4").find("\nlast_x_retrieval ") != std::string::npos);
  CHECK(shown("training.steps").find("posbench run --set training.steps=") != std::string::npos);
  CHECK(shown("batch").starts_with("training.batch (setting)\n\nmeaning: "));
  CHECK(shown("loops").find("\nmodel.loops\n") < shown("loops").find("\nevaluation.loops\n"));
  CHECK(shown("margin").find("answer's logit") != std::string::npos);
  CHECK(shown("recall").find("needle") != std::string::npos);
  CHECK(shown("aspect:State_tracking").starts_with("state tracking (aspect)\n"));
  CHECK(shown("counting").starts_with("counting (task"));
  CHECK(shown("aspect:counting").starts_with("counting (aspect)\n"));
  CHECK(shown("'not comparable'") == shown("not_comparable"));
  CHECK(shown("'too few seeds'").starts_with("too few seeds (verdict)\n\nmeaning: "));
  CHECK(shown("inconclusive").find("\nasentmax-sort-four ") != std::string::npos);  // a claim
  CHECK(shown("inconclusive").find("\nexample:        posbench compare") != std::string::npos);
  CHECK(shown("not_comparable").starts_with("not comparable (verdict)\n"));
  const std::string claim = shown("abacus-addition");
  CHECK(claim.find("McLeish et al. 2024") != std::string::npos);
  CHECK(claim.find("\n\nExploration\n\nverdict:        ") != std::string::npos);
  CHECK(shown("path-flip-flop")
            .find("kind:           published number\nsource read:    paper text: section 4.1, Table 1") !=
        std::string::npos);
  CHECK(posbench_command(directory, "show ood_fr4").error.find("did you mean 'ood_far4'?") != std::string::npos);
}
