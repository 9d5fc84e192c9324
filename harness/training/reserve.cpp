#include "harness/training/reserve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/random.h"

namespace posbench {
namespace {

constexpr std::uint64_t kTenth = ~std::uint64_t{0} / 10;
constexpr size_t kMany = 200;  // different questions, from which a tenth of all hashes is a tenth of the questions

/// Returns the number of samples with each hash. Stops when it has found kMany hashes.
std::map<std::uint64_t, int> count_questions(const Task& task, int length) {
  constexpr int kSamples = 1000;
  std::map<std::uint64_t, int> counts;
  for (int n = 0; n < kSamples && counts.size() < kMany; ++n) {
    Rng rng = make_rng(static_cast<std::uint64_t>(length), "reserve", static_cast<std::uint64_t>(n));
    ++counts[question_hash(task.sample_of(Purpose::test, length, rng), task.tokens_before())];
  }
  return counts;
}

/// Returns true if there are too few questions to reserve some: a test would consist of others than training, or
/// one of them is so frequent that either would lack it.
bool has_few_questions(const std::map<std::uint64_t, int>& counts) {
  constexpr double kFewestEqual = 10;  // equally likely questions that would repeat as often
  double samples = 0, pairs = 0;
  for (const auto& [hash, count] : counts) {
    samples += count;
    pairs += static_cast<double>(count) * (count - 1);
  }
  return counts.size() < Reserve::kFewestQuestions || pairs * kFewestEqual > samples * (samples - 1);
}

}  // namespace

std::uint64_t question_hash(const Example& e, int before) {
  std::uint64_t hash = 0;
  const int last = e.scored.empty() ? static_cast<int>(e.tokens.size()) - 1 : e.scored.back();
  for (int t = before; t <= last; ++t)
    hash = (hash ^ static_cast<std::uint64_t>(e.tokens[t] + 2)) * 0x9E3779B97F4A7C15u + (hash >> 29);
  return hash64(hash);
}

std::uint64_t Reserve::limit(const Task& task, int length) const {
  const std::lock_guard lock(mutex_);
  const std::pair key(&task, length);
  if (const auto found = limits_.find(key); found != limits_.end()) return found->second;
  const std::uint64_t limit = find_limit(task, length);
  limits_.emplace(key, limit);
  return limit;
}

std::uint64_t Reserve::trained_limit(int length) const {
  const std::map<std::uint64_t, int> counts = count_questions(*trained_, length);
  if (has_few_questions(counts)) return 0;
  if (counts.size() >= kMany) return kTenth;
  return std::max(kTenth, std::next(counts.begin(), static_cast<std::ptrdiff_t>(counts.size() - 1) / 10)->first);
}

std::uint64_t Reserve::find_limit(const Task& task, int length) const {
  const std::vector<int>& lengths = trained_->lengths().values();
  const bool is_trained = std::ranges::find(lengths, length) != lengths.end();
  const std::uint64_t limit = is_trained ? trained_limit(length) : kTenth;
  if (&task == trained_.get() || limit == 0) return limit;
  const std::map<std::uint64_t, int> counts = count_questions(task, length);
  return has_few_questions(counts) || counts.begin()->first > limit ? 0 : limit;
}

std::vector<int> Reserve::exempt_lengths(const Task& task) const {
  constexpr int kEnough = 10;
  std::vector<int> lengths = task.lengths().values(), exempt;
  std::ranges::sort(lengths);
  int others = 0;
  for (const int length : lengths) {
    if (others == kEnough) break;
    if (limit(task, length) == 0) {
      exempt.push_back(length);
    } else {
      ++others;
    }
  }
  return exempt;
}

}  // namespace posbench
