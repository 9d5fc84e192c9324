#!/usr/bin/env python3
"""Compares the time that two optimizers take until a model has learned a task: whether Muon replaces AdamW.

Registered before the first run:
* The cells are TASKS x ENCODINGS of the profile quick: its tasks and the next five of the profile board. A seed has reached the
  mark at its first validation with a sequence accuracy of 0.95 or more; a seed that never does counts as infinite.
* Each optimizer takes, in each cell, the learning rate of RATES with the fewest steps on TUNING_SEED, or with the
  greater last validation if these are equal. Only then the SEEDS are trained.
* The time of a step in a cell is the difference between a run of 120 steps and one of 20, which validate and test alike.
* The result is the median over cells of the ratio of median steps x time of a step, muon / adamw, and the rank correlation of
  the mean accuracies out of distribution over all cells. A cell that neither optimizer reaches has no ratio.
* Muon replaces AdamW in quick and on the board if the ratio of times is at most 0.6 and the rank correlation at least 0.9.
  Otherwise it stays an option.

A first stage of 9 of these cells with other seeds was looked at before: median ratio of steps 0.61, rank correlation 0.98.
The time of a step of one cell was looked at too: that of Muon is 1.7 times as long on even_pairs with rope.

    scripts/compare_optimizers.py build/release/posbench runs/optimizers
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

TASKS = ["selective_copy", "counting", "flip_flop", "last_x_retrieval", "even_pairs", "reverse_string:length=1..10"]
TASKS += ["bucket_sort:length=1..10", "copy", "dyck", "forgetting_mqar", "interleaved_majority", "mqar"]
ENCODINGS = ["none", "sinusoidal", "rope", "alibi", "cope"]
OPTIMIZERS = ["adamw", "muon"]
RATES = ["1e-3", "3e-3"]
TUNING_SEED, SEEDS = 4100, [4101, 4102, 4103]
SETTINGS = {
    "training.validate_every": "50",
    "training.early_stop": "3",
    "evaluation.sequences": "128",
    "evaluation.grid": "0",
}


def report_of(program, folder, tasks, encodings, seeds, settings):
    """Returns the report of a run, which an earlier call may have made."""
    names = [one.split(":")[0] for one in [*tasks, *encodings]] if len(tasks) * len(encodings) == 1 else ["all"]
    run = folder / "-".join([*names, *map(str, seeds), *settings.values()])
    if not (run / "report.json").exists():
        command = [program, "run", "-t", ",".join(tasks), "-e", ",".join(encodings), "-j", "1", "-q", "-o", str(run)]
        command += ["-s", ",".join(map(str, seeds)) + ("," if len(seeds) == 1 else ""), "--resume"]
        for name, value in settings.items():
            command += ["--set", f"{name}={value}"]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode not in (0, 1):
            sys.exit(f"compare_optimizers.py: failed: {' '.join(command)}")
    return json.loads((run / "report.json").read_text(encoding="utf-8"))


def experiments(program, folder, tasks, encodings, seeds, optimizer, rate):
    """Returns the experiments of a run."""
    settings = SETTINGS | {"training.optimizer": optimizer, "training.learning_rate": rate}
    return report_of(program, folder, tasks, encodings, seeds, settings)["experiments"]


def step_seconds(program, folder, task, encoding, optimizer):
    """Returns the processor time of a training step."""
    short = {"training.validate_every": "100000", "evaluation.sequences": "1", "evaluation.grid": "0"}
    short["training.optimizer"] = optimizer
    seconds = [
        report_of(program, folder, [task], [encoding], [0], short | {"training.steps": steps})["timing"]["core_seconds"]
        for steps in ("20", "120")
    ]
    return (seconds[1] - seconds[0]) / 100


def steps_to_mark(experiment):
    reached = [point["step"] for point in experiment["learning_curve"] if point["validation_sequence"] >= 0.95]
    return reached[0] if reached else math.inf


def beyond(experiment):
    """Returns the mean sequence accuracy over the splits out of distribution; 0 if there are no results."""
    splits = [split for split in experiment["splits"] if split["kind"] == "out_of_distribution"]
    return statistics.mean(split["sequence"]["accuracy"] for split in splits) if splits else 0.0


def chosen_rates(program, folder, optimizer):
    """Returns the learning rate of each cell."""
    tried = {}
    for rate in RATES:
        for one in experiments(program, folder, TASKS, ENCODINGS, [TUNING_SEED], optimizer, rate):
            last = one["learning_curve"][-1]["validation_sequence"] if one["learning_curve"] else 0.0
            tried.setdefault((one["task"], one["encoding"]), []).append((steps_to_mark(one), -last, rate))
    return {cell: min(results)[2] for cell, results in tried.items()}


def ranks(values):
    """Returns the ranks, with the mean of equal ones."""
    return [sum(other < one for other in values) + (values.count(one) - 1) / 2 for one in values]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posbench", help="the program")
    parser.add_argument("folder", type=Path, help="folder of the runs; finished ones are not repeated")
    request = parser.parse_args()
    steps, accuracies, rates = {}, {}, {}
    for optimizer in OPTIMIZERS:
        rates[optimizer] = chosen_rates(request.posbench, request.folder, optimizer)
        for cell, rate in rates[optimizer].items():
            done = experiments(request.posbench, request.folder, [cell[0]], [cell[1]], SEEDS, optimizer, rate)
            steps.setdefault(cell, []).append(statistics.median(map(steps_to_mark, done)))
            accuracies.setdefault(cell, []).append(statistics.mean(map(beyond, done)))
    ratios, times = [], []
    print(
        "| task | encoding | adamw: rate, steps, beyond | muon: rate, steps, beyond | ratio of steps | of a step's time |"
    )
    print("|---|---|---|---|--:|--:|")
    for cell, (before, after) in steps.items():
        texts = [
            f"{rates[optimizer][cell]}, {steps[cell][n]:g}, {accuracies[cell][n]:.3f}"
            for n, optimizer in enumerate(OPTIMIZERS)
        ]
        seconds = [step_seconds(request.posbench, request.folder, *cell, optimizer) for optimizer in OPTIMIZERS]
        if not (math.isinf(before) and math.isinf(after)):
            ratios.append(after / before)
            times.append(ratios[-1] * seconds[1] / seconds[0])
            texts += [f"{ratios[-1]:.2f}", f"{seconds[1] / seconds[0]:.2f}"]
        print(f"| {cell[0]} | {cell[1]} | {' | '.join(texts)} |")
    pairs = list(zip(*accuracies.values()))
    print(f"median ratio of steps: {statistics.median(ratios or [math.nan]):.2f} over {len(ratios)} cells")
    print(f"median ratio of times: {statistics.median(times or [math.nan]):.2f}")
    print(f"rank correlation: {statistics.correlation(*map(ranks, pairs)):.2f} over {len(accuracies)} cells")


if __name__ == "__main__":
    main()
