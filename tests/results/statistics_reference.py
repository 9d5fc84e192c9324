"""Writes statistics_reference.json, the values of scipy and statsmodels for our statistics.

python3 -m venv reference && reference/bin/pip install scipy==1.17.1 statsmodels==0.15.0
reference/bin/python tests/results/statistics_reference.py > tests/results/statistics_reference.json
"""

import json

import numpy
import scipy
import statsmodels
from scipy import integrate, optimize, special, stats
from statsmodels.stats.power import TTestPower

COUNTS = [(0, 10), (1, 10), (5, 10), (10, 10), (3251, 3252), (1, 1), (0, 1), (123456, 1000000)]
SAMPLES = [
    [0.5, 0.75],
    [0.98, 0.97, 1.0],
    [-0.31, -0.27, -0.33, -0.29, -0.305],
    [0.01, -0.02, 0.005, 0.0, 0.015, -0.01, 0.02],
    [1e-9, 2e-9, 1.5e-9],
]
EFFECTS = [(freedom, alpha) for freedom in (1, 2, 4, 9, 29) for alpha in (0.05, 0.01, 0.05 / 147)]
GROUPS = [
    ([0.99, 1.0, 0.98, 0.31, 0.3], [0.2, 0.25, 0.3, 0.28, 0.31]),
    ([0.5, 0.5, 0.5], [0.7, 0.71, 0.7]),
    ([1.0, 1.0, 0.4, 0.4, 1.0, 0.4], [1.0, 1.0, 1.0, 0.4, 1.0]),
]
PAIRS = [
    ([0.5, 0.6, 0.7, 0.8, 0.9, 0.4], [0.55, 0.58, 0.79, 0.85, 0.91, 0.5]),
    ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]),
]
VARIANCES = [  # and their degrees of freedom
    ([0.01, 0.02, 0.015, 0.3, 0.0004, 0.011], [8, 8, 8, 8, 8, 8]),
    ([0.01, 0.011, 0.0095, 0.0102], [4, 4, 9, 9]),
    ([0.2, 1e-9, 0.25, 0.0001, 0.01], [2, 4, 8, 8, 8]),
]
DRAWS = [[3.0], [1.0, 2.0], [5.0, 1.0, 4.0, 2.0, 3.0, 9.0, -2.0], [i * i / 7 for i in range(100)]]


def wilson(correct, total):
    interval = stats.binomtest(correct, total).proportion_ci(method="wilson")
    return {"correct": correct, "total": total, "low": interval.low, "high": interval.high}


def t_interval(values):
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return {"values": values, "low": interval.low, "high": interval.high}


def clopper_pearson(correct, total):
    interval = stats.binomtest(correct, total).proportion_ci(method="exact")
    return {"correct": correct, "total": total, "low": interval.low, "high": interval.high}


def mean_difference(x, y, axis=-1):
    return numpy.abs(numpy.mean(x, axis=axis) - numpy.mean(y, axis=axis))


def permutation(before, after, kind):
    test = stats.permutation_test(
        (before, after),
        mean_difference,
        permutation_type=kind,
        n_resamples=numpy.inf,
        alternative="greater",
        vectorized=True,
    )
    return {"before": before, "after": after, "in_pairs": kind == "samples", "p": test.pvalue}


def variance_prior(variances, freedom):
    """Smyth 2004, section 6.2, as limma's fitFDist."""
    half = numpy.array(freedom) / 2
    floored = numpy.maximum(variances, 1e-5 * numpy.median(variances))
    e = numpy.log(floored) - special.digamma(half) + numpy.log(half)
    spread = numpy.var(e, ddof=1) - numpy.mean(special.polygamma(1, half))
    if spread <= 0:
        return {"variances": variances, "freedom": freedom, "prior": numpy.exp(numpy.mean(e)), "prior_freedom": None}
    d = optimize.brentq(lambda x: special.polygamma(1, x) - spread, 1e-8, 1e8, xtol=1e-14, rtol=1e-14)
    prior = numpy.exp(numpy.mean(e) + special.digamma(d) - numpy.log(d))
    return {"variances": variances, "freedom": freedom, "prior": prior, "prior_freedom": 2 * d}


def detectable(freedom, alpha):
    """By definition: the power of the two-sided test, the noncentral t beyond the critical values, is 0.8."""
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

    center = optimize.brentq(lambda c: power(c) - 0.8, 0, 3 * critical + 3, rtol=1e-12, xtol=1e-10)
    pairs = freedom + 1
    power_by_statsmodels = TTestPower().power(center / numpy.sqrt(pairs), pairs, alpha)  # NaN for some
    assert not abs(power_by_statsmodels - 0.8) > 1e-8
    return {"freedom": freedom, "critical": critical, "noncentrality": center}


def percentiles(draws):
    low, high = numpy.percentile(draws, [2.5, 97.5])
    return {"draws": draws, "low": low, "high": high}


print(
    json.dumps(
        {
            "computed": "by statistics_reference.py, with "
            + ", ".join(f"{m.__name__} {m.__version__}" for m in (scipy, statsmodels, numpy)),
            "wilson": [wilson(*c) for c in COUNTS],
            "t_interval": [t_interval(s) for s in SAMPLES],
            "detectable_noncentrality": [detectable(*e) for e in EFFECTS],
            "clopper_pearson": [clopper_pearson(*c) for c in COUNTS],
            "permutation": [permutation(*g, "independent") for g in GROUPS]
            + [permutation(*g, "samples") for g in PAIRS],
            "variance_prior": [variance_prior(*v) for v in VARIANCES],
            "percentile_interval": [percentiles(d) for d in DRAWS],
        },
        indent=1,
    )
)
