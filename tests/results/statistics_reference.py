"""Writes statistics_reference.json: what scipy and statsmodels give for our statistics.

    python3 -m venv reference && reference/bin/pip install scipy==1.17.1 statsmodels==0.15.0
    reference/bin/python tests/results/statistics_reference.py > tests/results/statistics_reference.json
"""

import json

import numpy
import scipy
import statsmodels
from scipy import integrate, optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

COUNTS = [(0, 10), (1, 10), (5, 10), (10, 10), (3251, 3252), (1, 1), (0, 1), (123456, 1000000)]
SAMPLES = [
    [0.5, 0.75],
    [0.98, 0.97, 1.0],
    [-0.31, -0.27, -0.33, -0.29, -0.305],
    [0.01, -0.02, 0.005, 0.0, 0.015, -0.01, 0.02],
    [1e-9, 2e-9, 1.5e-9],
]
EFFECTS = [(n, alpha) for n in (2, 3, 5, 10, 30) for alpha in (0.05, 0.01, 0.05 / 147)]
P_VALUES = [[0.01, 0.04, 0.03], [0.0001, 0.5, 0.5, 0.02, 0.9], [0.2], [0.03, 0.03, 0.01, 1.0], [0.0, 0.0]]
DRAWS = [[3.0], [1.0, 2.0], [5.0, 1.0, 4.0, 2.0, 3.0, 9.0, -2.0], [i * i / 7 for i in range(100)]]


def wilson(correct, total):
    interval = stats.binomtest(correct, total).proportion_ci(method="wilson")
    return {"correct": correct, "total": total, "low": interval.low, "high": interval.high}


def paired(differences):
    test = stats.ttest_rel(differences, [0.0] * len(differences))
    interval = test.confidence_interval(0.95)
    return {
        "differences": differences,
        "mean": numpy.mean(differences),
        "deviation": numpy.std(differences, ddof=1),
        "low": interval.low,
        "high": interval.high,
        "p": test.pvalue,
    }


def detectable_effect(pairs, alpha):
    """By definition: the power of the two-sided test, the noncentral t beyond the critical values, is 0.8."""
    freedom = pairs - 1
    critical = stats.t.isf(alpha / 2, freedom)

    def power(center):  # integrated over the chi variable of the denominator: nct loses digits far out
        chi = stats.chi(freedom, scale=freedom**-0.5)
        step = center / critical  # the integrand falls from the density to nothing here

        def integrand(u):
            rejected = stats.norm.sf(critical * u - center) + stats.norm.cdf(-critical * u - center)
            return chi.pdf(u) * rejected

        edges = [0, *(max(0, step + width / critical) for width in (-10, 0, 10)), step + 20]
        pieces = zip(edges, edges[1:])
        return sum(integrate.quad(integrand, a, b, limit=200, epsabs=1e-12)[0] for a, b in pieces)

    effect = optimize.brentq(lambda c: power(c) - 0.8, 0, 3 * critical + 3, rtol=1e-12, xtol=1e-10)
    effect /= numpy.sqrt(pairs)
    power_by_statsmodels = TTestPower().power(effect, pairs, alpha)  # NaN for some
    assert not abs(power_by_statsmodels - 0.8) > 1e-8
    return {"pairs": pairs, "alpha": alpha, "effect": effect}


def holm(p):
    return {"p": p, "adjusted": list(multipletests(p, method="holm")[1])}


def percentiles(draws):
    low, high = numpy.percentile(draws, [2.5, 97.5])
    return {"draws": draws, "low": low, "high": high}


print(
    json.dumps(
        {
            "computed": "by statistics_reference.py, with "
            + ", ".join(f"{m.__name__} {m.__version__}" for m in (scipy, statsmodels, numpy)),
            "wilson": [wilson(*c) for c in COUNTS],
            "paired_t_test": [paired(s) for s in SAMPLES],
            "detectable_effect": [detectable_effect(*e) for e in EFFECTS],
            "holm": [holm(p) for p in P_VALUES],
            "percentile_interval": [percentiles(d) for d in DRAWS],
        },
        indent=1,
    )
)
