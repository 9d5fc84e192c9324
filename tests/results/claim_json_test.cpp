#include "results/reports/claim_json.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace posbench;

TEST_CASE("an invalid claim is refused with its JSON path") {
  const auto read = [](const char* change) {
    Json json = parse_json(R"({"statement": "s", "family": "f", "source": "p",
      "kind": "published finding", "read_from": "paper text", "read_where": "Figure 2",
      "tasks": {"t": {"reduced": "copy", "full": "copy"}}, "reduced": {"not_comparable": "no"},
      "full": {"profile": "quick", "config": {}, "seeds": 5},
      "rules": [{"level": {"task": "t", "encoding": "rope", "split": "ood_length", "at_least": 0.9}}]})",
                           "mine.json");
    json.merge_patch(parse_json(change, "change"));
    return read_claim(json, "mine");
  };
  CHECK(read("{}").settings.at(ClaimSize::full).seeds == "5");
  CHECK(!read("{}").settings.at(ClaimSize::reduced).comparable);
  CHECK(read("{}").claim.kind == ClaimKind::published_finding);
  CHECK(read("{}").claim.read_from + ", " + read("{}").claim.read_where == "paper text, Figure 2");
  CHECK_THROWS_WITH(read(R"({"kind": null})"), Catch::Matchers::Equals("mine.json: kind is missing"));
  CHECK_THROWS_WITH(
      read(R"({"kind": "fact"})"),
      Catch::Matchers::Equals("mine.json: kind is \"fact\", expected one of published number, published finding, "
                              "other task, argument, own statement"));
  CHECK_THROWS_WITH(read(R"({"kind": "published number"})"),
                    ContainsSubstring("kind is \"published number\", expected numbers in 'published'"));
  CHECK(read(R"({"kind": "published number", "published": [{"what": "w", "encoding": "rope", "value": 0.5}]})")
            .claim.published.size() == 1);
  const Published of_split =
      read(
          R"({"published": [{"what": "w", "encoding": "rope", "value": 0.5, "task": "t", "split": "ood_length"}]})")
          .claim.published.front();
  CHECK(of_split.task + " " + of_split.split == "t ood_length");
  CHECK_THROWS_WITH(read(R"({"published": [{"what": "w", "encoding": "rope", "value": 0.5, "task": "u"}]})"),
                    Catch::Matchers::Equals("mine.json: published[0].task is \"u\", expected a name of 'tasks'"));
  CHECK_THROWS_WITH(read(R"({"read_from": "memory"})"),
                    ContainsSubstring("read_from is \"memory\", expected one of"));
  CHECK_THROWS_WITH(read(R"({"read_where": ""})"), ContainsSubstring("read_where is \"\", expected a name"));
  CHECK_THROWS_WITH(
      read(R"({"kind": "own statement"})"),
      ContainsSubstring("expected 'this repository' for the kind 'own statement', and for no other"));
  CHECK_THROWS_WITH(
      read(R"({"read_from": "this repository"})"),
      ContainsSubstring("expected 'this repository' for the kind 'own statement', and for no other"));
  CHECK_THROWS_WITH(
      read(
          R"({"kind": "own statement", "read_from": "this repository", "rules": [{"order": {"high": {"task": "t", "encoding": "rope", "split": "s"}, "low": {"task": "t", "encoding": "none", "split": "s"}, "gap": 0.4, "least": 0.1}}]})"),
      ContainsSubstring(
          "rules[0].order.gap is 0.4, expected none, since an own statement has no published difference"));
  CHECK_THROWS_WITH(
      read(
          R"({"kind": "own statement", "read_from": "this repository", "published": [{"what": "w", "encoding": "rope", "value": 0.5}]})"),
      ContainsSubstring("kind is \"own statement\", expected no numbers in 'published'"));
  CHECK_THROWS_WITH(read(R"({"full": {"seeds": 3}})"), Catch::Matchers::StartsWith("mine.json: full.seeds is 3"));
  CHECK_THROWS_WITH(read(R"({"reduced": "half"})"),
                    Catch::Matchers::StartsWith("mine.json: reduced is \"half\", expected"));
  CHECK_THROWS_WITH(read(R"({"tasks": {"t": ""}})"), Catch::Matchers::StartsWith("mine.json: tasks.t is \"\""));
  CHECK_THROWS_WITH(
      read(R"({"metrik": "token"})"),
      Catch::Matchers::Equals("mine.json: metrik is \"token\", unknown key; did you mean 'metric'?"));
  CHECK_THROWS_WITH(read(R"({"full": {"seed": 5}})"), ContainsSubstring("full.seed is 5, unknown key"));
  CHECK_THROWS_WITH(
      read(
          R"({"rules": [{"level": {"task": "t", "encoding": "rope", "split": "s", "at_leest": 0.9, "at_least": 0.9}}]})"),
      ContainsSubstring("rules[0].level.at_leest is 0.9, unknown key; did you mean 'at_least'?"));
  CHECK_THROWS_WITH(
      read(
          R"({"rules": [{"order": {"high": {"task": "t", "encoding": "rope", "split": "s"}, "low": {"task": "t", "encoding": "none", "split": "s", "learned": 0.5}, "least": 0.1}}]})"),
      ContainsSubstring("rules[0].order.low.learned is 0.5, unknown key"));
  CHECK_THROWS_WITH(read(R"({"rules": []})"), ContainsSubstring("expected one rule or more"));
  CHECK_THROWS_WITH(read(R"({"tasks": {"t": null, "u": {"reduced": "copy", "full": "copy"}}})"),
                    ContainsSubstring("expected a name of 'tasks'"));
}

