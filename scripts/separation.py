#!/usr/bin/env python3
"""Which tasks of a report tell encodings apart?

For each task and for one accuracy: the variance between encodings (of their means over seeds), the variance over seeds
(within an encoding, averaged over encodings), and the ratio of the two. The last column says whether the ratio is at
least --least. Exit code 1 where fewer than --share of the tasks reach it.

    scripts/separation.py results/reference/report.json
    scripts/separation.py runs/mine/report.json --accuracy token --kind in_distribution --format markdown
"""
import argparse
import json
import math
import statistics
import sys


def spreads(report, kind, accuracy):
    """For each task, the values over seeds of each of its encodings."""
    tasks = {}
    for row in report["summary"]:
        if row[kind] is not None:
            tasks.setdefault(row["task"], []).append(row[kind][accuracy]["values"])
    return tasks


def separation(encodings):
    """The variance between encodings, that over seeds, and the first divided by the second."""
    between = statistics.variance(map(statistics.mean, encodings))
    over_seeds = statistics.mean(map(statistics.variance, encodings))
    if over_seeds > 0:
        return between, over_seeds, between / over_seeds
    return between, over_seeds, math.inf if between > 0 else 0


def refuse(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", help="report.json of a run with two seeds or more")
    parser.add_argument("--kind", choices=["out_of_distribution", "in_distribution"], default="out_of_distribution",
                        help="the mean over the splits of this kind")
    parser.add_argument("--accuracy", choices=["sequence", "token", "above_trivial"], default="sequence")
    parser.add_argument("--least", type=float, default=4, help="the ratio from which a task tells encodings apart")
    parser.add_argument("--share", type=float, default=2 / 3, help="of the tasks that must")
    parser.add_argument("--format", choices=["console", "markdown"], default="console")
    request = parser.parse_args()
    try:
        with open(request.report, encoding="utf-8") as file:
            tasks = spreads(json.load(file), request.kind, request.accuracy)
    except (OSError, ValueError, KeyError, TypeError) as error:
        refuse(f"{request.report}: expected the report.json of a run ({error!r})")
    few = [task for task, encodings in tasks.items() if len(encodings) < 2 or min(map(len, encodings)) < 2]
    if few or not tasks:
        refuse(f"{request.report}: expected two encodings and two seeds or more of each task "
                 f"({', '.join(few) or 'no task'}); run with -s 3")

    row = "| {} | {} | {} | {} | {} |" if request.format == "markdown" else "{:<28}{:>20}{:>14}{:>9}  {}"
    print(row.format("task", "between encodings", "over seeds", "ratio", "tells apart"))
    if request.format == "markdown":
        print("|---|---:|---:|---:|---|")
    apart = 0
    for task, encodings in tasks.items():
        between, over_seeds, ratio = separation(encodings)
        apart += ratio >= request.least
        print(row.format(task, f"{between:.4f}", f"{over_seeds:.4f}", f"{ratio:.1f}",
                         "yes" if ratio >= request.least else "no"))
    print(f"\n{apart} of {len(tasks)} tasks tell encodings apart: at least {request.least:g} times the variance over "
          f"seeds, by {request.accuracy} accuracy {request.kind.replace('_', ' ')}")
    sys.exit(0 if apart >= request.share * len(tasks) else 1)


if __name__ == "__main__":
    main()
