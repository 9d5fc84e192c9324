#!/usr/bin/env python3
"""Computes the statistics that results/data/own_rates/registration.json states.

    results/data/own_rates/own_rates.py PROGRAM > results/data/own_rates/statistics.json

It reads the reports in this folder, and takes a minute.
"""

import collections
import gzip
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent
sys.path[:0] = [str(DATA.parents[2] / "scripts")]
from compare_optimizers import ranks  # noqa: E402

REGISTRATION = json.loads((DATA / "registration.json").read_text(encoding="utf-8"))
TASKS = ["selective_copy", "counting", "flip_flop", "last_x_retrieval", "even_pairs"]
TASKS += ["reverse_string:length=1..10", "bucket_sort:length=1..10"]
ABSOLUTE = ["sinusoidal", "learned_abs"]
REFERENCE = ["none", *ABSOLUTE, "shaw_k", "rope", "alibi"]  # with cope, the encodings of the reference report


def rows_of(program, *arguments):
    """Returns the rows of the board, by task and encoding."""
    command = [program, "board", *arguments, "-t", ",".join(TASKS), "--format", "json", "-q"]
    board = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {task["task"]: {row["encoding"].split(" ")[0]: row for row in task["rows"]} for task in board["tasks"]}


def score(values):
    """Returns the interquartile mean over tasks and seeds, as 'posbench board' does."""
    ordered = sorted(value for of_task in values for value in of_task)
    cut = len(ordered) // 4
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def compare(common, own, draw):
    """Returns the correlation of both orders with its interval, and the ranks of each encoding with both settings."""

    def orders(tasks, pick):
        scores = [
            [score([pick(rows[task][encoding]["values"]) for task in tasks]) for encoding in encodings]
            for rows in (common, own)
        ]
        return [ranks([-value for value in side]) for side in scores], scores

    encodings = [encoding for encoding in REGISTRATION["encodings"] if encoding in own[TASKS[0]]]
    (before, after), scores = orders(TASKS, list)
    correlations, changes = [], collections.defaultdict(list)
    for _ in range(10000):
        drawn, _ = orders(draw.choices(TASKS, k=len(TASKS)), lambda values: draw.choices(values, k=len(values)))
        correlations.append(statistics.correlation(*drawn))
        for n, encoding in enumerate(encodings):
            changes[encoding].append(drawn[0][n] - drawn[1][n])
    ends = {encoding: [sorted(all_changes)[n] for n in (249, 9749)] for encoding, all_changes in changes.items()}
    correlation, (low, high) = statistics.correlation(before, after), [sorted(correlations)[n] for n in (249, 9749)]
    favored = {
        encoding: {"change": before[n] - after[n], "low": ends[encoding][0], "high": ends[encoding][1]}
        | {
            "verdict": "favored"
            if ends[encoding][1] < 0
            else "at a disadvantage"
            if ends[encoding][0] > 0
            else "neither"
        }
        for n, encoding in enumerate(encodings)
        if encoding in ("rope", "cope")
    }
    return {
        "encodings": {
            encoding: {
                "common": scores[0][n],
                "own": scores[1][n],
                "rank_common": before[n] + 1,
                "rank_own": after[n] + 1,
            }
            for n, encoding in enumerate(encodings)
        },
        "order": {"correlation": correlation, "low": low, "high": high}
        | {"verdict": "holds" if correlation >= 0.8 and low >= 0.5 else "depends on settings"},
        "favored": favored,
    }


def learned(rows):
    return {f"{task} {encoding}" for task in TASKS for encoding, row in rows[task].items() if row["learned"] >= 3}


def multiple(row):
    """Returns the effective length, far if there is a far one."""
    return (row["effective_far"] or row["effective_length"])["multiple"]


def statements(own):
    """Returns for each statement of findings.md whether it holds, and the cells that decide."""
    last, reverse = own["last_x_retrieval"], own["reverse_string:length=1..10"]
    far = {encoding: multiple(row) if row["learned"] >= 3 else None for encoding, row in last.items()}
    one = {encoding: far.get(encoding) for encoding in (*REFERENCE, "cope")}
    two = {
        f"{task} {encoding}": multiple(own[task][encoding])
        for task in TASKS
        for encoding in ABSOLUTE
        if own[task][encoding]["learned"] >= 3
    }
    three = {
        f"{task} {encoding}": row["mean"]
        for task in ("selective_copy", "last_x_retrieval")
        for encoding, row in own[task].items()
        if row["learned"] >= 3 and row["mean"] >= 0.9
    }
    four = {encoding: multiple(row) for encoding, row in reverse.items() if row["learned"] >= 3}
    holds = [
        (one["cope"] or 0) >= 1 and all((one[encoding] or 0) < 1 for encoding in REFERENCE),
        max(two.values()) <= 1,
        all(cell.split(" ")[1] in ("cope", "fox") for cell in three),
        max(four.values(), default=0) < 2,
    ]
    cells = zip(REGISTRATION["statements"], holds, (one, two, three, four))
    return [{"id": statement["id"], "holds": held, "cells": decided} for statement, held, decided in cells]


def main(program):
    reports = [str(DATA / f"{encoding}.json.gz") for encoding in REGISTRATION["encodings"]]
    reports = [report for report in reports if Path(report).exists()]
    own = rows_of(program, *reports, "--only-own", "--allow-different-budget")
    encodings = list(own[TASKS[0]])
    common = {
        task: {encoding: rows[encoding] for encoding in encodings}
        for task, rows in rows_of(program, "-e", ",".join(encodings)).items()
    }
    rates, longer, models = collections.Counter(), 0, 0
    steps = {}
    for report in reports:
        with gzip.open(report, "rt", encoding="utf-8") as file:
            for experiment in json.load(file)["experiments"]:
                cell = f"{experiment['task']} {experiment['encoding']}"
                if cell not in steps:
                    rates[experiment["learning_rate"]] += 1
                steps.setdefault(cell, []).append(experiment["steps"])
                models += 1
    for task in TASKS:
        fewest = min(min(of_cell) for cell, of_cell in steps.items() if cell.startswith(f"{task} "))
        longer += sum(one > fewest for cell, of_cell in steps.items() if cell.startswith(f"{task} ") for one in of_cell)
    before, after = learned(common), learned(own)
    return compare(common, own, random.Random(0)) | {
        "learned": {
            "common": len(before),
            "own": len(after),
            "gained": sorted(after - before),
            "lost": sorted(before - after),
        },
        "rates": {str(rate): count for rate, count in sorted(rates.items())},
        "longer": {"models": longer, "of": models},
        "statements": statements(own),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(main(sys.argv[1]), indent=1))
