// Defines the verdicts on claims and of comparisons, and the standings on the board, which share their words.
#pragma once
#include <string>

namespace posbench {

enum class Verdict {
  // of claims
  reproduced,
  weaker,
  contradicted,
  rival_undertrained,
  not_comparable,
  not_run,
  // of comparisons
  better,
  worse,
  same,
  // of the board, which lists its rows in this order
  in_tier,
  // of several
  too_few_seeds,
  not_learned,
  inconclusive
};

constexpr Verdict kClaimVerdicts[] = {Verdict::reproduced,         Verdict::weaker,         Verdict::contradicted,
                                      Verdict::rival_undertrained, Verdict::not_learned,    Verdict::too_few_seeds,
                                      Verdict::inconclusive,       Verdict::not_comparable, Verdict::not_run};
constexpr Verdict kComparisonVerdicts[] = {Verdict::better,      Verdict::worse,         Verdict::same,
                                           Verdict::not_learned, Verdict::too_few_seeds, Verdict::inconclusive};

std::string to_string(Verdict);  // "too few seeds"
std::string word_of(Verdict);    // "too_few_seeds", as --verdict takes it
std::string meaning(Verdict);

}  // namespace posbench
