"""Tests that posbench.torch has the logits of the program from the same initial values, and the same loss at every step.

twin_test.py PROGRAM TRAIN_DOUBLE      prints the worst differences for each encoding
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PROGRAM, TRAIN_DOUBLE = sys.argv[1:3]
os.environ["POSBENCH_PROGRAM"] = PROGRAM
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import posbench  # noqa: E402
import posbench.torch as pt  # noqa: E402
from posbench.torch.twin import logits_difference  # noqa: E402

torch.set_num_threads(1)

TASK, SEED, STEPS = "reverse_string", 3, 100  # a task whose samples differ in length
SETTINGS = {
    "model.width": 32,
    "model.heads": 4,
    "training.batch": 8,
    "training.steps": STEPS,
    "training.warm_up": 0.1,
    "training.weight_decay": 0.01,
    "training.validation_sequences": 1,
    "evaluation.sequences": 1,
}
VARIANTS = {
    "post-norm, ReLU, tied": {"model.norm": "post", "model.activation": "relu", "model.tied_embeddings": True},
    "bidirectional": {"model.attention": "bidirectional"},
    "blocks": {
        "model.norm_kind": "rms_norm",
        "model.activation": "swiglu",
        "model.qk_norm": True,
        "model.biases": False,
        "model.window": 5,
        "model.segment": 4,
        "model.sinks": 1,
        "model.loops": 2,
        "model.logit_scale": "log_length",
    },
    "blocks, bidirectional": {
        "model.attention": "bidirectional",
        "model.norm": "post",
        "model.biases": False,
        "model.segment": 3,
        "model.logit_scale": "log_length_beyond",
    },
    "chunks": {"model.chunk": 4, "model.sinks": 1, "model.temperature": 3},
    "begin token": {"model.begin_token": True, "model.tied_embeddings": True},
}
BIDIRECTIONAL = [
    "none",
    "sinusoidal",
    "shaw_k",
    "txl",
    "t5_bias",
    "alibi",
    "kerple_log",
    "rope",
    "local",
    "sink_logit",
    "gated",
    "fire",
    "dape",
]
LOGITS, DOUBLE, FLOAT = 1e-5, 1e-4, 1e-3  # how far apart the two may be


def double_losses(task: posbench.Task, folder: Path, spec: str, steps: int) -> np.ndarray:
    samples = folder / "samples.jsonl"
    if not samples.exists():
        count = steps * task.manifest["settings"]["training"]["batch"]
        subprocess.run(
            [PROGRAM, "export", TASK, "--seed", str(SEED), "-n", str(count), "-o", samples, *task.flags], check=True
        )
    done = subprocess.run(
        [TRAIN_DOUBLE, spec, f"{samples}.manifest.json", samples, str(steps)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return np.array([float(line) for line in done.stdout.split()])


def losses(task: posbench.Task, make, steps: int) -> np.ndarray:
    model = pt.initial_model(task, make, SEED).double()
    return np.array(pt.train(model, task, SEED, steps=steps).losses)


def difference_of_trained(task: posbench.Task, spec: str) -> float:
    """Between the logits of a model that was trained here and those of the program, which read it from a file."""
    with tempfile.TemporaryDirectory() as name:
        path, logits = Path(name) / "model.safetensors", Path(name) / "logits.npz"
        model = pt.initial_model(task, pt.encodings.ALL[spec], SEED)
        pt.train(model, task, SEED, steps=5)
        pt.save_parameters(model, path, task.manifest, seed=SEED)
        subprocess.run(
            [PROGRAM, "forward", path, TASK, spec, "--seed", str(SEED), "-n", "16", "-o", logits], check=True
        )
        samples = task.samples("test:in_distribution", seed=SEED, count=16)
        difference = np.abs(np.load(logits)["logits"] - pt.training.scored_logits(model, samples))
    return float(difference[samples.scored_positions >= 0].max())


def main() -> int:
    worst = {}
    task = posbench.task(TASK, settings=SETTINGS)
    print(f"{'encoding':<32}{'logits':>10}{'double':>10}{'float':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for spec, make in pt.encodings.ALL.items():
            single = pt.twin(make, TASK, seed=SEED, steps=STEPS, profile=None, settings=SETTINGS)
            double = losses(task, make, STEPS) - double_losses(task, Path(folder), spec, STEPS)
            double = np.abs(double).max()
            worst[spec] = single.logits / LOGITS, double / DOUBLE, single.losses / FLOAT
            print(f"{spec:<32}{single.logits:>10.1e}{double:>10.1e}{single.losses:>10.1e}", flush=True)
    for spec in ("fire", "cope"):
        trained = difference_of_trained(task, spec)
        worst[f"{spec}, trained"] = (trained / LOGITS,)
        print(f"{spec + ', trained, by a file':<32}{trained:>10.1e}")
    for what, settings in VARIANTS.items():
        task = posbench.task(TASK, settings={**SETTINGS, **settings})
        causal = "model.attention" not in settings
        for spec in ["none", "txl"] if causal else BIDIRECTIONAL:
            with tempfile.TemporaryDirectory() as name:
                make = pt.encodings.ALL[spec]
                logits = logits_difference(task, pt.initial_model(task, make, SEED), SEED, Path(name))
                double = np.abs(losses(task, make, 20) - double_losses(task, Path(name), spec, 20)).max()
            worst[f"{spec}, {what}"] = logits / LOGITS, double / DOUBLE
            print(f"{spec + ', ' + what:<32}{logits:>10.1e}{double:>10.1e}{'':>10}", flush=True)
    failed = [name for name, ratios in worst.items() if not max(ratios) <= 1]
    if failed:
        print(
            f"differ by more than {LOGITS} (logits), {DOUBLE} (losses in double), {FLOAT} (losses in float): "
            + "; ".join(failed)
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
