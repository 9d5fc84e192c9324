#!/usr/bin/env python3
"""Computes the statistics of results/data/depth/registration.json.

    results/data/depth/depth.py runs    # prints the runs of the claims, in order, without repeats
    results/data/depth/depth.py > results/data/depth/statistics.json

It reads the reports in this folder and those of the confirmed claims. A claim is left out where one of its runs is missing.
"""

import gzip
import json
import random
import statistics
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent
CONFIRMED = DATA.parent / "claims/confirmed"
REGISTRATION = json.loads((DATA / "registration.json").read_text(encoding="utf-8"))
LEARNED = 0.95


def experiments(run, layers):
    """Returns the experiments of a run of the claims, with the given number of layers."""
    file = CONFIRMED / run / "report.json.gz" if layers == 2 else DATA / f"{run}-{layers}.json.gz"
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        report = json.load(stream)
    expected = 18 if layers == 2 else len(REGISTRATION["seeds"])
    assert report["config"]["model"]["layers"] == layers and len(report["experiments"]) == expected, file
    return report["experiments"]


def value(experiment, name, metric):
    """Returns the accuracy on a split, or the mean over the splits of a kind."""
    splits = [split for split in experiment["splits"] if name in (split["name"], split["kind"])]
    return statistics.fmean(split[metric]["correct"] / split[metric]["total"] for split in splits)


class Cell:
    """One cell of a rule: the encoding, the values of its seeds, and how many learned the task."""

    def __init__(self, cell, metric, layers):
        run, split, _ = cell["evidence"].split(" ")
        rows = experiments(run, layers)
        self.encoding = cell["encoding"]
        self.values = [value(row, split, metric) for row in rows]
        self.learned = sum(value(row, "in_distribution", "sequence") >= LEARNED for row in rows)

    def facts(self):
        return {"encoding": self.encoding, "mean": statistics.fmean(self.values), "values": self.values} | {
            "learned": self.learned,
            "seeds": len(self.values),
        }


def runs_of(claim):
    """Returns the names of the runs of a claim, in order."""
    cells = [rule.get(key) for rule in claim["rules"] for key in ("cell", "high", "low")]
    return list(dict.fromkeys(cell["evidence"].split(" ")[0] for cell in cells if cell))


def has_run(claim, layers):
    return layers == 2 or all((DATA / f"{run}-{layers}.json.gz").exists() for run in runs_of(claim))


def judge(rule, metric, layers, draw):
    if "cell" in rule:
        cell = Cell(rule["cell"], metric, layers)
        low, high = rule["at_least"], rule["at_most"]
        reached = sum((low is None or v >= low) and (high is None or v <= high) for v in cell.values)
        level = {"split": rule["cell"]["split"], "at_least": low, "at_most": high}
        return level | {"reached": reached, "holds": 2 * reached > len(cell.values), "of": cell.facts()}
    high, low = (Cell(rule[side], metric, layers) for side in ("high", "low"))

    def difference(pick):
        return statistics.fmean(pick(high.values)) - statistics.fmean(pick(low.values))

    found = difference(list)
    samples = sorted(difference(lambda values: draw.choices(values, k=len(values))) for _ in range(10000))
    order = {"split": rule["high"]["split"], "difference": found, "low": samples[249], "high": samples[9749]}
    return order | {"holds": found > 0, "shown": samples[249] > 0, "of": [high.facts(), low.facts()]}


def main():
    with open(CONFIRMED / "claims.json", encoding="utf-8") as file:
        all_claims = {claim["name"]: claim for claim in json.load(file)["claims"]}
    claims = [all_claims[name] for name in REGISTRATION["claims"]]
    if sys.argv[1:] == ["runs"]:
        print("\n".join(dict.fromkeys(run for claim in claims for run in runs_of(claim))))
        return
    draw, rows = random.Random(0), []
    for claim in claims:
        for layers in REGISTRATION["layers"]:
            if not has_run(claim, layers):
                continue
            rules = [judge(rule, claim["metric"], layers, draw) for rule in claim["rules"]]
            holds = all(rule["holds"] for rule in rules)
            rows.append({"claim": claim["name"], "layers": layers, "holds": holds, "rules": rules})
    counts = {}
    for layers in REGISTRATION["layers"]:
        of_size = [row for row in rows if row["layers"] == layers]
        counts[str(layers)] = {"claims": len(of_size), "hold": sum(row["holds"] for row in of_size)}
    json.dump({"counts": counts, "claims": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
