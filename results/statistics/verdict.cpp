#include "results/statistics/verdict.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace posbench {
namespace {

struct Text {
  const char *word, *meaning;
};

// clang-format off
/// In the order of the enumerators.
constexpr Text kTexts[] = {
    {"reproduced", "a test shows that in more than half of all pairs of seeds the difference is above the bound, or more than half of all seeds reach the level"},
    {"weaker", "a test shows that in more than half of all pairs of seeds the difference is below the bound; it may be 0"},
    {"contradicted", "a test shows that in more than half of all pairs of seeds the opposite difference is found, or more than half of all seeds miss the level"},
    {"rival undertrained", "the encoding that should be worse is below its published accuracy in distribution by more than the bound, which alone could make the difference"},
    {"not comparable", "the runs of this size cannot judge the statement of the source; the reason states why"},
    {"not run", "a run that the claim needs is missing or not finished"},
    {"better", "the second report is better: the corrected p is --alpha or less, and the difference is --threshold or more"},
    {"worse", "the second report is worse: the corrected p is --alpha or less, and the difference is --threshold or more"},
    {"same", "the 95 % interval of the difference lies between minus the threshold and the threshold, and the same fraction of seeds solves the split; or both reports have the same results"},
    {"in tier", "the seeds of the encoding place it in a tier of the board"},
    {"too few seeds", "the seeds are so few that no result of theirs would decide"},
    {"not learned", "most seeds have not learned the task in distribution, so the accuracy out of distribution says nothing"},
    {"inconclusive", "the seeds show neither a difference nor that there is none; more seeds may decide"},
};
// clang-format on

}  // namespace

std::string to_string(Verdict verdict) { return kTexts[static_cast<size_t>(verdict)].word; }

std::string word_of(Verdict verdict) {
  std::string word = to_string(verdict);
  std::ranges::replace(word, ' ', '_');
  return word;
}

std::string meaning(Verdict verdict) { return kTexts[static_cast<size_t>(verdict)].meaning; }

}  // namespace posbench