TEST_CASE("a claim may have one task and one setting for both sizes") {
  const Json json = parse_json(R"({"statement": "s", "family": "f", "source": "p",
      "kind": "published finding", "read_from": "paper text", "read_where": "Figure 2", "tasks": {"t": "copy"},
      "reduced": "full", "full": {"profile": "quick", "config": {}, "seeds": 5, "differs": "it is small"},
      "rules": [{"level": {"task": "t", "encoding": "rope", "split": "ood_length", "at_least": 0.9}}]})",
                               "mine.json");
  const ClaimFile file = read_claim(json, "mine");
  CHECK(file.has_one_size);
  for (const ClaimSize size : {ClaimSize::reduced, ClaimSize::full}) {
    CHECK(file.tasks.at("t").at(size) == "copy");
    CHECK(file.settings.at(size).seeds == "5");
    CHECK(file.settings.at(size).differs == "it is small");
  }
  CHECK(!file.claim.confirm);
  CHECK(!file.settings.at(ClaimSize::confirmation).comparable);
}

TEST_CASE("a registered confirmation has the settings of the size that it names, and its own seeds") {
  Json json = parse_json(R"({"statement": "s", "family": "f", "source": "p", "kind": "published finding",
      "read_from": "paper text", "read_where": "Figure 2", "tasks": {"t": {"reduced": "copy", "full": "copy:length=9"}},
      "reduced": {"profile": "quick", "config": {}, "seeds": 5}, "full": {"not_comparable": "too large"},
      "confirm": {"frozen": "1a2b", "claim": "c", "rules": "r", "size": "reduced", "seeds": "1000..1015"},
      "rules": [{"level": {"task": "t", "encoding": "rope", "split": "ood_length", "at_least": 0.9}}]})",
                         "mine.json");
  const ClaimFile file = read_claim(json, "mine");
  REQUIRE(file.claim.confirm);
  CHECK(file.claim.confirm->frozen == "1a2b");
  CHECK(file.claim.confirm->claim + file.claim.confirm->rules == "cr");
  CHECK(file.settings.at(ClaimSize::confirmation).seeds == "1000..1015");
  CHECK(file.settings.at(ClaimSize::confirmation).profile == "quick");
  CHECK(file.tasks.at("t").at(ClaimSize::confirmation) == "copy");
  json["confirm"]["size"] = "full";
  CHECK_THROWS_WITH(read_claim(json, "mine"), ContainsSubstring("expected a size that can judge the claim"));
  json["confirm"]["sise"] = "full";
  CHECK_THROWS_WITH(read_claim(json, "mine"), ContainsSubstring("unknown key; did you mean 'size'?"));
}
