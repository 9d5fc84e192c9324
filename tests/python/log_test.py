"""Tests that a run which was interrupted and resumed is logged once, with a recorder and with the libraries themselves.

log_test.py PROGRAM                 with a recorder
log_test.py PROGRAM BACKEND         with tensorboard, wandb, mlflow or trackio; skipped if it is missing
"""

import contextlib
import errno
import importlib
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from checks import raised

# The libraries read these when they are imported.
work = tempfile.TemporaryDirectory(prefix="posbench-log-")
FOLDER = Path(work.name)
PROGRAM = str(Path(sys.argv[1]).resolve())
os.environ.update(
    POSBENCH_PROGRAM=PROGRAM,
    WANDB_MODE="offline",
    WANDB_DIR=str(FOLDER),
    WANDB_SILENT="true",
    MLFLOW_TRACKING_URI=(FOLDER / "mlruns").as_uri(),
    MLFLOW_ALLOW_FILE_STORE="true",
    MLFLOW_DISABLE_TELEMETRY="true",
    TRACKIO_DIR=str(FOLDER / "trackio"),
    HF_HUB_OFFLINE="1",
)
try:
    import numpy  # noqa: F401

    for library in sys.argv[2:]:
        importlib.import_module(library)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

signal.signal(signal.SIGINT, signal.default_int_handler)  # posbench would inherit that a background job ignores it
os.chdir(FOLDER)
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import posbench  # noqa: E402
import posbench.log  # noqa: E402

SETTINGS = ["training.steps=200", "training.validate_every=20", "training.validate_splits=true"]
COMMAND = ["run", "-t", "flip_flop", "-e", "cope,rope", "--profile", "smoke", "--trace-loss", "-j", "1", "-q"]
for setting in SETTINGS:
    COMMAND += ["--set", setting]
# This run is long enough to be interrupted.
LONG = [*COMMAND, "--set", "training.steps=2000", "--set", "training.validate_every=50"]
NAMES = ["flip_flop/cope/0", "flip_flop/rope/0"]


class Recorder:
    """A backend that keeps what it is given."""

    name, destination, errors = "recorder", "memory", (OSError,)

    def __init__(self):
        self.scalars, self.results, self.configs, self.ids, self.reports = [], [], {}, set(), []

    def write(self, run, points, result):
        self.ids.add((run.name, run.id))
        self.configs[run.name] = dict(run.config)
        self.scalars += [(run.name, name, step, v) for step, values in points.items() for name, v in values.items()]
        if result:
            self.results.append((run.name, result.status))
            self.scalars += [(run.name, name, result.step, value) for name, value in result.values.items()]

    def write_report(self, run, files, table):
        self.reports.append(([file.name for file in files], table))

    def close(self):
        pass


