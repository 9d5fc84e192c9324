#!/usr/bin/env python3
"""Predicts and counts the signs of results/data/signs/registration.json.

    results/data/signs/signs.py predict > results/data/signs/predictions.json
    results/data/signs/signs.py count > results/data/signs/statistics.json

`predict` reads the reports in this folder. `count` reads the predictions.
"""

import gzip
import json
import math
import random
import statistics
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent
REGISTRATION = json.loads((DATA / "registration.json").read_text(encoding="utf-8"))
MODELS = {  # report and encoding of each model
    "rope": ("plain", "rope"),
    "none": ("plain", "none"),
    "half": ("plain", "rope_partial:fraction=0.5"),
    "half-offset": ("half-offset", "rope_partial:fraction=0.5"),
    "p": ("plain", "rope_p"),
    "layers": ("plain", "layers"),
    "dropped": ("plain", "rope->none +300 steps"),
    "rope-smear": ("rope-smear", "rope"),
    "rope-convolution": ("convolution", "rope"),
    "none-convolution": ("convolution", "none"),
}


def values_of(model):
    """Returns the accuracy out of distribution of each seed, by task."""
    report, encoding = MODELS[model]
    values = {}
    with gzip.open(DATA / f"{report}.json.gz", "rt", encoding="utf-8") as file:
        for experiment in json.load(file)["experiments"]:
            if experiment["encoding"] == encoding:
                splits = [split for split in experiment["splits"] if split["kind"] == "out_of_distribution"]
                mean = statistics.fmean(split["sequence"]["correct"] / split["sequence"]["total"] for split in splits)
                values.setdefault(experiment["task"], []).append(mean)
    assert len(values) == 7 and all(len(of_task) == 5 for of_task in values.values()), (model, values)
    return values


def difference(base, variant, drawn, pick):
    """Returns the mean over drawn tasks of the difference of means of picked values."""
    return statistics.fmean(
        statistics.fmean(pick(variant[task])) - statistics.fmean(pick(base[task])) for task in drawn
    )


def predict():
    draw, rows = random.Random(0), []
    for ablation in REGISTRATION["ablations"]:
        base, variant = (values_of(ablation[side]) for side in ("base", "variant"))
        tasks = sorted(base)

        samples = sorted(
            difference(
                base, variant, draw.choices(tasks, k=len(tasks)), lambda values: draw.choices(values, k=len(values))
            )
            for _ in range(10000)
        )
        found = difference(base, variant, tasks, list)
        rows.append(
            {"id": ablation["id"], "difference": found, "low": samples[249], "high": samples[9749]}
            | {"predicted": (found > 0) - (found < 0)}
            | {"tasks": {task: statistics.fmean(variant[task]) - statistics.fmean(base[task]) for task in tasks}}
        )
    return rows


def count():
    predicted = {row["id"]: row["predicted"] for row in json.loads((DATA / "predictions.json").read_text())}
    agree = [one["id"] for one in REGISTRATION["ablations"] if one["published"] == predicted[one["id"]]]
    all_of = len(predicted)
    p = sum(math.comb(all_of, n) for n in range(len(agree), all_of + 1)) / 2**all_of
    return {"agree": agree, "differ": sorted(set(predicted) - set(agree)), "of": all_of, "p": p} | {
        "verdict": "supported" if p < 0.05 else "not shown"
    }


if __name__ == "__main__":
    command = {"predict": predict, "count": count}.get(sys.argv[1] if len(sys.argv) == 2 else "") or sys.exit(__doc__)
    print(json.dumps(command(), indent=1))
