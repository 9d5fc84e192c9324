// The certificate of a task fails each kind of broken task, and passes the sound task that they are made from.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/check/oracles.h"
#include "harness/check/task_certificate.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

enum class Flaw {
  none,
  answer_at_scored_position,
  answer_in_fixed_noise,
  answer_in_some_noise,
  answer_after_noise_token,
  answer_in_number_of_tokens,
  answer_shown_in_a_quarter,
  distance_too_large,
  distance_missing,
  evidence_elsewhere,
  evidence_not_the_answer,
  longest_never_drawn,
  longest_not_reported,
  length_not_declared,
  split_without_effect,
  split_misspelt,
  chance_too_high,
  chance_of_candidates,
  oracle_of_another_task,
};

constexpr int kItems = 8, kNoise = 8, kMarker = kItems + kNoise, kBlank = kMarker + 1, kShown = kBlank + 1;

struct PlantedOptions {
  Integers length{4, 8};
  int noise = 4;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 100, "items");
    o.integer("noise", noise, 1, 100, "tokens of noise after the items");
  }
};

/// Answers the item after the marker: the items 3 ! 5 2 and the noise n1 n7 have the answer 5.
template <Flaw flaw>
class Planted final : public Task {
  static constexpr bool has_high_chance = flaw == Flaw::chance_too_high || flaw == Flaw::chance_of_candidates;

 public:
  using Options = PlantedOptions;
  Planted(const Options& options, Layout layout) : options_(options), layout_(layout) {}
  int vocabulary() const override { return kShown + kItems; }
  int answers() const override { return kItems; }
  double chance_level() const override { return (has_high_chance ? 1.1 : 1.0) / kItems; }
  const Integers& lengths() const override { return options_.length; }
  std::string token_text(int token) const override { return std::to_string(token); }

  Example sample(int length, Rng& rng) const override {
    if constexpr (flaw == Flaw::longest_never_drawn || flaw == Flaw::longest_not_reported)
      length = std::min(length, options_.length.max() - 1);
    std::vector<int> question = uniform_tokens(rng, length, 0, kItems - 1);
    const int marker = uniform(rng, 0, length - 1), answer = question[marker];
    question.insert(question.begin() + marker, kMarker);
    if constexpr (flaw == Flaw::evidence_elsewhere) question.insert(question.begin(), answer);
    const std::vector<int> noise = draw_noise(answer, rng);
    question.insert(question.end(), noise.begin(), noise.end());
    Example e = ask(layout_, std::move(question), kBlank, {answer});
    set_evidence(e, {flaw == Flaw::evidence_elsewhere ? 0 : marker + 1});
    add_flaw(answer, rng, e);
    if constexpr (flaw == Flaw::longest_never_drawn) e.length = length;
    if constexpr (flaw == Flaw::length_not_declared) e.length = length + 100;
    return e;
  }

 private:
  std::vector<int> draw_noise(int answer, Rng& rng) const {
    const int count = flaw == Flaw::answer_in_number_of_tokens ? answer + 1
                      : flaw == Flaw::split_without_effect     ? 4
                                                               : options_.noise;
    std::vector<int> noise = uniform_tokens(rng, count, kItems, kItems + kNoise - 1);
    if constexpr (flaw == Flaw::answer_in_fixed_noise) noise[1] = kItems + answer;
    if constexpr (flaw == Flaw::answer_in_some_noise) {
      std::ranges::fill(noise, kBlank);
      noise[uniform(rng, 0, count - 1)] = kItems + answer;
    }
    if constexpr (flaw == Flaw::answer_after_noise_token) {
      const int at = uniform(rng, 0, count - 2);
      for (int& token : noise) token = token == kItems ? kItems + 1 : token;
      noise[at] = kItems;
      noise[at + 1] = kItems + std::max(answer, 1);
    }
    return noise;
  }

  static void add_flaw(int answer, Rng& rng, Example& e) {
    const int scored = e.scored.front();
    if (flaw == Flaw::answer_at_scored_position) e.tokens[scored] = kShown + answer;
    if (flaw == Flaw::answer_shown_in_a_quarter && bernoulli(rng, 0.25)) e.tokens[scored - 1] = kShown + answer;
    if (flaw == Flaw::distance_too_large) ++e.distances.front();
    if (flaw == Flaw::chance_of_candidates) e.candidates = {answer, answer < 7 ? 7 : 0};
    if (flaw == Flaw::distance_missing) e.distances.clear();
    if (flaw == Flaw::evidence_not_the_answer) e.evidence.front() -= 1;
  }

  Options options_;
  Layout layout_;
};

