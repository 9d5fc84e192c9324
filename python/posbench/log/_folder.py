"""Reads what a run directory shows of its experiments, while they train and afterwards."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import math
import re
import struct
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._program import InputError, load_json, parse_value

Points = dict[int, dict[str, float]]  # values of metrics by step

_LISTS = ("tasks", "encodings", "seeds", "splits", "overrides", "sweep")  # of a configuration; not settings


@dataclass(frozen=True)
class Experiment:
    task: str
    encoding: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.task}/{self.encoding}/{self.seed}"

    @property
    def stem(self) -> str:
        """Returns the name of its files in the run directory, as `file_stem` of the program does."""
        exact = f"{self.task}-{self.encoding}-{self.seed}".encode()
        stem = re.sub(rb"[^A-Za-z0-9.-]", b"_", exact[:150])
        return stem.decode() if stem == exact else f"{stem.decode()}-{zlib.crc32(exact):08x}"

    def origin(self, settings: str) -> str:
        """Returns the hash of what its result depends on, `origin_sha256` of its line."""
        return hashlib.sha256(f"{settings}\n{self.task}\n{self.encoding}\n{self.seed}".encode()).hexdigest()


class RunFolder:
    """A run directory. `fingerprint` identifies the run: a resumed run keeps it, a new run at the same path does not."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        text = self._manifest_bytes()
        self.fingerprint = hashlib.sha256(text).hexdigest()
        manifest = load_json(text, self.path / "manifest.json")
        try:
            self._settings = manifest.get("settings_sha256")
            self._config: Mapping[str, Any] = manifest["config"]
            self.experiments = [Experiment(e["task"], e["encoding"], e["seed"]) for e in manifest["experiments"]]
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(f"{self.path / 'manifest.json'} is no manifest of posbench: {error!r}") from None
        self._seen: dict[Path, tuple[int, int]] = {}  # time and size of a file when it was last read

    def _manifest_bytes(self) -> bytes:
        try:
            return (self.path / "manifest.json").read_bytes()
        except OSError as error:
            raise InputError(
                f"{self.path} has no readable manifest.json ({error.strerror}); expected the directory of a run, "
                f"as in 'posbench run -o {self.path}'"
            ) from None

    def check_unchanged(self) -> None:
        """Raises InputError if another run has replaced this one."""
        if hashlib.sha256(self._manifest_bytes()).hexdigest() != self.fingerprint:
            raise InputError(f"another run has replaced {self.path}; call follow again for the new run")

    def finished(self) -> dict[Experiment, dict[str, Any]]:
        """Returns the lines of the finished experiments. The last line of an experiment counts."""
        path = self.path / "experiments.jsonl"
        lines: dict[Experiment, dict[str, Any]] = {}
        if not path.exists():
            return lines
        whole = path.read_bytes().rpartition(b"\n")[0]
        for number, text in enumerate(whole.split(b"\n") if whole else [], 1):
            line = load_json(text, f"{path}:{number}")
            try:
                experiment = Experiment(line["task"], line["encoding"], line["seed"])
            except (KeyError, TypeError) as error:
                raise InputError(f"{path}:{number}: {error!r}; expected a finished experiment") from None
            if self._settings and line.get("origin_sha256", "") not in ("", experiment.origin(self._settings)):
                raise InputError(
                    f"{path}:{number}: the line is of a run with other settings or of another build; delete it"
                )
            lines[experiment] = line
        return lines

    def config(self, experiment: Experiment, line: Mapping[str, Any] | None) -> dict[str, Any]:
        """Returns the settings of an experiment, such as {"model.width": 64}, as far as they are known. Swept settings are
        known when the experiment has finished."""
        config = {"task": experiment.task, "encoding": experiment.encoding, "seed": experiment.seed, **self.settings()}
        overrides = self._config.get("overrides", {}).get(experiment.task.split(":")[0], {})
        config.update((name, parse_value(value)) for name, value in overrides.items())
        for name in self._config.get("sweep", {}):
            config.pop(name, None)
        if line is not None:
            config.update((v["name"], parse_value(v["value"])) for v in line.get("swept", {}).get("values", []))
            config.update((f"extends.{name}", value) for name, value in line.get("extends", {}).items())
            config.update({name: line[name] for name in ("parameters", "steps", "learning_rate") if name in line})
        return config

    def settings(self) -> dict[str, Any]:
        """Returns the settings that all experiments share, unless there is a sweep or an override."""
        return dict(_flat({key: value for key, value in self._config.items() if key not in _LISTS}))

    def points(self, experiment: Experiment, line: Mapping[str, Any] | None) -> Points:
        """Returns what is known of the learning curves: of a finished experiment all, of one in training the losses of
        --trace-loss and the validations up to its last checkpoint. A file that has not changed since the last call is not
        read again."""
        rates = str(self.config(experiment, line).get("training.learning_rate", "")).split(",")
        points: Points = {}
        losses = self.path / "losses" / f"{experiment.stem}.csv"
        if line is not None or self._is_new(losses):
            _add_losses(losses, len(rates) > 1, points)
        if line is not None:
            _add_curve(line["learning_curve"], _suffix(line.get("learning_rate")), points)
            return points
        checkpoint = self.path / "checkpoints" / f"{experiment.stem}.safetensors"
        if self._is_new(checkpoint):
            state = _checkpoint_state(checkpoint)
            rate = rates[len(state.get("tried", []))] if len(rates) > 1 else None
            _add_curve(state.get("learning_curve", []), _suffix(rate), points)
            if "best" in state:
                best = state["best"]
                _add_curve(best["learning_curve"], _suffix(best["learning_rate"]), points)
        return points

    def _is_new(self, path: Path) -> bool:
        try:
            now = path.stat()
        except OSError:
            return False
        before, self._seen[path] = self._seen.get(path), (now.st_mtime_ns, now.st_size)
        return before != self._seen[path]

    def is_idle(self, seconds: float) -> bool:
        """Returns whether no process runs the experiments: nothing was written for some time, and the lock is free."""
        files = [self.path / name for name in ("manifest.json", "experiments.jsonl", "report.json", "report.html")]
        files += [file for folder in ("losses", "checkpoints") for file in (self.path / folder).glob("*")]
        if time.time() - max(_modified(file) for file in files) < seconds:
            return False
        try:
            with open(self.path / "experiments.jsonl", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no such file, or a file system without locks
            return True
        return True


def results(line: Mapping[str, Any]) -> dict[str, float]:
    """Returns the results of a finished experiment on its splits, such as {"test/in_distribution/sequence": 0.5}."""
    values: dict[str, float] = {}
    for split in line["splits"]:
        for metric in ("token", "sequence"):
            values[f"test/{split['name']}/{metric}"] = split[metric].get("accuracy")
        for metric in ("loss", "margin"):
            values[f"test/{split['name']}/{metric}"] = split.get(metric)
    return _finite(values)


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, ",".join(map(str, value)) if isinstance(value, list) else value


def _finite(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items() if value is not None and math.isfinite(value)}


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0


def _suffix(rate: Any) -> str:
    """Returns the end of the names of the curves at one of several learning rates."""
    return "" if rate is None else f"/learning_rate_{float(rate):g}"


def _add_losses(path: Path, several_rates: bool, points: Points) -> None:
    """Adds the losses of the whole lines of a file of --trace-loss, if it exists."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    try:
        for row in csv.DictReader(text.rpartition("\n")[0].splitlines()):
            name = "train/loss" + _suffix(row["learning_rate"] if several_rates else None)
            points.setdefault(int(row["step"]), {}).update(_finite({name: float(row["loss"])}))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: {error!r}; expected lines of learning_rate,step,loss") from None


def _add_curve(curve: Iterable[Mapping[str, Any]], suffix: str, points: Points) -> None:
    for point in curve:
        values = {"train/mean_loss": point.get("loss")}
        for split in [
            {"name": "", "token": point["validation_token"], "sequence": point["validation_sequence"]}
        ] + list(point.get("splits", [])):
            folder = f"validation/{split['name']}".rstrip("/")
            values.update({f"{folder}/token": split["token"], f"{folder}/sequence": split["sequence"]})
        finite = {name + suffix: value for name, value in _finite(values).items()}
        points.setdefault(point["step"], {}).update(finite)


def _checkpoint_state(path: Path) -> dict[str, Any]:
    """Returns the state in the header of a checkpoint, without its parameters; {} if the experiment finished meanwhile."""
    try:
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, 1 << 28)))
        state: dict[str, Any] = json.loads(header["__metadata__"]["state"])
        return state
    except FileNotFoundError:
        return {}
    except (OSError, struct.error, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: {error!r}; expected a checkpoint of posbench") from None
