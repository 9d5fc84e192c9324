"""Prints how often the interval of the effective length contains the truth, for bimodal families of seeds.

    effective_length_simulation.py [FAMILIES]

A good seed keeps a number of multiples of the trained length, any other seed a smaller number. Each kept multiple is
tested with as many sequences as evaluation.grid=256 has. The interval goes from the k-th smallest value to the k-th
largest. effective_length_simulation_test.cpp tests the program itself in the same way.
"""

import bisect
import itertools
import math
import random
import sys

MULTIPLES = [1, 1.5, 2, 3, 4, 6, 8, 16]
SEQUENCES = [max(64, math.ceil(256 / multiple)) for multiple in MULTIPLES]
KEPT = 0.9  # the sequence accuracy from which a seed keeps a multiple


def distribution(trials, rate):
    """The probabilities of at most 0, 1, ... successes."""
    counts = range(trials + 1)
    return list(itertools.accumulate(math.comb(trials, n) * rate**n * (1 - rate) ** (trials - n) for n in counts))


def interval_index(seeds):
    """The largest k whose interval has a coverage of 0.9 or more, and this coverage."""
    best = None
    for k in range(1, seeds // 2 + 1):
        coverage = 1 - 2 * sum(math.comb(seeds, n) for n in range(k)) / 2**seeds
        if coverage >= 0.9:
            best = k, coverage
    return best


def draw_family(rng, most_varied):
    good, longest = rng.random(), rng.randint(1, len(MULTIPLES))
    varied = rng.randint(0, min(most_varied, longest - 1))
    return good, longest, varied, rng.randint(0, longest - varied - 1)


def true_count(family):
    """The largest number of multiples that a seed keeps with a probability above one half."""
    good, longest, varied, shortest = family
    for count in range(longest, shortest, -1):
        if good * (min(varied, longest - count) + 1) / (varied + 1) > 0.5:
            return count
    return shortest


def measured_count(rng, family, distributions):
    good, longest, varied, shortest = family
    kept = longest - rng.randint(0, varied) if rng.random() < good else shortest
    for n in range(kept):
        if bisect.bisect_left(distributions[n], rng.random()) / SEQUENCES[n] < KEPT:
            return n
    return kept  # beyond it, less than half of the sequences are right


def coverage(families, seeds, right, most_varied):
    rng = random.Random(seeds)
    distributions = [distribution(n, right) for n in SEQUENCES]
    k, _ = interval_index(seeds)
    covered = 0
    for _ in range(families):
        family = draw_family(rng, most_varied)
        counts = sorted(measured_count(rng, family, distributions) for _ in range(seeds))
        covered += counts[k - 1] <= true_count(family) <= counts[-k]
    return covered / families


def main(families=20000):
    print("seeds  accuracy  two lengths  varied lengths  at least")
    for seeds in (5, 10):
        for right in (0.995, 0.97, 0.95, 0.92):
            two, varied = (coverage(families, seeds, right, most) for most in (0, len(MULTIPLES)))
            print(f"{seeds:5}  {right:8.3f}  {two:11.3f}  {varied:14.3f}  {interval_index(seeds)[1]:8.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