def call(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def interrupted_run(path):
    """Starts a run and interrupts it while its first experiment trains, after some validations."""
    process = subprocess.Popen(
        [PROGRAM, *LONG, "--checkpoint-every", "0", "-o", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    losses = path / "losses" / "flip_flop-cope-0.csv"
    end = time.time() + 60
    while not losses.exists() or losses.read_text().count("\n") < 60:
        assert time.time() < end and process.poll() is None, "the run does not train"
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert not (path / "experiments.jsonl").read_text(), "the first experiment finished before the interruption"


def expected_scalars(path):
    """Returns what a log has, from the report and the files of losses of the program: (experiment, metric, step) and values."""
    values = {}
    for e in json.loads((path / "report.json").read_text())["experiments"]:
        name = f"{e['task']}/{e['encoding']}/{e['seed']}"
        for line in (path / "losses" / f"{e['task']}-{e['encoding']}-{e['seed']}.csv").read_text().splitlines()[1:]:
            _, step, loss = line.split(",")
            values[name, "train/loss", int(step)] = float(loss)
        for point in e["learning_curve"]:
            values[name, "train/mean_loss", point["step"]] = point["loss"]
            values[name, "validation/token", point["step"]] = point["validation_token"]
            values[name, "validation/sequence", point["step"]] = point["validation_sequence"]
            for split in point["splits"]:
                values[name, f"validation/{split['name']}/token", point["step"]] = split["token"]
                values[name, f"validation/{split['name']}/sequence", point["step"]] = split["sequence"]
        for split in e["splits"]:
            for metric in ("token", "sequence"):
                values[name, f"test/{split['name']}/{metric}", e["steps"]] = split[metric]["accuracy"]
            for metric in ("loss", "margin"):
                values[name, f"test/{split['name']}/{metric}", e["steps"]] = split[metric]
    return values


def check_scalars(found, expected):
    """Checks that every value was logged exactly once; `found` are (experiment, metric, step, value)."""
    counts = Counter((name, metric, step) for name, metric, step, _ in found)
    assert not (doubled := [key for key, count in counts.items() if count > 1]), doubled[:5]
    assert counts.keys() == expected.keys(), sorted(counts.keys() ^ expected.keys())[:5]
    for name, metric, step, value in found:
        assert abs(value - expected[name, metric, step]) <= 1e-6 * max(1, abs(value)), (name, metric, step, value)


def read_tensorboard(path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found, folder = [], next((path / "log" / "tensorboard").iterdir())
    for name in NAMES:
        events = EventAccumulator(str(folder / name), size_guidance={"scalars": 0, "tensors": 0}).Reload()
        tags = events.Tags()
        found += [(name, tag, event.step, event.value) for tag in tags["scalars"] for event in events.Scalars(tag)]
        config = events.Tensors("configuration")[0].tensor_proto.string_val[0].decode()
        assert '"training.steps": 2000' in config, config
        assert "_hparams_/session_start_info" in events.summary_metadata
    events = EventAccumulator(str(folder / "report")).Reload()
    text = events.Tensors("report")[0].tensor_proto.string_val[0].decode()
    assert "cope" in text and "report.html" in text, text
    return found


def wandb_records(file):
    """Yields the records of an offline run: a header of 7 bytes, then LevelDB's log format (blocks of 32 KiB, in which a
    part of a record has a checksum, a length and a kind: 1 whole, 2 first, 3 middle, 4 last)."""
    from wandb.proto import wandb_internal_pb2

    data, at, parts = file.read_bytes(), 7, b""
    assert data[:4] == b":W&B"
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield wandb_internal_pb2.Record.FromString(parts)
            parts = b""


def read_wandb(path):
    found, ids, artifacts, groups = [], {}, [], set()
    for file in sorted(FOLDER.glob("wandb/offline-run-*/*.wandb")):
        for record in wandb_records(file):
            kind = record.WhichOneof("record_type")
            if kind == "run":
                name = record.run.display_name
                ids.setdefault(name, set()).add(record.run.run_id)
                groups.add(record.run.run_group)
            if kind == "artifact":
                artifacts += [entry.path for entry in record.artifact.manifest.contents]
            if kind == "history":
                items = {i.key or "/".join(i.nested_key): json.loads(i.value_json) for i in record.history.item}
                step = items.pop("step")
                found += [(name, key, step, value) for key, value in items.items() if not key.startswith("_")]
    assert sorted(ids) == [*NAMES, "report"] and all(len(of_name) == 1 for of_name in ids.values()), ids
    assert sorted(artifacts) == ["report.html", "report.json"], artifacts
    assert len(groups) == 1
    return found


def read_mlflow(path):
    from mlflow import MlflowClient

    client = MlflowClient()
    runs = client.search_runs([client.get_experiment_by_name("posbench").experiment_id])
    by_name = {run.info.run_name: run for run in runs}
    (parent,) = [run for name, run in by_name.items() if name not in NAMES]
    assert len(runs) == 3 and {run.info.status for run in runs} == {"FINISHED"}
    files = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert files == {"report.json", "report.html", "table.txt"}, files
    found = []
    for name in NAMES:
        run = by_name[name]
        assert run.data.params["training.steps"] == "2000" and run.data.params["encoding"] == name.split("/")[1]
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        for metric in run.data.metrics:
            history = client.get_metric_history(run.info.run_id, metric)
            found += [(name, metric, point.step, point.value) for point in history]
    return found


def read_trackio(path):
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    found = []
    runs = {run.name.split(" ")[0]: run for run in trackio.Api().runs("posbench")}
    assert sorted(runs) == [*NAMES, "report"], runs
    for name in NAMES:
        assert runs[name].config["training.steps"] == 2000
        for row in SQLiteStorage.get_logs("posbench", runs[name].name):
            found += [(name, key, row["step"], value) for key, value in row.items() if "/" in key]
    return found


LIBRARIES = {"tensorboard": read_tensorboard, "wandb": read_wandb, "mlflow": read_mlflow, "trackio": read_trackio}


def test_an_interrupted_run_is_logged_once(backends):
    path = FOLDER / "mine"
    interrupted_run(path)
    recorder = Recorder()
    assert not posbench.log.follow(path, recorder, once=True)
    early = list(recorder.scalars)
    assert ("flip_flop/cope/0", "train/loss", 1) in {row[:3] for row in early}
    assert ("flip_flop/cope/0", "validation/sequence", 50) in {row[:3] for row in early}, (
        "no validation while it trains"
    )
    assert not recorder.results and not recorder.reports
    with contextlib.redirect_stdout(io.StringIO()):
        for backend in backends:
            assert not posbench.log.follow(path, backend, once=True)
    call(*LONG, "--resume", "-o", path)
    assert posbench.log.follow(path, recorder)
    with contextlib.redirect_stdout(io.StringIO()):
        for backend in backends:
            assert posbench.log.follow(path, backend)
            assert posbench.log.follow(path, backend, once=True)  # adds nothing
    expected = expected_scalars(path)
    check_scalars(recorder.scalars, expected)
    assert recorder.results == [(name, "ok") for name in NAMES] and len(recorder.ids) == 2
    config = recorder.configs["flip_flop/cope/0"]
    assert config["encoding"] == "cope" and config["model.width"] == 16 and config["parameters"] > 0
    ((files, table),) = recorder.reports
    assert files == ["report.json", "report.html"] and "cope" in table
    for backend in backends:
        check_scalars(LIBRARIES[backend](path), expected)


def test_a_run_is_followed_while_it_trains(backends):
    path = FOLDER / "live"
    process = subprocess.Popen([PROGRAM, *COMMAND, "-o", path], stdout=subprocess.DEVNULL)
    while not (path / "manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    recorder = Recorder()
    assert posbench.log.follow(path, recorder, every=0.05)
    assert process.wait() == 0
    check_scalars(recorder.scalars, expected_scalars(path))


def test_curves_at_several_learning_rates_have_their_names(backends):
    path = FOLDER / "rates"
    call(*COMMAND, "--learning-rates", "1e-3,1e-2", "-o", path)
    recorder = Recorder()
    assert posbench.log.follow(path, recorder)
    (best,) = {e["learning_rate"] for e in posbench.Report.load(path).experiments if e["encoding"] == "cope"}
    names = {metric for name, metric, *_ in recorder.scalars if name == "flip_flop/cope/0"}
    assert {"train/loss/learning_rate_0.001", "train/loss/learning_rate_0.01"} <= names
    assert {name for name in names if name.startswith("validation/token")} == {
        f"validation/token/learning_rate_{best:g}"
    }
    assert recorder.configs["flip_flop/cope/0"]["learning_rate"] == best


def test_settings_of_sweeps_and_overrides_are_those_of_the_experiment(backends):
    path = FOLDER / "sweep"
    (FOLDER / "config.json").write_text('{"overrides": {"flip_flop": {"training.batch": 2}}}')
    options = ["--config", FOLDER / "config.json", "--sweep", "model.width=16,32", "--extend", "none", "-o", path]
    call(*COMMAND, *options)
    recorder = Recorder()
    assert posbench.log.follow(path, recorder)
    assert len(recorder.configs) == 8 and {c["training.batch"] for c in recorder.configs.values()} == {2}
    assert {c["model.width"] for c in recorder.configs.values()} == {16, 32}
    assert {c.get("extends.parent") for c in recorder.configs.values()} == {None, "cope", "rope"}
    assert len({identity for _, identity in recorder.ids}) == 8


def test_a_diverged_experiment_is_logged_as_one_and_again_after_a_rerun(backends):
    path = FOLDER / "diverged"
    COMMAND_2 = [*COMMAND, "--set", "training.steps=20", "-o", path]
    call(*COMMAND_2)
    lines = (path / "experiments.jsonl").read_text().splitlines()
    broken = dict(json.loads(lines[0]), status="diverged", diverged_step=7, splits=[], learning_curve=[])
    del broken["crc32"]  # as an older version wrote it
    (path / "experiments.jsonl").write_text(json.dumps(broken) + "\n" + lines[1] + "\n" + lines[0][:100])
    recorder = Recorder()
    posbench.log.follow(path, recorder, once=True)
    assert (f"flip_flop/{broken['encoding']}/0", "diverged") in recorder.results and len(recorder.results) == 2
    (path / "experiments.jsonl").write_text(json.dumps(broken) + "\n" + lines[1] + "\n" + lines[0] + "\n")
    posbench.log.follow(path, recorder, once=True)
    assert len(recorder.results) == 3
    check_scalars(recorder.scalars, {key: v for key, v in expected_scalars(path).items()})


def test_a_file_system_without_locks_and_flushes_takes_a_log(backends):
    path = FOLDER / "without_locks"
    shutil.copytree(FOLDER / "rates", path, ignore=shutil.ignore_patterns("log"))
    for lock, flush in ((errno.ENOLCK, errno.EINVAL), (errno.EOPNOTSUPP, errno.ENOSYS)):
        with patch("fcntl.flock", side_effect=OSError(lock, "")), patch("os.fsync", side_effect=OSError(flush, "")):
            assert posbench.log.follow(path, Recorder(), once=True)
        shutil.rmtree(path / "log")


def test_bad_input_is_refused(backends):
    follow, run = posbench.log.follow, FOLDER / "rates"
    changed = FOLDER / "changed"
    shutil.copytree(run, changed, ignore=shutil.ignore_patterns("log"))
    lines = (changed / "experiments.jsonl").read_text()
    (changed / "experiments.jsonl").write_text(lines.replace('"parameters":', '"parameters":1', 1))
    assert "experiments.jsonl:1: crc32 is " in raised(posbench.InputError, follow, changed, Recorder(), once=True)
    assert "expected the directory of a run" in raised(posbench.InputError, follow, FOLDER / "none", Recorder())
    assert "'sheets' is no logger" in raised(posbench.InputError, follow, run, "sheets")
    assert "WANDB_DIR" in raised(posbench.InputError, follow, run, "wandb", directory="x")
    assert "has no projects" in raised(posbench.InputError, follow, run, "tensorboard", project="x")
    other = FOLDER / "other"
    shutil.copytree(run, other, ignore=shutil.ignore_patterns("log"))
    (other / "experiments.jsonl").write_text("{}\n")
    assert "experiments.jsonl:1" in raised(posbench.InputError, follow, other, Recorder(), once=True)
    (other / "manifest.json").write_text("{}")
    assert "is no manifest" in raised(posbench.InputError, follow, other, Recorder())

    moved = FOLDER / "moved"
    shutil.copytree(FOLDER / "other", moved, ignore=shutil.ignore_patterns("log", "manifest.json"))
    shutil.copy(run / "manifest.json", moved)
    lines = (FOLDER / "diverged/experiments.jsonl").read_text().splitlines(keepends=True)
    (moved / "experiments.jsonl").write_text(lines[1])
    assert "of a run with other settings" in raised(posbench.InputError, follow, moved, Recorder(), once=True)
    text = (run / "manifest.json").read_text()
    (moved / "manifest.json").write_text(text.replace('"steps":', '"steps":1', 1))
    assert "manifest.json: crc32 is " in raised(posbench.InputError, follow, moved, Recorder())

    class Second(Recorder):
        def write(self, *_):
            raised_text.append(raised(posbench.InputError, follow, third, Recorder()))

    third, raised_text = FOLDER / "third", []
    shutil.copytree(run, third, ignore=shutil.ignore_patterns("log"))
    follow(third, Second(), once=True)
    assert "another process logs" in raised_text[0]


def test_the_command_has_exit_codes_and_one_line_of_error(backends):
    def command(*arguments):
        package = dict(os.environ, PYTHONPATH=str(Path(__file__).resolve().parents[2] / "python"))
        done = subprocess.run(
            [sys.executable, "-m", "posbench.log", *map(str, arguments)], env=package, capture_output=True, text=True
        )
        return done.returncode, done.stderr

    code, said = command(FOLDER / "none", "--to", "tensorboard")
    assert code == 2 and said.startswith("posbench.log: ") and said.count("\n") == 1, said
    assert command(FOLDER / "rates", "--to", "sheets")[0] == 2
    if "tensorboard" not in backends:
        return
    assert command(FOLDER / "rates", "--to", "tensorboard", "--directory", FOLDER / "tb") == (0, "")
    assert list((FOLDER / "tb").glob("*/flip_flop/cope/0/events*"))
    stopped = FOLDER / "stopped"
    interrupted_run(stopped)
    for file in [stopped, *stopped.rglob("*")]:
        os.utime(file, (0, 0))
    code, said = command(stopped, "--to", "tensorboard")
    assert code == 1 and f"posbench run --resume -o {stopped}" in said and said.count("\n") == 1


ODD = ("text:file=../../../../ty.txt", "a,b=(c:d=1)", "..", "a//b", "/x", "x" * 300, "\u6a21 ", "a:b", "a=b")


def test_tensorboard_writes_into_its_folder_only(backends):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = FOLDER / "a" / "b" / "c" / "d" / "e" / "tb"
    backend = posbench.log._backends.make_backend("tensorboard", FOLDER, None, folder)
    for n, name in enumerate(ODD):
        run = posbench.log.LoggedRun(str(n), f"{name}/rope/0", "group", {"task": name})
        backend.write(run, {1: {f"validation/{name}/token": n}}, None)
    backend.close()
    written = {file.parent for file in (FOLDER / "a").rglob("events*")}
    assert len(written) == len(ODD) and all(folder / "group" in path.parents for path in written), written
    values = [e.value for p in written for e in _scalars(EventAccumulator(str(p)).Reload())]
    assert sorted(values) == list(range(len(ODD)))


def _scalars(events):
    return [event for tag in events.Tags()["scalars"] for event in events.Scalars(tag)]


def test_mlflow_takes_every_name_and_refuses_a_wrong_address(backends):
    from mlflow import MlflowClient

    backend = posbench.log._backends.make_backend("mlflow", FOLDER, "odd names", None)
    points = {1: {f"validation/{name}/token": n for n, name in enumerate(ODD)}}
    result = posbench.log.Result("ok", 2, {f"test/{name}/token": n for n, name in enumerate(ODD)})
    backend.write(posbench.log.LoggedRun("1", "x/rope/0", "group", {name: 1 for name in ODD}), points, result)
    backend.write_report(posbench.log.LoggedRun("2", "report", "group", {"a=b": "x" * 9000}), [], "table")
    client = MlflowClient()
    runs = client.search_runs([client.get_experiment_by_name("odd names").experiment_id])
    [run] = [run for run in runs if run.info.run_name == "x/rope/0"]
    assert len(run.data.metrics) == 2 * len(ODD) and len(run.data.params) == len(ODD)
    call(*COMMAND, "--set", "training.steps=2", "-o", FOLDER / "address")
    for address in ("nonsense://x", "http://127.0.0.1:9", "sqlite:////missing/x.db", "databricks://none"):
        about = dict(os.environ, MLFLOW_TRACKING_URI=address, MLFLOW_HTTP_REQUEST_MAX_RETRIES="0")
        about["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "python")
        command = [sys.executable, "-m", "posbench.log", FOLDER / "address", "--to", "mlflow", "--once"]
        done = subprocess.run(command, env=about, capture_output=True, text=True)
        said = done.stderr.strip().splitlines()
        assert done.returncode == 1 and said[-1].startswith("posbench.log: mlflow"), (address, done.stderr)
        assert "Traceback" not in done.stderr, (address, done.stderr)


for name, test in list(globals().items()):
    # A library takes part in the test of all backends, and TensorBoard in that of the command.
    own = next((library for library in LIBRARIES if name.startswith(f"test_{library}_")), None)
    if name.startswith("test_") and (
        own in sys.argv[2:]
        if own
        else not sys.argv[2:] or name.startswith("test_an_interrupted") or sys.argv[2:] == ["tensorboard"]
    ):
        test(sys.argv[2:])
        print(f"passed: {name}")
