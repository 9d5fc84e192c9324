"""Tests posbench.torch.run with mixers and models: those of PyTorch, and those of x-transformers and transformers.

modules_test.py PROGRAM                 with PyTorch alone
modules_test.py PROGRAM LIBRARY         with x_transformers or transformers; skipped if it is missing
"""

import importlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import raised

LIBRARY = sys.argv[2] if len(sys.argv) > 2 else "torch"
os.environ.update(POSBENCH_PROGRAM=str(Path(sys.argv[1]).resolve()), HF_HUB_OFFLINE="1")
try:
    import torch
    from torch import nn
    from torch.nn import functional

    importlib.import_module(LIBRARY)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import posbench  # noqa: E402
import posbench.torch as pt  # noqa: E402
from posbench.torch.check import check_module  # noqa: E402
from posbench.torch.training import any_model, make_optimizer, scored_logits, tensors  # noqa: E402

torch.set_num_threads(1)
SETTINGS = {
    "model.width": 16,
    "model.heads": 2,
    "model.layers": 2,
    "training.steps": 6,
    "training.batch": 4,
    "training.validation_sequences": 8,
    "evaluation.sequences": 8,
}


def run(**named):
    settings = {**SETTINGS, **named.pop("settings", {})}
    tasks = named.pop("tasks", "flip_flop:length=16")
    return pt.run(tasks=tasks, profile="smoke", progress=False, settings=settings, **named)


def refused(**named):
    return raised(posbench.InputError, run, **named)


def lstm(config):
    return nn.LSTM(config.width, config.width, batch_first=True)


class WordModel(nn.Module):
    """A model that knows nothing of posbench: an embedding, an LSTM and an output layer, which shares the embedding's weight."""

    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.vocabulary, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.output = nn.Linear(8, config.vocabulary)
        self.output.weight = self.words.weight

    def forward(self, tokens):
        return self.output(self.lstm(self.words(tokens))[0])


def from_docs(name):
    """Returns a class or function of docs/mixers.md."""
    text = (ROOT / "docs/mixers.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    [block] = [block for block in blocks if re.search(rf"^(class|def) {name}\b", block, re.M)]
    names = {"torch": torch, "functional": functional}
    exec(compile(block[: re.search(r"^reports", block, re.M).start()], "docs/mixers.md", "exec"), names)
    return names[name]


def test_torch_mixer_replaces_attention_in_every_layer():
    task = posbench.task("flip_flop:length=16", profile="smoke", settings=SETTINGS)
    model = pt.initial_model(task, mixer=lstm)
    plain = pt.initial_model(task)
    own = {name for name, _ in model.named_parameters() if ".mixer." in name}
    shared = {name for name, _ in model.named_parameters()} - own
    replaced = {name for name, _ in plain.named_parameters()} - shared
    assert {name.split(".")[1] for name in own} == {"0", "1"}
    assert {name.split(".")[2] for name in replaced} == {"qkv", "out"}
    values = dict(plain.named_parameters())
    assert all(torch.equal(values[name], p) for name, p in model.named_parameters() if name in shared)
    first, second = (model.blocks[n].mixer.weight_hh_l0 for n in range(2))
    assert not torch.equal(first, second), "the layers share a mixer"
    tokens = torch.randint(task.vocabulary, (2, 16))
    x = model.embedding(tokens)
    for block in model.blocks:
        x = x + block.mixer(block.norm1(x))[0]
        x = x + block.down(functional.gelu(block.up(block.norm2(x)), approximate="tanh"))
    assert torch.allclose(model(tokens), model.output(model.final_norm(x)), atol=1e-6)


def test_torch_mixer_is_reported_like_an_encoding():
    report = run(mixer=lstm, seeds=2)
    assert [(e["encoding"], e["seed"], e["steps"]) for e in report.experiments] == [("lstm", 0, 6), ("lstm", 1, 6)]
    assert report.data["config"]["model"]["width"] == 16
    [first] = run(mixer=lambda config: lstm(config)).experiments
    assert first["encoding"] == "lstm", "a lambda gets the name of the module's class"
    [named] = run(mixer=lstm, name="recurrent").experiments
    assert named["encoding"] == "recurrent" and named["splits"] == first["splits"]


def test_torch_gated_delta_net_is_its_equation():
    GatedDeltaNet = from_docs("GatedDeltaNet")
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 5, 3, 4) for _ in range(3))
    a, b = torch.rand(2, 5, 3), torch.rand(2, 5, 3)
    found = GatedDeltaNet.recur(q, k, v, a, b)
    for n in range(2):
        for h in range(3):
            S = torch.zeros(4, 4)
            for t in range(5):
                key, value = k[n, t, h], v[n, t, h]
                S = S @ (a[n, t, h] * (torch.eye(4) - b[n, t, h] * torch.outer(key, key)))
                S = S + b[n, t, h] * torch.outer(value, key)
                assert torch.allclose(found[n, t, h], S @ q[n, t, h], atol=1e-4)
    [e] = run(mixer=GatedDeltaNet).experiments
    assert e["encoding"] == "gated_delta_net" and e["status"] == "ok"


