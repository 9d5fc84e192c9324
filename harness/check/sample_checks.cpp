#include "harness/check/sample_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "harness/training/fingerprint.h"
#include "harness/training/samples.h"

namespace posbench {
namespace {

constexpr int kComparedSamples = 64;
constexpr int kComparedLengths = 64;

/// Returns true if the oracle gives another answer, or none, after the evidence was replaced.
bool depends_on_evidence(const Example& e, int other_answer, size_t n, const Oracle& oracle) {
  Example changed = e;
  changed.tokens[e.evidence[n]] = other_answer;
  try {
    const Tokens answers = oracle(changed);
    return n >= answers.size() || answers[n] != e.targets[e.scored[n]];
  } catch (const std::exception&) {
    return true;
  }
}

bool give_same_samples(const Task& task, int length, int other_length) {
  SampleStream first(task, "lengths", 0), second(task, "lengths", 0);
  first.length = length;
  second.length = other_length;
  for (int n = 0; n < kComparedSamples; ++n) {
    if (fingerprint(first(n).example) != fingerprint(second(n).example)) return false;
  }
  return true;
}

}  // namespace

std::string check_evidence(const Example& e, int other_answer, size_t which, const Oracle* oracle) {
  if (e.evidence.empty()) return "";
  for (size_t n = 0; n < e.evidence.size(); ++n) {
    const int token = e.tokens[e.evidence[n]], answer = e.targets[e.scored[n]];
    if (token != answer)
      return fmt::format("the evidence at position {} is token {}, not the answer {}", e.evidence[n], token,
                         answer);
  }
  const size_t n = which % e.evidence.size();
  if (oracle == nullptr || other_answer == e.targets[e.scored[n]]) return "";
  if (depends_on_evidence(e, other_answer, n, *oracle)) return "";
  return fmt::format("the oracle does not read the evidence at position {}", e.evidence[n]);
}

std::string check_distances(const Example& e, const TaskInfo& info, const Oracle* oracle) {
  if (info.distance_unit.empty() != e.distances.empty()) {
    return info.distance_unit.empty() ? "examples have distances, but the task has no distance_unit"
                                      : "examples have no distances, but the task has a distance_unit";
  }
  if (e.distances.empty()) return "";
  if (std::ranges::min(e.distances) < 0) return "a distance is negative";
  const bool by_evidence = info.distance_unit == "tokens" && !e.evidence.empty();
  std::vector<int> expected;
  if (by_evidence) {
    for (size_t n = 0; n < e.evidence.size(); ++n) expected.push_back(e.scored[n] - e.evidence[n]);
  } else if (oracle == nullptr) {
    return "";
  } else if (!oracle->has_distances()) {
    return "the oracle does not compute the distances; add a second function, or state Example::evidence and count "
           "distances in tokens";
  } else {
    expected = oracle->distances(e);
  }
  if (e.distances == expected) return "";
  return fmt::format("the distances are {}, but {} by the {}", fmt::join(e.distances, " "),
                     fmt::join(expected, " "), by_evidence ? "evidence" : "oracle");
}

std::string check_lengths_differ(const Task& task) {
  std::vector<int> lengths = task.lengths().values();
  std::ranges::sort(lengths);
  const size_t step = 1 + lengths.size() / kComparedLengths;
  std::vector<size_t> compared;  // indices of lengths that are compared with the next smaller one, descending
  for (size_t i = lengths.size() - 1; i > 0; i -= std::min(i, step)) compared.push_back(i);
  std::vector<bool> are_same;
  for (const size_t i : compared) are_same.push_back(give_same_samples(task, lengths[i - 1], lengths[i]));
  const auto count = std::ranges::count(are_same, true);
  const auto at_top = std::ranges::find(are_same, false) - are_same.begin();
  const auto at_bottom = std::find(are_same.rbegin(), are_same.rend(), false) - are_same.rbegin();
  if (count == 0 || (count != at_top && count != at_bottom)) return "";
  const size_t i = count == at_top ? compared.front() : compared.back();
  return fmt::format("the lengths {} and {} give the same samples", lengths[i - 1], lengths[i]);
}

bool have_same_samples(const Task& a, const Task& b) {
  const SampleStream first(a, "splits", 0), second(b, "splits", 0);
  for (int n = 0; n < kComparedSamples; ++n) {
    if (fingerprint(first(n).example) != fingerprint(second(n).example)) return false;
  }
  return true;
}

}  // namespace posbench
