"""Tests that posbench.torch has the scores, logits, gradients and losses of the program.

twin_test.py PROGRAM      prints the largest differences for each encoding and kind of model
"""

import dataclasses
import os
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

os.environ["POSBENCH_PROGRAM"] = str(Path(sys.argv[1]).resolve())
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import posbench  # noqa: E402
import posbench.torch as pt  # noqa: E402
from posbench._safetensors import read_arrays  # noqa: E402
from posbench.torch.files import forward  # noqa: E402

torch.set_num_threads(1)

TASK, SEED = "reverse_string", 3  # a task whose samples differ in length
SETTINGS = {
    "model.width": 32,
    "model.heads": 4,
    "training.batch": 8,
    "training.warm_up": 0.1,
    "training.weight_decay": 0.1,
    "training.learning_rate": 0.01,
    "training.validation_sequences": 1,
    "evaluation.sequences": 1,
}
CAUSAL, BIDIRECTIONAL = ("none", "fox"), ("none", "t5_bias", "alibi", "rope")
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
    "decays": {"training.decay": "linear", "training.decayed_parameters": "all"},
}


def twin(encoding, settings=(), steps=100):
    return pt.twin(encoding, TASK, seed=SEED, steps=steps, profile=None, settings={**SETTINGS, **dict(settings)})


def test_every_encoding_is_its_port_in_every_model():
    cases = [(name, "", {}) for name in pt.encodings.ALL]
    for what, settings in VARIANTS.items():
        names = BIDIRECTIONAL if settings.get("model.attention") == "bidirectional" else CAUSAL
        cases += [(name, what, settings) for name in names]
    print(f"{'encoding':<32}{'scores':>10}{'logits':>10}{'gradients':>10}{'losses':>10}")
    different = []
    for name, what, settings in cases:
        d = twin(pt.encodings.ALL[name], settings, steps=20 if what else 100)
        print(
            f"{name + ' ' + what:<32}{d.scores:>10.1e}{d.logits:>10.1e}{d.gradients:>10.1e}{d.losses:>10.1e}",
            flush=True,
        )
        different += [] if d.same else [f"{name} {what}"]
    assert not different, different


def test_a_trained_model_has_the_same_logits_in_a_file():
    task = posbench.task(TASK, settings=SETTINGS)
    for spec in ("t5_bias", "cope"):
        with tempfile.TemporaryDirectory() as name:
            path, logits = Path(name) / "model.safetensors", Path(name) / "logits.safetensors"
            model = pt.initial_model(task, pt.encodings.ALL[spec], SEED)
            pt.train(model, task, SEED, steps=5)
            pt.save_parameters(model, path, task.manifest, seed=SEED)
            forward(path, task, spec, SEED, ["-n", 16, "-o", logits])
            expected = read_arrays(logits)[0]["logits"]
        samples = task.samples("test:in_distribution", seed=SEED, count=16)
        found = pt.training.scored_logits(model, samples)
        assert np.abs(found - expected)[samples.scored_positions >= 0].max() < 1e-5


def test_a_small_error_of_any_kind_is_a_difference():
    alibi, rope, fox = (pt.encodings.ALL[name] for name in ("alibi", "rope", "fox"))

    class Slope(alibi):
        def score(self, a):
            return super().score(a) + 0.01 * (a.distance == 3)

    class Mixed(rope):
        def mix(self, a, attention):
            return super().mix(a, attention) * 1.01

    class Detached(alibi):
        def score(self, a):
            return (super().score(a) + super().score(a).detach()) / 2

    class Kept(fox):  # by no weight decay, which the losses of the first steps do not show
        def __init__(self, config):
            super().__init__(config)
            self.without_decay = set(dict(self.named_parameters()))

    one_layer = {"model.layers": 1}
    decay = {**one_layer, "training.weight_decay": 1}
    cases = {Slope: "scores", Mixed: "logits", Detached: "gradients", Kept: "losses"}
    kinds = list(cases.values())
    for encoding, kind in cases.items():
        differences = twin(encoding, decay if kind == "losses" else one_layer)
        print(f"{encoding.__name__}: {differences}")
        assert not differences.same
        exact = dict.fromkeys(kinds[kinds.index(kind) :], 0.0)
        assert dataclasses.replace(differences, **exact).same, "an earlier kind differs too"


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"passed: {name}", flush=True)
