"""Makes a report of any size with random numbers, for tests of showing reports."""

import math
import random

ENCODINGS = ["rope", "alibi", "cope", "none", "sinusoidal", "learned_abs", "shaw_k", "t5_bias", "fire", "xpos", "fox"]
TASKS = ["counting", "copy", "flip_flop", "parity", "reverse", "sort"]
SPLITS = [
    ("in_distribution", "in_distribution", range(1, 21), range(0, 8)),
    ("ood_far", "out_of_distribution", range(1, 21), range(8, 16)),
    ("ood_length", "out_of_distribution", range(25, 101, 15), range(0, 8)),
]


def split_of(draw, name, kind, lengths, distances, skill, reach):
    def right(total, at):
        chance = 0.1 + 0.9 * skill / (1 + math.exp((at - reach) / 8))
        spread = math.sqrt(total * chance * (1 - chance))
        return max(0, min(total, round(draw.gauss(total * chance, spread)))) if chance < 0.99 else total

    by_length = [[n, right(40, n), 40, right(20, n), 20] for n in lengths]
    correct = [sum(item[i] for item in by_length) for i in (1, 2, 3, 4)]
    by_distance, left = [], correct[0]  # the nearest answers are right
    for n, distance in enumerate(distances):
        answers = correct[1] * (n + 1) // len(distances) - correct[1] * n // len(distances)
        by_distance.append([distance, min(left, answers), answers])
        left -= by_distance[-1][1]
    return {
        "name": name,
        "kind": kind,
        "sequences": correct[3],
        "token": {"correct": correct[0], "total": correct[1]},
        "sequence": {"correct": correct[2], "total": correct[3]},
        "by_length": by_length,
        "by_distance": by_distance,
    }


def experiment_of(task, encoding, seed):
    draw = random.Random(f"{task} {encoding} {seed}")
    character = random.Random(f"{task} {encoding}").random()
    skill, reach = (1 if character > 0.25 else draw.choice([0.3, 1])), 15 + 120 * character
    experiment = {
        "task": task,
        "encoding": encoding,
        "seed": seed,
        "task_version": 1,
        "status": "ok",
        "parameters": 100_000,
        "steps": 1000,
        "stopped_early": False,
        "final_loss": 0.1,
    }
    experiment["learning_curve"] = [
        {"step": 200 * n, "loss": 2 / n, "validation_token": skill * n / 5, "validation_sequence": skill * n / 5}
        for n in range(1, 6)
    ]
    experiment["splits"] = [split_of(draw, *split, skill, reach) for split in SPLITS]
    return experiment


def drawn_report(encodings, tasks, seeds):
    names = [
        ENCODINGS[n] if n < len(ENCODINGS) else f"{ENCODINGS[n % len(ENCODINGS)]}:option={n // len(ENCODINGS)}"
        for n in range(encodings)
    ]
    tasks = [f"{TASKS[n % len(TASKS)]}_{n:02}" for n in range(tasks)]
    baselines = [
        {
            "task": task,
            "version": 1,
            "splits": [
                {"name": name, "kind": kind, "chance": 0.1, "trivial": {"constant": 0.1, "bag_of_tokens": 0.35}}
                for name, kind, *_ in SPLITS
            ],
        }
        for task in tasks
    ]
    return {
        "schema_version": 1,
        "context": {"host": "drawn"},
        "config": {},
        "tasks": baselines,
        "experiments": [
            experiment_of(task, encoding, seed) for task in tasks for encoding in names for seed in range(seeds)
        ],
        "timing": {},
    }
