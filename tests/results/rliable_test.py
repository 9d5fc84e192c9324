"""Compares the summary over tasks of `posbench board` with the package rliable (PyPI), which its authors published.

    rliable_test.py POSBENCH

Exit code 77: skipped, rliable cannot be imported (it needs pandas < 3).
"""

import json
import subprocess
import sys


def board(program, *arguments):
    command = [program, "board", *arguments, "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def values_of(shown, encoding):
    """Returns the values of each seed, a list for each task of the summary."""
    rows = {task["task"]: row for task in shown["tasks"] for row in task["rows"] if row["encoding"] == encoding}
    return [rows[task]["values"] for task in shown["over_tasks"]["tasks"]]


def main(program):
    try:
        import numpy as np
        from rliable import library, metrics
    except (ImportError, TypeError) as error:
        print(f"skipped: {error}")
        return 77
    # rliable needs the same number of seeds on each task: the board has three on tasks that quick does not have.
    whole = board(program)
    names = [row["encoding"] for row in whole["over_tasks"]["encodings"]][:4]
    seeds = {task: len(values) for task, values in zip(whole["over_tasks"]["tasks"], values_of(whole, names[0]))}
    equal = [task for task, count in seeds.items() if count == 3]
    shown = board(program, "-t", ",".join(equal), "-e", ",".join(names))
    over = shown["over_tasks"]
    assert over["tasks"] == equal and len(over["encodings"]) == len(names) > 1, over
    scores = {name: np.array(values_of(shown, name)).T for name in names}
    first = over["encodings"][0]["encoding"]
    rng = np.random.RandomState(0)
    for row in over["encodings"]:
        name, iqm = row["encoding"], row["interquartile_mean"]
        value, interval = library.get_interval_estimates(
            {name: scores[name]}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2000, random_state=rng
        )
        check(f"{name}: interquartile mean", iqm["value"], value[name][0], 2e-6)
        check(f"{name}: low", iqm["low"], interval[name][0, 0], 0.01)
        check(f"{name}: high", iqm["high"], interval[name][1, 0], 0.01)
        if name != first:
            better = metrics.probability_of_improvement(scores[first], scores[name])
            check(f"{name}: first is better", row["first_is_better"]["value"], better, 2e-6)
        profile = library.score_distributions(scores[name], over["thresholds"])
        for threshold, ours, theirs in zip(over["thresholds"], row["profile"], profile):
            check(f"{name}: above {threshold}", ours, theirs, 2e-6)
    return 0


def check(what, ours, theirs, margin):
    print(f"{what}: {ours:.6f}, rliable {theirs:.6f}")
    assert abs(ours - theirs) <= margin, what


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
