#!/usr/bin/env python3
"""Chooses the core tasks of the board from the stored results, by the rules of docs/board.md, and prints them.

core_tasks.py POSBENCH [PROFILE]

With PROFILE, a file of harness/config/profiles, the exit code is 1 if it has other tasks.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent.parent / "results/data/board"
MOST, OF_EACH_ASPECT = 32, 3
NAMED = {"selective_copy", "counting", "flip_flop", "last_x_retrieval"}  # the tasks that posbench is about


def of_program(*words):
    return json.loads(subprocess.run([sys.argv[1], *words], check=True, capture_output=True).stdout)


def shortcuts():
    """Returns the token accuracy of the best trivial predictor of each task, on its worst split out of distribution."""
    found = {}
    for file in sorted(DATA.glob("*.json.gz")):
        for task in json.loads(gzip.decompress(file.read_bytes()))["tasks"]:
            splits = [s for s in task["splits"] if s["kind"] == "out_of_distribution"]
            found[task["task"]] = max((max(s["trivial"].values()) for s in splits), default=1)
    return found


def choose():
    board = of_program("board", "--format", "json")
    aspects = {task["id"]: task["aspects"] for task in of_program("list", "tasks", "--json")["tasks"]}
    on_all = {row["encoding"] for row in board["over_tasks"]["encodings"]}
    shortcut = shortcuts()
    spread = {}  # of the means out of distribution of the encodings that have learned the task
    for task in board["tasks"]:
        name, rows = task["task"], [row for row in task["rows"] if row["encoding"] in on_all]
        means = [row["mean"] for row in rows if 2 * row["learned"] >= len(row["values"])]
        if name in NAMED or (not task["mark"] and 2 * len(means) >= len(rows) and shortcut[name] < 0.8):
            spread[name] = max(means) - min(means)

    def aspects_of(task):
        return aspects[task.split(":")[0]]

    def number_of(aspect, tasks):
        return sum(aspect in aspects_of(task) for task in tasks)

    by_spread = sorted(spread, key=lambda task: (task not in NAMED, -spread[task]))
    core = [task for task in by_spread if task in NAMED or spread[task] >= 0.2]
    for aspect in sorted({a for task in spread for a in aspects_of(task)}):
        others = (task for task in by_spread if task not in core and aspect in aspects_of(task))
        while number_of(aspect, core) < OF_EACH_ASPECT and (task := next(others, None)):
            core.append(task)
    while len(core) > MOST:  # the least spread of those whose aspects have enough tasks without it
        spare = [t for t in core if t not in NAMED and all(number_of(a, core) > OF_EACH_ASPECT for a in aspects_of(t))]
        core.remove(min(spare, key=lambda task: spread[task]))
    return [task["task"] for task in board["tasks"] if task["task"] in core]


def main():
    tasks = choose()
    if len(sys.argv) == 2:
        print(",".join(tasks))
        return 0
    given = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))["tasks"]
    if sorted(given) == sorted(tasks):
        return 0
    print(f"{sys.argv[2]} has the tasks {', '.join(given)}, and the rules give {', '.join(tasks)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