def test_torch_models_are_trained_and_reported():
    [e] = run(model=WordModel, seeds=[3]).experiments
    assert (e["encoding"], e["seed"], e["steps"], e["status"]) == ("word_model", 3, 6, "ok")
    task = posbench.task("flip_flop:length=16", profile="smoke", settings=SETTINGS)
    model = any_model(task, WordModel, seed=3)
    assert e["parameters"] == sum(p.numel() for p in model.parameters())
    pt.train(model, task, seed=3)
    samples = task.samples("test:in_distribution", seed=3, count=8)
    right = (scored_logits(model, samples).argmax(-1) == samples.at_scored(samples.targets))[
        samples.scored_positions >= 0
    ]
    assert right.sum() == e["splits"][0]["token"]["correct"]
    options = {"decayed_parameters": "matrices", **task.manifest["settings"]["training"]}
    decayed, kept = (group["params"] for group in make_optimizer(model, options).param_groups)
    assert {p.shape for p in decayed} == {(32, 8)}  # of the LSTM
    assert any(p is model.module.words.weight for p in kept)


def test_torch_wrong_shapes_are_refused_with_one_line():
    class Narrow(nn.Linear):
        def __init__(self, config):
            super().__init__(config.width, 3)

    said = refused(mixer=Narrow)
    assert "the mixer 'narrow' returns floats of shape (2, " in said and ", 3)" in said and "expected floats" in said, (
        said
    )
    said = refused(model=lambda config: nn.Sequential(nn.Embedding(config.vocabulary, 4)))
    assert "the model 'sequential' returns floats of shape (2, " in said and ", 4)" in said, said
    said = refused(mixer=lambda config: nn.Linear(5, 5))
    assert "the mixer 'linear' fails on sequences of" in said and "shapes cannot be multiplied" in said, said
    said = refused(model=lambda config: nn.Embedding(3, config.vocabulary))
    assert "the model 'embedding' fails" in said and "index out of range" in said, said
    said = refused(model=lambda config: nn.Flatten())
    assert "the model 'flatten' has no parameters" in said, said


def test_torch_a_stage_of_a_wrong_shape_is_refused_by_name():
    class Flat(pt.Encoding):
        def score(self, a):
            return super().score(a).sum(-1)

    class Nothing(pt.Encoding):
        def score(self, a):
            pass

    class Wide(pt.Encoding):
        def mix(self, a, attention):
            return super().mix(a, attention).repeat(1, 1, 1, 2)

    said = refused(encoding=Flat)
    assert said.startswith("score of 'flat' returns the shape (2, 2, ") and said.endswith("batch, heads, tokens, keys")
    assert "returns a value of type NoneType, expected the shape" in refused(encoding=Nothing)
    assert refused(encoding=Wide).startswith("mix of 'wide' returns the shape (2, 2, ")


