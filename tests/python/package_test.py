"""Tests the Python package without PyTorch: samples, answers, reports and exceptions.

package_test.py PROGRAM
"""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

os.environ["POSBENCH_PROGRAM"] = sys.argv[1]
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import posbench  # noqa: E402
from checks import raised  # noqa: E402
from posbench import Samples  # noqa: E402
from posbench._safetensors import read_arrays  # noqa: E402
from posbench.report import show  # noqa: E402


def test_samples_are_those_of_the_program():
    task = posbench.task("addition")
    samples = task.samples("validation", seed=4, first=10, count=30)
    lines = subprocess.run(
        [sys.argv[1], "export", "addition", "--split", "validation", "--seed", "4", "--first", "10", "-n", "30"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    for row, line in enumerate(map(json.loads, lines)):
        T, S = len(line["tokens"]), len(line["scored_positions"])
        assert samples.index[row] == line["index"] and samples.length[row] == line["length"]
        for name in ("tokens", "targets", "segments", "digit_positions"):
            assert getattr(samples, name)[row, :T].tolist() == line[name]
        assert samples.scored_positions[row, :S].tolist() == line["scored_positions"]
        assert (samples.scored_positions[row, S:] == -1).all()
        assert samples.mask[row].sum() == T and samples.mask[row, :T].all()
    part = samples[10:20]
    assert part.index.tolist() == list(range(20, 30)) and part.manifest["first"] == 20
    assert part.tokens.shape[1] == part.mask.sum(1).max()
    assert part.scored_positions.shape[1] == (part.scored_positions >= 0).sum(1).max()


def test_samples_have_the_begin_token_of_the_model():
    plain, task = posbench.task("addition"), posbench.task("addition", settings={"model.begin_token": True})
    before, samples = plain.samples(count=20), task.samples(count=20)
    assert (task.vocabulary, task.words) == (plain.vocabulary + 1, [*plain.words, "[begin]"])
    assert task.manifest["outputs"] == plain.manifest["outputs"] == plain.vocabulary
    assert (samples.tokens[:, 0] == plain.vocabulary).all() and (samples.tokens[:, 1:] == before.tokens).all()
    assert (samples.targets[:, 0] == -1).all() and (samples.targets[:, 1:] == before.targets).all()
    assert (samples.digit_positions[:, 0] == 0).all() and samples.mask[:, 0].all()
    scored = before.scored_positions >= 0
    assert (samples.scored_positions == before.scored_positions + scored).all()


def test_samples_have_the_coordinates_of_positions():
    task = posbench.task("minesweeper:length=2,columns=3")
    samples = task.samples("train", count=5)
    assert samples.coordinates.shape == (5, 2, 14) and task.manifest["coordinates"] == 2
    assert samples.coordinates[0, 0].tolist() == [2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3]
    assert samples.coordinates[0, 1].tolist() == [2, 2, 2, 3, 3, 3, 3, 1, 2, 2, 2, 3, 3, 3]
    assert samples[1:3].coordinates.tolist() == samples.coordinates[1:3].tolist()
    assert posbench.task("addition").samples("train", count=2).coordinates is None


def test_batches_are_the_stream_in_order_whatever_is_asked_first():
    task = posbench.task("flip_flop:length=16")
    batches, whole = task.batches(4, 70), task.samples("train", count=280)
    for n in (69, 0, 65, 1):
        assert batches[n]["index"].tolist() == list(range(4 * n, 4 * n + 4))
        assert (batches[n]["tokens"] == whole[4 * n : 4 * n + 4].tokens).all()
    assert len(batches) == 70 and sum(1 for _ in batches) == 70


def right(samples):
    return samples, samples.at_scored(samples.targets)


def test_a_report_has_a_row_for_each_multiple_of_the_length():
    count = {"correct": 60, "total": 64, "accuracy": 0.9375, "low": 0.85, "high": 0.975}
    grid = {"option": "far", "points": [{"multiple": 1.5, "token": count, "sequence": count}]}
    about = {"task": "t", "encoding": "e", "seed": 0, "status": "ok", "parameters": 1, "steps": 1}
    rows = posbench.Report({"experiments": [{**about, "splits": [], "grid": [grid]}]}).rows()
    assert [(row["split"], row["kind"], row["metric"], row["value"], row["multiple"]) for row in rows] == [
        ("far=1.5x", "grid", "token", 0.9375, 1.5),
        ("far=1.5x", "grid", "sequence", 0.9375, 1.5),
    ]


def test_answers_become_a_report():
    task = posbench.task("even_pairs")
    tests = [task.samples(f"test:{split}", seed=2, count=16) for split in task.splits]
    report = posbench.score(map(right, tests), "oracle", parameters=5, description="knows")
    [experiment] = report.experiments
    assert (experiment["encoding"], experiment["seed"], experiment["parameters"]) == ("oracle", 2, 5)
    assert {row["value"] for row in report.rows()} == {1.0}
    order = np.random.default_rng(0).permutation(16)
    shuffled = [Samples(**{k: a[order] for k, a in s.arrays().items()}, manifest=s.manifest) for s in tests]
    assert posbench.score(map(right, shuffled), "oracle", parameters=5, description="knows").rows() == report.rows()
    logits = [(samples, np.eye(task.vocabulary)[np.maximum(samples.targets, 0)]) for samples in tests]
    everywhere = posbench.score(logits, "oracle")
    assert [row for row in everywhere.rows() if row["metric"] == "token"][0]["correct"] == 16
    assert all(row["value"] > 0 for row in everywhere.rows() if row["metric"] == "loss")
    assert "oracle" in posbench.table(report)


def test_only_the_target_is_right_among_candidates():
    task = posbench.task("dyck", profile="smoke")
    tests = [task.samples(f"test:{split}", count=8) for split in task.splits]
    other = [
        (s, np.where(s.candidates[:, :1] == s.at_scored(s.targets), *s.candidates[:, 1::-1].T[..., None]))
        for s in tests
    ]
    assert {row["value"] for row in posbench.score(other, "m").rows()} == {0.0}
    assert {row["value"] for row in posbench.score(map(right, tests), "m").rows()} == {1.0}


def test_numbers_of_numpy_are_numbers():
    task = posbench.task("even_pairs")
    tests = [task.samples(f"test:{split}", seed=np.int64(2), count=np.int32(16)) for split in task.splits]
    ids = [samples.at_scored(samples.targets) for samples in tests]
    expected = posbench.score(zip(tests, ids), "oracle").rows()
    for convert in (list, np.ndarray.tolist, *(lambda a, code=code: a.astype(code) for code in (">i8", "u1", ">u2"))):
        assert posbench.score([(s, convert(a)) for s, a in zip(tests, ids)], "oracle").rows() == expected
    logits = [np.eye(task.vocabulary)[a] for a in ids]
    for code in ("f2", ">f4", ">f8"):
        assert posbench.score([(s, a.astype(code)) for s, a in zip(tests, logits)], "m", parameters=np.int8(3)).rows()
    settings = {"training.learning_rate": [np.float32(0.5), 1e-3], "model.biases": np.bool_(False), "training.steps": 2}
    about = {"tasks": ["flip_flop"], "encodings": np.array(["none"]), "profile": "smoke", "progress": False}
    for seeds in (np.int64(2), np.arange(2), [np.uint8(0), 1]):
        report = posbench.run(**about, seeds=seeds, settings=settings, jobs=np.int64(1))
        assert [e["seed"] for e in report.experiments] == [0, 1]
    config = report.data["config"]
    assert config["training"]["learning_rate"] == "0.001,0.5" and config["model"]["biases"] is False
    sweep = posbench.run(**about, sweep={"model.width": np.array([8, 16])}, settings={"training.steps": 2})
    assert {row["model.width"] for row in sweep.rows()} == {8, 16}
    for seeds in (0, [], "2", 1.5, True):
        assert "seeds is" in raised(posbench.InputError, posbench.run, **about, seeds=seeds)


# A program in a locale whose encoding is ASCII, in which a file or a pipe without an explicit encoding is an error.
ELSEWHERE = """
import pathlib, sys
import numpy, posbench, posbench.log
folder = pathlib.Path(sys.argv[1])
name = "\\u6a21"  # a name in Chinese
config = folder / "config.json"
config.write_text('{"splits": {"flip_flop": {"%s": {"length": "2x"}}}}' % name, encoding="utf-8")
about = {"tasks": ["flip_flop"], "profile": "smoke", "config": config}
run = posbench.run(encodings=["none"], output=folder / "run", settings={"training.steps": 2}, **about)
task = posbench.task("flip_flop", profile="smoke", config=config)
tests = [task.samples(f"test:{split}", count=64) for split in task.splits]
report = posbench.score([(samples, samples.at_scored(samples.targets)) for samples in tests], name)
report.save(folder / "report.json")
assert name in task.splits and posbench.Report.load(folder / "report.json") == report
assert name in posbench.table(report) and name in posbench.compare(report, report).markdown
assert name in " ".join(plot.title for plot in report.plots()) + str(report.rows())
assert name in posbench.__dict__["compare"](report, report, match={name: name}).write("console")
class Recorder:
    name, destination, errors = "recorder", "memory", ()
    def write(self, run, points, result): assert f"test/{name}/token" in result.values
    def write_report(self, run, files, table): pass
    def close(self): pass
assert posbench.log.follow(folder / "run", Recorder(), once=True)
"""


def test_texts_do_not_depend_on_the_locale():
    about = dict(os.environ, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", PYTHONPATH=":".join(sys.path))
    with tempfile.TemporaryDirectory() as folder:
        strict = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
        command = [sys.executable, *strict, "-c", ELSEWHERE, folder]
        done = subprocess.run(command, env=about, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_damaged_models_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        about = {"tasks": ["flip_flop"], "encodings": ["none"], "profile": "smoke", "settings": {"training.steps": 2}}
        posbench.run(**about, output=Path(folder) / "run", save_models=True, progress=False)
        [path] = (Path(folder) / "run" / "models").iterdir()
        data, (arrays, metadata) = path.read_bytes(), read_arrays(path)
        assert metadata["encoding"] == "none" and "embedding.weight" in arrays
        for at in (len(data) - 1, data.index(b"flip_flop")):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            assert "is damaged" in raised(posbench.InputError, read_arrays, path)
        for damaged in (data[:-1], data[:5], b"", data[:40]):
            path.write_bytes(damaged)
            assert str(path) in raised(posbench.InputError, read_arrays, path)


def test_bad_answers_are_refused():
    task = posbench.task("even_pairs")
    tests = [task.samples(f"test:{split}", count=16) for split in task.splits]
    assert "is missing" in raised(posbench.InputError, posbench.score, [right(tests[0])], "m")
    assert "answers of shape (16, 2, 3, 4)" in raised(
        posbench.InputError, posbench.score, [(tests[0], np.zeros((16, 2, 3, 4)))], "m"
    )
    nan = np.full((16, tests[0].scored_positions.shape[1], task.vocabulary), np.nan)
    assert "a finite number" in raised(posbench.InputError, posbench.score, [(tests[0], nan)], "m")
    assert "no answers" in raised(posbench.InputError, posbench.score, [], "m")


def test_bad_names_are_refused():
    assert "did you mean 'flip_flop'" in raised(posbench.InputError, posbench.task, "flipflop")
    assert "no stream or split" in raised(posbench.InputError, posbench.task("flip_flop").samples, "test:x")
    assert "did you mean 'rope'" in raised(posbench.InputError, posbench.run, encodings=["rop"], progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        path.write_text("{}")
        assert "is no report" in raised(posbench.InputError, posbench.Report.load, path)
        assert "is no report" in raised(posbench.InputError, posbench.table, path)
        raised(posbench.InputError, posbench.Report.load, Path(folder) / "y.json")


def test_a_missing_program_is_an_error_of_the_package():
    os.environ["POSBENCH_PROGRAM"] = "/missing/posbench"
    try:
        assert "/missing/posbench cannot be started" in raised(posbench.ProgramError, posbench.task, "flip_flop")
    finally:
        os.environ["POSBENCH_PROGRAM"] = sys.argv[1]


def test_an_error_with_the_exit_code_of_a_diverged_experiment_is_raised():
    with tempfile.TemporaryDirectory() as folder:
        full, wrapper = Path(folder) / "full", Path(folder) / "wrapper"
        full.write_text("#!/bin/sh\necho 'posbench: No space left on device' >&2\nexit 1\n")
        wrapper.write_text(f"#!{sys.executable}\nfrom posbench._program import main\nmain()\n")
        for script in (full, wrapper):
            script.chmod(0o755)
        try:
            os.environ["POSBENCH_PROGRAM"] = str(full)
            assert "No space left" in raised(posbench.ProgramError, posbench.run, tasks=["flip_flop"], progress=False)
            about = dict(os.environ, POSBENCH_PROGRAM=str(wrapper), PYTHONPATH=":".join(sys.path))
            ended = subprocess.run([wrapper, "--version"], env=about, capture_output=True, text=True, timeout=60)
            assert ended.returncode == 1 and "set it to the program itself" in ended.stderr
        finally:
            os.environ["POSBENCH_PROGRAM"] = sys.argv[1]


def test_a_class_is_refused_with_the_function_that_trains_it():
    class Ripple:
        pass

    said = raised(posbench.InputError, posbench.run, encodings=["rope", Ripple], progress=False)
    assert "'Ripple' is a class" in said and "posbench.torch.run(Ripple, tasks)" in said
    assert "3 is not a string" in raised(posbench.InputError, posbench.run, tasks=[3], progress=False)


def test_a_run_reuses_experiments_of_another():
    with tempfile.TemporaryDirectory() as folder:
        about = {"tasks": ["parity_check"], "encodings": ["rope"], "profile": "smoke", "progress": False}
        posbench.run(**about, seeds=1, output=Path(folder) / "one")
        more = posbench.run(**about, seeds=2, reuse=Path(folder) / "one")
        assert ["trained_by" in time for time in more.data["timing"]["experiments"]] == [True, False]
        assert more.experiments == posbench.run(**about, seeds=2).experiments


def test_runs_are_reports():
    with tempfile.TemporaryDirectory() as folder:
        report = posbench.run(
            tasks=["flip_flop"],
            encodings=["cope", "rope"],
            seeds=[3],
            profile="smoke",
            output=Path(folder) / "run",
            progress=False,
        )
        again = posbench.Report.load(Path(folder) / "run")
    assert again == report
    assert {(row["encoding"], row["seed"]) for row in report.rows()} == {("cope", 3), ("rope", 3)}
    table = list(csv.DictReader(io.StringIO(show("report", [report]).write("csv"))))
    assert len(table) == len(report.rows())
    for written, row in zip(table, report.rows()):
        assert list(written) == list(row)
        for key, text in written.items():
            same = abs(float(text) - row[key]) < 1e-4 if isinstance(row[key], float) else text == str(row[key] or "")
            assert same or (text, row[key]) == ("0", 0), (key, text, row[key])
    try:
        import pandas  # noqa: F401
    except ImportError:
        return
    frame = report.to_pandas()
    assert len(frame) == len(report.rows()) and set(frame.metric) >= {"token", "sequence"}


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"passed: {name}")
