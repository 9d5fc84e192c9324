#!/usr/bin/env python3
"""Compares language models with the board, as results/data/language/registration.json states it.

    results/data/language/language_models.py measure PROGRAM FOLDER > results/data/language/losses.json
    results/data/language/language_models.py judge PROGRAM > results/data/language/statistics.json
    results/data/language/language_models.py draw > results/data/language/language_models.svg

FOLDER has python.txt and bible.txt, and the run directories python and bible of the registered command. `measure` needs
NumPy. `judge` reads losses.json and the board of the program, and takes a minute. `draw` reads statistics.json.
"""

import collections
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent
ROOT = DATA.parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "scripts")]
from compare_optimizers import ranks  # noqa: E402

REGISTRATION = json.loads((DATA / "registration.json").read_text(encoding="utf-8"))


def output_of(*command, cwd=None):
    """Returns what a command prints. Raises CalledProcessError if it fails."""
    return subprocess.run([str(one) for one in command], check=True, stdout=subprocess.PIPE, cwd=cwd).stdout


def measure(program, folder):
    """Returns one row for each model: its losses in nats for each byte."""
    import numpy as np
    import posbench

    program, rows = Path(program).resolve(), []
    for name, text in REGISTRATION["texts"].items():
        content = (Path(folder) / text["file"]).read_bytes()
        part = content[: len(content) - 2 * (len(content) // 10)]
        common = collections.Counter(part[n : n + 8] for n in range(len(part) - 7))
        byte_of = sorted(set(content))
        report = json.loads((Path(folder) / name / "report.json").read_text(encoding="utf-8"))
        chosen = {}  # by seed and split: targets, those that complete a string, those that close a bracket
        for experiment in report["experiments"]:
            row = {"text": name} | {key: experiment[key] for key in ("encoding", "seed", "parameters")}
            for split in ("in_distribution", "ood_length4"):
                select = ["-s", experiment["seed"], "--split", split, "-n", 256]
                key = (experiment["seed"], split)
                if key not in chosen:
                    lines = output_of(program, "export", experiment["task"], *select, "-q", cwd=folder).splitlines()
                    chosen[key] = positions_of([json.loads(line) for line in lines], byte_of, common, np)
                with tempfile.TemporaryDirectory() as temporary:
                    file = Path(temporary) / "logits.safetensors"
                    subject = ["export", name, experiment["task"], experiment["encoding"]]
                    output_of(program, *subject, *select, "-q", "-o", file, cwd=folder)
                    logits = posbench.read_arrays(file)[0]["logits"].astype(np.float64)
                targets, repeated, closing = chosen[key]
                logits -= logits.max(axis=-1, keepdims=True)
                losses = (
                    np.log(np.exp(logits).sum(axis=-1)) - np.take_along_axis(logits, targets[..., None], -1)[..., 0]
                )
                if split == "in_distribution":
                    row |= {"loss": losses.mean(), "ngram": losses[repeated].mean(), "brackets": losses[closing].mean()}
                    row |= {"ngrams": int(repeated.sum()), "closing": int(closing.sum())}
                else:
                    row["rise"] = losses.mean() - row["loss"]
            rows.append(
                {key: round(float(value), 6) if isinstance(value, float) else value for key, value in row.items()}
            )
    return rows


def positions_of(samples, byte_of, common, np):
    """Returns the targets of samples, where they end a rare string of 8 bytes seen before, and where they close a bracket."""
    targets = np.array([[sample["targets"][place] for place in sample["scored_positions"]] for sample in samples])
    repeated, closing = np.zeros(targets.shape, bool), np.zeros(targets.shape, bool)
    for sample, row in enumerate(samples):
        window = bytes(byte_of[token] for token in [*row["tokens"][:1], *targets[sample]])
        seen = set()
        for end in range(1, len(window)):
            closing[sample, end - 1] = window[end] in b")]}"
            if end >= 7:
                string = window[end - 7 : end + 1]
                repeated[sample, end - 1] = string in seen and common[string] <= 10
                seen.add(string)
    return targets, repeated, closing


def spearman(a, b):
    """Returns the rank correlation; 0 if one side has a single value."""
    return statistics.correlation(ranks(a), ranks(b)) if len(set(a)) > 1 and len(set(b)) > 1 else 0.0


def reliability(groups):
    """Returns the share of the variance of means that is not due to seeds; 1 if there is one value for each encoding."""
    if min(map(len, groups)) < 2:
        return 1.0
    within = statistics.fmean(statistics.variance(group) for group in groups)
    between = statistics.variance([statistics.fmean(group) for group in groups])
    size = statistics.fmean(map(len, groups))
    return max(0.0, 1 - within / size / between) if between > 0 else 0.0


def scores_of(program):
    """Returns for each predictor and encoding its values, one for each seed that all tasks have."""
    board = json.loads(output_of(program, "board", "--format", "json", "-q"))
    rows = {task["task"]: {row["encoding"]: row for row in task["rows"]} for task in board["tasks"]}
    quick, complete = board["over_tasks"]["common"], board["over_tasks"]["tasks"]

    def over_seeds(encoding, tasks):
        return [statistics.fmean(values) for values in zip(*(rows[task][encoding]["values"] for task in tasks))]

    aspects = ["recall", "counting", "copying", "order", "state tracking", "arithmetic", "hierarchy", "aggregation"]
    kept = output_of(program, "board", "--aspects", ",".join(aspects), "--length", "4x", "--format", "json", "-q")
    far = {row["encoding"]: len(row["kept"]) / row["tested"] for row in json.loads(kept)["encodings"]}
    tables = [
        output_of(program, "board", "--aspects", aspect, "--format", "json", "-q") for aspect in ("recall", "hierarchy")
    ]
    scores = collections.defaultdict(dict)
    for encoding in REGISTRATION["encodings"]:
        learned = {task for task in rows if encoding in rows[task] and rows[task][encoding]["learned"] >= 3}
        scores["mean"][encoding] = over_seeds(encoding, quick)
        scores["kept"][encoding] = over_seeds(encoding, [task for task in quick if task in learned])
        if not all(encoding in rows[task] for task in complete):
            continue
        scores["far"][encoding] = [far[encoding]]
        for table in map(json.loads, tables):
            scores[table["aspects"][0]["aspect"]][encoding] = over_seeds(encoding, table["aspects"][0]["tasks"])
    return scores


def judge(program):
    """Returns the statistics of all predictions, in the order of the registration."""
    losses = json.loads((DATA / "losses.json").read_text(encoding="utf-8"))
    scores, outcomes, draw = scores_of(program), collections.defaultdict(dict), random.Random(0)
    for encoding in REGISTRATION["encodings"]:
        own = [row for row in losses if row["encoding"] == encoding]
        for name in REGISTRATION["outcomes"]:
            used = [row for row in own if name != "brackets" or row["text"] == "python"]
            by_seed = collections.defaultdict(list)
            for row in used:
                by_seed[row["seed"]].append(row[name])
            outcomes[name][encoding] = [statistics.fmean(values) for values in by_seed.values()]
        outcomes["parameters"][encoding] = statistics.fmean(row["parameters"] for row in own)
    decay = REGISTRATION["trivial_predictors"]["decay"]["1"]
    results = []
    for prediction in REGISTRATION["predictions"]:
        x, y = scores[prediction["predictor"]], outcomes[prediction["outcome"]]
        encodings = [encoding for encoding in REGISTRATION["encodings"] if encoding in x]
        assert len(encodings) == prediction["encodings"], encodings
        a, b = ([statistics.fmean(side[encoding]) for encoding in encodings] for side in (x, y))
        rho, order, hits = spearman(a, b), ranks(b), 0
        for _ in range(100000):
            draw.shuffle(order)
            hits += prediction["sign"] * spearman(a, order) >= prediction["sign"] * rho - 1e-12
        samples = []
        for _ in range(10000):
            drawn = draw.choices(encodings, k=len(encodings))
            sides = ([statistics.fmean(draw.choices(side[one], k=len(side[one]))) for one in drawn] for side in (x, y))
            samples.append(spearman(*sides))
        samples.sort()
        results.append(
            prediction
            | {"correlation": rho, "low": samples[249], "high": samples[9749], "p": (hits + 1) / 100001}
            | {"ceiling": math.sqrt(reliability([*map(x.get, encodings)]) * reliability([*map(y.get, encodings)]))}
            | {"decay": spearman([encoding in decay for encoding in encodings], b)}
            | {"parameters": spearman([outcomes["parameters"][encoding] for encoding in encodings], b)}
            | {"points": {encoding: [a[n], b[n]] for n, encoding in enumerate(encodings)}}
        )
    previous = 0.0
    for rank, result in enumerate(sorted(results, key=lambda one: one["p"])):
        previous = result["corrected"] = max(previous, min(1.0, (len(results) - rank) * result["p"]))
    for result in results:
        sign = result["sign"]
        stronger = abs(result["correlation"]) > max(abs(result["decay"]), abs(result["parameters"]))
        contradicted = min(-sign * result["low"], -sign * result["high"]) > 0
        supported = result["corrected"] < 0.05 and stronger
        result["verdict"] = "supported" if supported else "contradicted" if contradicted else "not shown"
    return results


WIDTH, HEIGHT, LEFT, TOP, SPACE = 420, 330, 62, 40, 88  # of a panel, around it and between panels
NAMES = {
    "far": "share of learned tasks kept at 4x",
    "recall": "accuracy out of distribution, tasks of recall",
    "hierarchy": "accuracy out of distribution, tasks of hierarchy",
    "mean": "mean accuracy out of distribution, tasks of quick",
    "kept": "the same, learned tasks",
    "rise": "rise of the loss from 1x to 4x",
    "ngram": "loss on repeated strings",
    "brackets": "loss on closing brackets",
    "loss": "loss at 1x",
}


def label_places(points, names):
    """Returns for each point a place for its name, the nearest that no other name and no point covers, and the way to it."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    places = []
    for (x, y), name in zip(points, names):
        width = 5.6 * len(name)
        offsets = [(7, 0), (-7 - width, 0)]
        for away in range(11, 110, 4):
            offsets += [(dx, dy) for dy in (away, -away) for dx in (-width / 2, 4, -4 - width)]
        boxes = [(x + dx, y + dy - 5, x + dx + width, y + dy + 5) for dx, dy in offsets]
        inside = [box for box in boxes if box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= HEIGHT]
        free = [
            box for box in inside
            if all(box[2] < b[0] or b[2] < box[0] or box[3] < b[1] or b[3] < box[1] for b in taken)
        ]  # fmt: skip
        box = (free or inside)[0]
        taken.append(box)
        line = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
        places.append((box[0], box[1] + 8.5, line if math.dist((x, y), line) > 8 else (x, y)))
    return places


def panel(result, left, top):
    """Returns the lines of SVG of one prediction: each encoding at its predictor and its outcome."""
    names, values = zip(*result["points"].items())
    rise = result["outcome"] == "rise"  # spans three orders of magnitude, and a few are just below zero
    values = [(x, math.log10(max(y, 0.001)) if rise else y) for x, y in values]
    ends = []
    for side in zip(*values):
        margin = 0.06 * (max(side) - min(side))
        ends.append((min(side) - margin, max(side) + margin))

    def place(value, axis):
        share = (value - ends[axis][0]) / (ends[axis][1] - ends[axis][0])
        return share * WIDTH if axis == 0 else (1 - share) * HEIGHT

    title = f"Spearman {result['correlation']:.2f} ({result['low']:.2f} to {result['high']:.2f}), {result['verdict']}"
    lines = [f'<g transform="translate({left},{top})">', f'<text y="-12" font-size="13" fill="#333">{title}</text>']
    lines.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>')
    for axis, (low, high) in enumerate(ends):
        step = 1 if rise and axis == 1 else min(s for s in (0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / s <= 8)
        for n in range(math.ceil(low / step), math.floor(high / step) + 1):
            text = ["0.001", "0.01", "0.1", "1"][n + 3] if rise and axis == 1 else f"{n * step:.2f}"
            at = place(n * step, axis)
            if axis == 0:
                lines.append(f'<text x="{at:.1f}" y="{HEIGHT + 15}" text-anchor="middle" fill="#666">{text}</text>')
            else:
                lines.append(f'<text x="-5" y="{at + 4:.1f}" text-anchor="end" fill="#666">{text}</text>')
    points = [(place(x, 0), place(y, 1)) for x, y in values]
    for (x, y), (at_x, at_y, line), name in zip(points, label_places(points, names), names):
        lines.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{line[0]:.1f}" y2="{line[1]:.1f}" stroke="#999"/>')
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="#4c78a8"/>')
        lines.append(f'<text x="{at_x:.1f}" y="{at_y:.1f}" fill="#222">{name}</text>')
    middle = f'x="{WIDTH / 2}" y="{HEIGHT + 33}" text-anchor="middle" fill="#333"'
    lines.append(f"<text {middle}>{NAMES[result['predictor']]}</text>")
    outcome = NAMES[result["outcome"]] + (" (logarithmic; 0.001: or less)" if rise else "")
    lines.append(
        f'<text transform="translate(-42,{HEIGHT / 2}) rotate(-90)" text-anchor="middle" fill="#333">{outcome}</text>'
    )
    return [*lines, "</g>"]


def draw():
    """Returns a picture of all predictions, with every encoding named."""
    results = json.loads((DATA / "statistics.json").read_text(encoding="utf-8"))
    width, height = LEFT + 2 * (WIDTH + SPACE) - 40, TOP + 3 * (HEIGHT + SPACE) - 24
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10.5">'
    lines = [head, f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for n, result in enumerate(results):
        lines += panel(result, LEFT + n % 2 * (WIDTH + SPACE), TOP + n // 2 * (HEIGHT + SPACE))
    return "\n".join([*lines, "</svg>"])


if __name__ == "__main__":
    commands = {("measure", 4): measure, ("judge", 3): judge, ("draw", 2): draw}
    command = commands.get((sys.argv[1] if len(sys.argv) > 1 else "", len(sys.argv))) or sys.exit(__doc__)
    result = command(*sys.argv[2:])
    print(result if isinstance(result, str) else "[" + ",\n".join(map(json.dumps, result)) + "]")