def test_torch_wrong_arguments_are_refused():
    assert "seeds is -1, expected the number of seeds" in refused(mixer=lstm, seeds=-1)
    assert "mixer is a module" in refused(mixer=nn.Linear(16, 16))
    assert "mixer gives a value of type int" in refused(mixer=lambda config: 3)
    assert "an encoding, mixer=... or model=..." in refused(mixer=lstm, model=WordModel)
    assert "an encoding, mixer=... or model=..." in refused()
    assert "there are no tasks" in raised(posbench.InputError, pt.run, mixer=lstm)
    assert "model.window is 4" in refused(mixer=lstm, settings={"model.window": 4})
    assert "training.validate_splits is true" in refused(mixer=lstm, settings={"training.validate_splits": True})
    assert "training.optimizer is sgd" in refused(mixer=lstm, settings={"training.optimizer": "sgd"})
    assert "training.optimizer is muon:rate=3" in refused(mixer=lstm, settings={"training.optimizer": "muon:rate=3"})
    assert "model.block is parallel" in refused(mixer=lstm, settings={"model.block": "parallel"})
    assert "model.smear is true; posbench.torch does not have it" in refused(mixer=lstm, settings={"model.smear": True})
    assert "does not extend" in refused(mixer=lstm, settings={"extend.encodings": "rope"})
    alone = {"training.pack": 2, "training.rounding": "bfloat16_all", "evaluation.cache": "stale"}
    for name, value in {**alone, "evaluation.rounding": "float16_angles"}.items():
        for what in ({"mixer": lstm}, {"encoding": pt.Encoding}, {"model": WordModel}):
            said = refused(**what, settings={name: value})
            assert said.startswith(f"{name} is {value}; posbench.torch reads samples one at a time"), said
    task = posbench.task("flip_flop:length=16", profile="smoke", settings=SETTINGS)
    model = pt.initial_model(task, mixer=lstm)
    assert "no mixer 'lstm'" in raised(posbench.InputError, pt.save_parameters, model, "x.safetensors", task.manifest)


