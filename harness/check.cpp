#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "encodings/registry.h"
#include "harness/certify.h"
#include "harness/describe.h"
#include "harness/samples.h"
#include "harness/task_setup.h"

namespace posbench {
namespace {

/// What is wrong with an example; empty where nothing is.
std::string fault(const Example& e, int vocabulary) {
  const auto outside = [&](int id) { return id < 0 || id >= vocabulary; };
  if (e.targets.size() != e.tokens.size() || e.segments.size() != e.tokens.size())
    return "lists of different lengths";
  if (std::any_of(e.tokens.begin(), e.tokens.end(), outside)) return "a token outside the vocabulary";
  if (std::any_of(e.targets.begin(), e.targets.end(), [&](int id) { return id != kIgnore && outside(id); })) {
    return "a target outside the vocabulary";
  }
  if (e.scored.empty()) return "nothing is scored";
  for (const int t : e.scored) {
    if (t < 0 || t >= static_cast<int>(e.tokens.size()) || e.targets[t] == kIgnore)
      return "a scored place without a target";
  }
  return "";
}

/// The certificate of one task.
Json certify_task(const std::string& text) {
  constexpr int kSamples = 2000;
  const TaskSetup setup = make_task_setup(Config{}, text);
  Json json{{"task", text}};
  std::string wrong;
  std::set<std::vector<int>> trained;
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const SampleStream samples{*setup.tasks[i], "test:" + setup.splits[i].name, 0};
    const SampleStream training{setup.trained(), "train", 0};
    for (int n = 0; n < kSamples && wrong.empty(); ++n) {
      const Example e = samples(n).example, again = samples(n).example;
      wrong = fault(e, setup.shape.vocabulary);
      if (e.tokens != again.tokens || e.targets != again.targets) wrong = "the same seed gives another sample";
      if (!wrong.empty()) wrong += fmt::format(" (split {}, sample {})", setup.splits[i].name, n);
      if (i == 0) trained.insert(training(n).example.tokens);
    }
  }
  for (size_t i = 0; i < setup.splits.size(); ++i) {
    const SampleStream samples{*setup.tasks[i], "test:" + setup.splits[i].name, 0};
    int seen = 0;
    for (int n = 0; n < kSamples; ++n) seen += static_cast<int>(trained.count(samples(n).example.tokens));
    json["seen_in_training"][setup.splits[i].name] = static_cast<double>(seen) / kSamples;
  }
  for (const SplitBaseline& split : measure_baselines(setup).splits) {
    json["baselines"][split.name] = {{"chance", split.chance}};
    for (const auto& [name, accuracy] : split.trivial) json["baselines"][split.name][name] = accuracy;
  }
  json["fault"] = wrong;
  json["passed"] = wrong.empty();
  return json;
}

void print_encoding(const Json& c) {
  fmt::print("{} {:<44} worst gradient error {:.1e} ({})\n", c["passed"].get<bool>() ? "pass" : "FAIL",
             c["encoding"].get<std::string>(), c["worst_gradient_error"].get<double>(),
             c["where"].get<std::string>());
  for (const Json& g : c["gradients"]) {
    fmt::print("       {:<14} {:<5} {:.1e}  {}\n", g["attention"].get<std::string>(), g["norm"].get<std::string>(),
               g["worst_error"].get<double>(), g["where"].get<std::string>());
  }
  const auto yes = [&](const char* key) { return c[key].get<bool>() ? "yes" : "NO"; };
  fmt::print(
      "       causal to the bit: {}; finite at length 1 and at 4 times the trained: {}; moved by order: {:.1e}, "
      "by a "
      "shift of all places: {:.1e}\n",
      yes("causal"), yes("finite"), c["order_sensitivity"].get<double>(), c["shift_sensitivity"].get<double>());
}

void print_task(const Json& c) {
  const std::string wrong = c["fault"];
  fmt::print("{} {:<44} {}\n", wrong.empty() ? "pass" : "FAIL", c["task"].get<std::string>(), wrong);
  for (const auto& [split, baseline] : c["baselines"].items()) {
    std::string text;
    for (const auto& [name, accuracy] : baseline.items())
      text += fmt::format("{} {:.3f}  ", name, accuracy.get<double>());
    fmt::print("       {:<20} {} seen in training {:.3f}\n", split, text,
               c["seen_in_training"][split].get<double>());
  }
}

}  // namespace

bool check(const std::vector<std::string>& names, bool json) {
  std::vector<std::string> specs = names;
  if (specs.empty()) {
    specs = encodings().names();
    const std::vector<std::string> more = tasks().names();
    specs.insert(specs.end(), more.begin(), more.end());
  }
  for (const std::string& spec : specs) show_text(spec);  // refuses a wrong name before anything is measured
  Json certificates = Json::array();
  bool passed = true;
  for (const std::string& spec : specs) {
    const bool encoding = encodings().contains(Spec::parse(spec).name);
    const Json certificate = encoding ? posbench_double::certify(spec) : certify_task(spec);
    passed = passed && certificate["passed"].get<bool>();
    if (json) {
      certificates.push_back(certificate);
    } else {
      encoding ? print_encoding(certificate) : print_task(certificate);
      std::fflush(stdout);
    }
  }
  if (json) fmt::print("{}\n", Json{{"certificates", certificates}}.dump(2));
  return passed;
}

}  // namespace posbench