/// Returns the splits of a task with this flaw. Most flaws show in the first one.
std::vector<TaskInfo::Split> splits_of(Flaw flaw) {
  std::vector<TaskInfo::Split> splits{{"in_distribution", {}, ""}};
  switch (flaw) {
    case Flaw::none:
    case Flaw::split_without_effect:
    case Flaw::split_misspelt:
    case Flaw::oracle_of_another_task:
      splits.push_back({"ood_length", {{"length", "9..12"}}, ""});
      splits.push_back({"ood_noise", {{flaw == Flaw::split_misspelt ? "noize" : "noise", "1.5x"}}, ""});
      break;
    default:
      break;
  }
  return splits;
}

/// Registers a task with this flaw and its oracle, which finds the marker, and returns the certificate.
template <Flaw flaw>
TaskCertificate certify_planted() {
  const std::string name = "planted_" + std::to_string(static_cast<int>(flaw));
  tasks().add(
      name,
      {TaskInfo{
           .name = name, .distance_unit = "tokens", .splits = splits_of(flaw), .largest_answer_fraction = 0.13},
       list_options<PlantedOptions>(),
       [](const Spec& spec) { return make_canonical<PlantedOptions>(spec, "task"); },
       [](const Spec& spec, Layout layout) -> std::unique_ptr<Task> {
         return std::make_unique<Planted<flaw>>(read_options<PlantedOptions>(spec, "task"), layout);
       }});
  const RegisterOracle oracle(name, [](const Example& e) {
    return Tokens{*(std::ranges::find(e.tokens, kMarker) + (flaw == Flaw::oracle_of_another_task ? 0 : 1))};
  });
  return certify_task(name);
}

/// Returns true if the certificate fails with this message.
bool fails_with(const TaskCertificate& certificate, const std::string& message) {
  INFO(fmt::format("{}", fmt::join(certificate.faults, "\n")));
  return std::ranges::any_of(certificate.faults,
                             [&](const std::string& fault) { return fault.find(message) != fault.npos; });
}

}  // namespace

TEST_CASE("the sound task of the broken ones passes its certificate") {
  const TaskCertificate certificate = certify_planted<Flaw::none>();
  INFO(fmt::format("{}", fmt::join(certificate.faults, "\n")));
  CHECK(certificate.passed());
}

TEST_CASE("a task with a planted flaw fails its certificate with a message that names it") {
  const std::vector<std::pair<TaskCertificate (*)(), const char*>> flaws{
      {certify_planted<Flaw::answer_at_scored_position>, "the token at the scored position predicts 1.0"},
      {certify_planted<Flaw::answer_shown_in_a_quarter>, "the token 1 positions before the scored one"},
      {certify_planted<Flaw::answer_in_fixed_noise>, "the token 3 positions before the scored one"},
      {certify_planted<Flaw::answer_in_some_noise>, "the number of tokens '"},
      {certify_planted<Flaw::answer_after_noise_token>, "the token after the first '8' predicts"},
      {certify_planted<Flaw::answer_in_number_of_tokens>, "the number of tokens predicts"},
      {certify_planted<Flaw::distance_too_large>, "by the evidence"},
      {certify_planted<Flaw::distance_missing>, "examples have no distances"},
      {certify_planted<Flaw::evidence_elsewhere>, "the oracle does not read the evidence at position 0"},
      {certify_planted<Flaw::evidence_not_the_answer>, "not the answer"},
      {certify_planted<Flaw::longest_never_drawn>, "split in_distribution: the length 8 was never drawn"},
      {certify_planted<Flaw::longest_not_reported>, "the lengths 7 and 8 give the same samples"},
      {certify_planted<Flaw::length_not_declared>, "is not one of the task's lengths"},
      {certify_planted<Flaw::split_without_effect>,
       "split ood_noise: the samples are those of split in_distribution"},
      {certify_planted<Flaw::split_misspelt>, "has no option 'noize'"}};
  for (const auto& [certify, message] : flaws) {
    INFO(message);
    CHECK(fails_with(certify(), message));
  }
}

TEST_CASE(
    "a task whose chance level is too high fails its certificate, unless its samples have fewer candidates") {
  CHECK(fails_with(
      certify_planted<Flaw::chance_too_high>(),
      "chance_level() is 0.138, but a uniform guess among the answers that occur gets 0.125; lower it"));
  CHECK(certify_planted<Flaw::chance_of_candidates>().passed());
}

TEST_CASE("a task that disagrees with its oracle shows both answers and the command that shows the sample") {
  const TaskCertificate certificate = certify_planted<Flaw::oracle_of_another_task>();
  const std::string name = certificate.task;
  CHECK(fails_with(certificate, "split in_distribution: answer 1 of 1 is '16' by the oracle and '"));
  CHECK(
      fails_with(certificate, "'posbench sample " + name + " --split ood_length --layout slots --first 0 -n 1'"));
}
