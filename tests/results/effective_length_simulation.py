"""Prints how often the interval of the effective length contains the truth, for bimodal families of seeds.

    effective_length_simulation.py [FAMILIES]

A good seed keeps a number of multiples of the trained length, any other seed a smaller number. The accuracy is that of
the first column at kept multiples, and that of the other columns beyond. Each multiple is tested with 64 sequences at a
time until the 95 % Wilson interval excludes 0.90, at most with 512. Two probabilities of errors are computed without
chance; find_order_interval (results/statistics/effective_length.cpp) has them. effective_length_simulation_test.cpp tests
the program itself in the same way.
"""

import bisect
import functools
import itertools
import math
import random
import sys

MULTIPLES = 8
KEPT, STEP, MOST = 0.9, 64, 512
Z95, Z995 = 1.959963984540054, 2.807033768343811


def wilson(right, total, z):
    p, z2 = right / total, z * z
    middle = (p + z2 / (2 * total)) / (1 + z2 / total)
    half = z / (1 + z2 / total) * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    return middle - half, middle + half


@functools.cache
def outcomes(accuracy):
    """The possible results of the test of a multiple with this accuracy: (surely kept, possibly kept), and the sums of
    their probabilities."""
    step = [math.comb(STEP, n) * accuracy**n * (1 - accuracy) ** (STEP - n) for n in range(STEP + 1)]
    running, found = {0: 1.0}, {}
    for total in range(STEP, MOST + 1, STEP):
        after: dict[int, float] = {}
        for (right, p), (n, q) in itertools.product(running.items(), enumerate(step)):
            after[right + n] = after.get(right + n, 0) + p * q
        running = {}
        for right, p in after.items():
            low, high = wilson(right, total, Z95)
            if low <= KEPT <= high and total < MOST:
                running[right] = p
            else:
                kind = low >= KEPT, wilson(right, total, Z995)[1] >= KEPT
                found[kind] = found.get(kind, 0) + p
    return list(found), list(itertools.accumulate(found.values()))


def probability(accuracy, kind):
    kinds, sums = outcomes(accuracy)
    return sum(p for k, p in zip(kinds, [sums[0], *(b - a for a, b in itertools.pairwise(sums))]) if kind(k))


def interval_index(seeds, too_high, too_low):
    """The largest k whose interval has a coverage of 0.9 or more, and this coverage."""

    def tail(least, p):
        return sum(math.comb(seeds, n) * p**n * (1 - p) ** (seeds - n) for n in range(least, seeds + 1))

    best = None
    for k in range(1, seeds // 2 + 1):
        coverage = 1 - tail(seeds - k + 1, 0.5 + too_high / 2) - tail(seeds - k + 1, 0.5 + too_low / 2)
        if coverage >= 0.9:
            best = k, coverage
    return best


def draw_family(rng, most_varied):
    good, longest = rng.random(), rng.randint(1, MULTIPLES)
    varied = rng.randint(0, min(most_varied, longest - 1))
    return good, longest, varied, rng.randint(0, longest - varied - 1)


def true_count(family):
    """The largest number of multiples that a seed keeps with a probability above one half."""
    good, longest, varied, shortest = family
    for count in range(longest, shortest, -1):
        if good * (min(varied, longest - count) + 1) / (varied + 1) > 0.5:
            return count
    return shortest


def measured_interval(rng, family, right, beyond):
    """The smallest and the largest number of multiples that a seed may keep."""
    good, longest, varied, shortest = family
    kept = longest - rng.randint(0, varied) if rng.random() < good else shortest
    low = high = None
    for n in range(MULTIPLES):
        kinds, sums = outcomes(right if n < kept else beyond)
        sure, maybe = kinds[min(bisect.bisect_left(sums, rng.random()), len(kinds) - 1)]
        low = n if low is None and not sure else low
        if not maybe:
            high = n
            break
    return MULTIPLES if low is None else low, MULTIPLES if high is None else high


def coverage(families, seeds, k, right, beyond, most_varied):
    rng = random.Random(seeds)
    covered = 0
    for _ in range(families):
        family = draw_family(rng, most_varied)
        ends = [measured_interval(rng, family, right, beyond) for _ in range(seeds)]
        lows, highs = sorted(e[0] for e in ends), sorted(e[1] for e in ends)
        covered += lows[k - 1] <= true_count(family) <= highs[-k]
    return covered / families


def main(families=20000):
    too_high = probability(KEPT - 1e-9, lambda kind: kind[0])
    too_low = 1 - probability(KEPT, lambda kind: kind[1]) ** MULTIPLES
    print(f"a multiple just below 0.90 is surely kept: {too_high:.4f}; one of eight at 0.90 is not kept: {too_low:.4f}")
    beyond = (0.4, 0.85, 0.88, 0.895)
    print("seeds  accuracy  " + "  ".join(f"beyond {b:g}".rjust(12) for b in beyond) + "  varied, 0.88  at least")
    for seeds in (5, 10):
        k, least = interval_index(seeds, too_high, too_low)
        for right in (0.99, 0.97, 0.95, 0.92, 0.91, 0.90):
            two = [coverage(families, seeds, k, right, b, 0) for b in beyond]
            varied = coverage(families, seeds, k, right, 0.88, MULTIPLES)
            figures = "  ".join(f"{figure:12.3f}" for figure in two)
            print(f"{seeds:5}  {right:8.2f}  {figures}  {varied:12.3f}  {least:8.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
