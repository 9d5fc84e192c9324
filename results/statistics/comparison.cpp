#include "results/statistics/comparison.h"

#include <cstddef>
#include <string>

#include "results/statistics/words.h"

namespace posbench {

std::string to_string(Verdict verdict) {
  constexpr const char* kNames[] = {"better", "worse", "same", kNotLearned, kTooFewSeeds, kInconclusive};
  return kNames[static_cast<size_t>(verdict)];
}

std::string meaning(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "the second report is better: the corrected p is --alpha or less, and the difference is --threshold or more";
    case Verdict::worse:
      return "the second report is worse: the corrected p is --alpha or less, and the difference is --threshold or more";
    case Verdict::same:
      return "the 95 % interval of the difference lies between minus the threshold and the threshold, and the same fraction of seeds solves the split; or both reports have the same results";
    case Verdict::not_learned:
      return "most seeds of one report have not learned the task in distribution, so the accuracy out of distribution says nothing";
    case Verdict::too_few_seeds:
      return "a report has fewer than five seeds, with which no test can show a difference";
    case Verdict::inconclusive:
      return "the seeds show neither a difference nor that there is none; more seeds may decide";
  }
  return "";
}

}  // namespace posbench