def test_torch_modules_that_read_later_tokens_or_padding_are_refused():
    def both_directions(config):
        return nn.LSTM(config.width, config.width // 2, batch_first=True, bidirectional=True)

    assert "'both_directions' depend on later tokens" in refused(mixer=both_directions)

    class Mean(nn.Linear):
        def __init__(self, config):
            super().__init__(config.width, config.width)

        def forward(self, x, mask):
            kept = mask[:, :, None].float() if self.careful else torch.ones_like(x[:, :, :1])
            return super().forward(x + (x * kept).sum(1, keepdim=True) / kept.sum(1, keepdim=True))

    bidirectional = {"tasks": "parity_check", "settings": {"model.attention": "bidirectional"}}
    Mean.careful = False
    assert "depend on padding" in refused(mixer=Mean, **bidirectional)
    Mean.careful = True
    assert run(mixer=Mean, **bidirectional).experiments[0]["encoding"] == "mean"


def test_torch_encodings_that_read_later_tokens_are_refused():
    class Leak(pt.Encoding):
        def embed(self, x, positions):
            return x + x.roll(-1, 1)

    assert "the logits of the encoding 'leak' depend on later tokens" in refused(encoding=Leak)


def test_torch_a_value_that_is_not_finite_is_explained():
    class Near(pt.Encoding):
        def __init__(self, config):
            super().__init__(config)
            self.rate = nn.Parameter(torch.ones(config.heads, 1, 1))

        def score(self, a):
            return super().score(a) - self.rate * torch.log1p(self.distance(a))

        def distance(self, a):
            return a.positions[:, None] - a.positions

    said = refused(encoding=Near)
    assert "the gradient of encoding.rate is not finite before training: the score of the encoding 'near'" in said, said
    assert "for query 0 and key 1, a later key, is inf" in said and said.endswith("so use .clamp(min=0)"), said
    Near.distance = lambda self, a: a.distance
    assert run(encoding=Near).experiments[0]["status"] == "ok"
    assert "is not finite" in refused(
        encoding=Near, tasks="parity_check", settings={"model.attention": "bidirectional"}
    )
    Near.distance = lambda self, a: a.distance.abs()
    assert run(encoding=Near).experiments[0]["status"] == "ok"


def test_torch_an_error_of_the_backward_pass_is_one_line():
    class Backward(pt.Encoding):
        def score(self, a):
            scores = super().score(a)
            if scores.requires_grad:
                scores.register_hook(lambda gradient: gradient[..., :3])
            return scores

    assert "the encoding 'backward' fails on sequences of" in refused(encoding=Backward)


def test_torch_names_of_other_encodings_are_refused():
    class Mine(pt.Encoding):
        pass

    for name in ("rope", "rope:base=500", "nope"):
        assert f"the name is '{name}'" in refused(encoding=Mine, name=name)
    assert "the name is 'lstm_rope'" not in str(run(encoding=Mine, name="lstm_rope"))
    assert run(encoding=pt.encodings.ALL["rope"]).experiments[0]["encoding"] == "rope"
    config = pt.ModelConfig(vocabulary=5, trained_length=8, longest_length=16)
    assert config.head_width == config.width // config.heads and config.causal and config.window == 0
    assert "did you mean 'head_width'" in raised(AttributeError, getattr, config, "head_dim")


def test_torch_training_is_that_of_the_program():
    """Compares everything that a report says of training and of the tests with the program's encoding `none`."""
    steps = {"training.steps": 60, "training.validate_every": 20, "training.batch": 8, "training.learning_rate": 0.01}
    cases = {
        "dyck": {"training.warm_up": 0.51, "training.decay": "linear"},  # it restricts the candidates
        "addition": {"training.decay": "constant", "training.warm_up": 0},  # whose answers have several tokens
        "flip_flop:length=4": {  # some validations are perfect, and then not
            "training.early_stop": 6,
            "training.validate_every": 1,
            "training.validation_sequences": 4,
            "training.batch": 4,
        },
        "flip_flop:length=6": {  # the steps are doubled twice
            "training.extend_while_gaining": 4,
            "training.steps": 30,
            "training.validate_every": 10,
        },
    }
    for task, settings in cases.items():
        about = {"tasks": [task], "seeds": [3], "profile": "smoke", "progress": False}
        grid = {"evaluation.grid": 128, "evaluation.grid_rules": 2}
        counts = {"evaluation.sequences": 64, **grid, "training.validation_sequences": 64}
        settings = {**SETTINGS, **steps, **counts, **settings}
        [ours] = posbench.run(**about, encodings=["none"], settings=settings).experiments
        [found] = pt.run(pt.encodings.ALL["none"], **about, settings=settings).experiments
        assert found["steps"] == ours["steps"] and found["stopped_early"] == ours["stopped_early"], task
        assert ours["steps"] == (120 if "training.extend_while_gaining" in settings else ours["steps"]), task
        assert found["stopped_early"] == ("training.early_stop" in settings), task
        for one, other in zip(found["learning_curve"], ours["learning_curve"]):
            allowed = 1e-4 if one["step"] <= 60 else 1e-3  # rounding grows with the steps
            assert one["step"] == other["step"] and abs(one["loss"] - other["loss"]) < allowed, (task, one, other)
            # Rounding may decide one token of about 400 differently on another machine.
            assert abs(one["validation_token"] - other["validation_token"]) < 0.004, (task, one, other)
            assert abs(one["validation_sequence"] - other["validation_sequence"]) < 0.02, (task, one, other)
        for one, other in zip(found["splits"], ours["splits"]):
            for metric in ("token", "sequence"):
                assert one[metric]["total"] == other[metric]["total"], (task, one["name"])
                assert abs(one[metric]["correct"] - other[metric]["correct"]) <= 1, (task, one["name"], metric)
        assert [grid["option"] for grid in found["grid"]] == [grid["option"] for grid in ours["grid"]], task
        for one, other in zip(found["grid"], ours["grid"]):
            assert [p["multiple"] for p in one["points"]] == [p["multiple"] for p in other["points"]], (task, one)
            for a, b in zip(one["points"], other["points"]):
                assert a["sequences"] == b["sequences"], (task, a, b)
                assert abs(a["sequence"]["correct"] - b["sequence"]["correct"]) <= 1, (task, a, b)


def test_torch_a_model_that_fails_on_longer_sequences_ends_its_grid_there():
    class Table(pt.Encoding):  # it has a row for each position of the splits, and none for longer sequences
        def __init__(self, config):
            super().__init__(config)
            self.rows = torch.nn.Parameter(torch.zeros(config.longest_length, config.width))

        def embed(self, x, positions):
            return x + self.rows[positions.long()]

    settings = {"evaluation.grid": 64, "evaluation.grid_rules": 2}
    [experiment] = run(encoding=Table, tasks="selective_copy", settings=settings).experiments
    ends = {grid["option"]: (grid["end"], grid.get("reason", "")) for grid in experiment["grid"]}
    assert ends["length"][0] == "encoding" and "the model fails on" in ends["length"][1], ends


def test_torch_seeds_train_side_by_side_with_the_same_results():
    both = [run(encoding=pt.encodings.ALL["rope"], seeds=3, jobs=jobs).experiments for jobs in (1, 3)]
    assert [e["splits"] for e in both[0]] == [e["splits"] for e in both[1]]

    class Late(pt.Encoding):  # its error comes after the checks, when a number of layers have been trained
        left = 0

        def score(self, a):
            if self.training and a.q.requires_grad:
                if Late.left == 0:
                    raise KeyError("late")
                Late.left -= 1
            return super().score(a)

    assert "late" in raised(KeyError, run, encoding=Late, seeds=2, jobs=2)
    Late.left = SETTINGS["training.steps"] * SETTINGS["model.layers"]  # a whole model
    with tempfile.TemporaryDirectory() as folder:
        assert "late" in raised(KeyError, run, encoding=Late, seeds=2, jobs=1, output=f"{folder}/kept.json")
        assert [e["seed"] for e in posbench.Report.load(f"{folder}/kept.json").experiments] == [0]
    assert "jobs is 0" in refused(encoding=pt.Encoding, jobs=0)
    short, long, tested = (
        pt.estimate(pt.Encoding, "flip_flop:length=16", profile="smoke", seeds=seeds, jobs=1, settings=settings)
        for seeds, sequences in ((1, 8), (8, 8), (1, 99999))
        for settings in [{**SETTINGS, "training.steps": 1000, "evaluation.sequences": sequences}]
    )
    assert 0 < short < min(long, tested)


def test_torch_encodings_that_read_segments_digits_or_draw_positions_are_trained():
    class Segmented(pt.Encoding):
        def score(self, a):
            same = a.segments[:, None, :, None] == a.segments[:, None, None, :]
            return super().score(a) + same + (a.digit_positions[:, None, None, :] > 1)

    class Shuffled(pt.Encoding):
        def positions(self, tokens, segments):
            return torch.rand(tokens.shape, generator=self.generator).cumsum(1)

        def score(self, a):
            return super().score(a) + a.distance

    Shuffled.generator = None

    class Own(Shuffled):
        generator = torch.Generator()

    class Columns(pt.Encoding):
        def score(self, a):
            return super().score(a) + a.coordinates[:, :1, None, :]

    class Table(pt.Encoding):
        def __init__(self, config):
            super().__init__(config)
            self.table = nn.Embedding(8, config.heads)  # of the few segments of an addition

        def score(self, a):
            return super().score(a) + self.table(a.segments).transpose(1, 2)[:, :, None]

    tasks = {Segmented: "addition", Table: "addition", Columns: "minesweeper"}
    for encoding in (Segmented, Shuffled, Own, Columns, Table):
        [e] = run(encoding=encoding, tasks=tasks.get(encoding, "flip_flop:length=16")).experiments
        assert e["status"] == "ok"


def test_torch_a_check_of_modules_leaves_the_random_state():
    task = posbench.task("flip_flop:length=16", profile="smoke", settings=SETTINGS)
    model = pt.initial_model(task, pt.Encoding)
    before = torch.get_rng_state()
    check_module(model, "a model", tensors(task.samples("validation", count=2), "cpu"))
    assert torch.equal(torch.get_rng_state(), before) and model.training


def test_torch_twin_needs_the_name_of_a_port():
    class Mine(pt.Encoding):
        pass

    assert "the encoding 'mine' names no encoding of the program" in raised(posbench.InputError, pt.twin, Mine)
    assert pt.twin(pt.encodings.ALL["none"], "flip_flop:length=16", steps=2, settings=SETTINGS).same


class Ramp(pt.Encoding):
    def score(self, a):
        return super().score(a) - 0.1 * a.distance.clamp(min=0)


def test_torch_a_report_is_checked_with_its_source():
    folder = Path(tempfile.mkdtemp())
    source, report = folder / "mine.py", folder / "mine.json"
    imports = "import posbench.torch as pt\nfrom torch import nn\n"
    source.write_text(imports + inspect.getsource(Ramp) + inspect.getsource(lstm))

    def check(path=f"{Path(sys.executable).parent}:{os.environ['PATH']}", package=ROOT / "python"):
        command = [sys.argv[1], "check", report, "--source", source, "--seed", "1"]
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(package)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return done.returncode, (done.stdout + done.stderr).splitlines()

    for part in ({"mixer": lstm}, {"encoding": Ramp, "name": "mine"}):
        made = run(seeds=2, output=report, **part)
        code, lines = check()
        assert code == 0 and lines[-1] == "2 of 2 models agree" and sum(line.startswith("same ") for line in lines) == 2
    assert made.data["context"]["trained_elsewhere"] == f"PyTorch {torch.__version__}"
    board = posbench.board(made, allow_different_budget=True, only_own=True)
    assert f"trained with PyTorch {torch.__version__}, not verified" in board.markdown
    made.data["experiments"][0]["splits"][0]["token"]["accuracy"] += 0.06
    made.save(report)
    code, lines = check()
    assert code == 1 and lines[-1] == "1 of 2 models agree"
    assert "in the report" in lines[1 + lines[1].startswith("same")]
    assert check(path=str(folder))[1][-1].startswith("posbench: python3 cannot be started: No such file")
    (folder / "absent").mkdir()
    (folder / "absent/posbench.py").write_text("raise ImportError('absent')")  # also hides an installed package
    assert check(package=folder / "absent")[1][-1].startswith(
        "posbench: --source needs PyTorch and the Python package: "
    )
    source.write_text("import nothing")
    assert check() == (2, [f"posbench: {source} cannot be run: ModuleNotFoundError(\"No module named 'nothing'\")"])
    del made.data["config"]["training"]
    made.save(report)
    assert check()[1] == [f"posbench: {report}: expected a report of posbench.torch.run on an encoding or a mixer"]


def test_x_transformers_attention_is_a_mixer():
    [e] = run(mixer=from_docs("gated_attention")).experiments
    assert (e["encoding"], e["status"]) == ("gated_attention", "ok")
    from x_transformers.x_transformers import Attention

    assert "depend on later tokens" in refused(mixer=lambda config: Attention(config.width, heads=2, dim_head=8))


def test_transformers_llama_is_a_model():
    llama = from_docs("llama")
    [e] = run(model=llama).experiments
    assert (e["encoding"], e["status"], e["steps"]) == ("llama", "ok", 6)
    task = posbench.task("flip_flop:length=16", profile="smoke", settings=SETTINGS)
    model = llama(pt.training.model_config(task))
    assert e["parameters"] == sum(p.numel() for p in model.parameters())


for name, test in list(globals().items()):
    if name.startswith(f"test_{LIBRARY}_"):
        test()
        print(f"passed: {name}", flush=True)
