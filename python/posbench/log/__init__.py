"""Logs a run of the program with TensorBoard, Weights & Biases, MLflow or Trackio.

    posbench.log.follow("runs/mine", to="wandb")        # the same as: python -m posbench.log runs/mine --to wandb

Each experiment is a run of the logger: its settings, its learning curves while it trains, and its results by split. The
report and its page follow at the end.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from .._program import InputError, ProgramError, call, load_json, with_checksum
from ._backends import Backend, LoggedRun, Result, make_backend
from ._folder import Experiment, Points, RunFolder, results

__all__ = ["Backend", "LoggedRun", "Points", "Result", "follow"]

_IDLE_SECONDS = 120  # without a change, after which a run without a process has been interrupted


def follow(
    run: str | Path,
    to: str | Backend,
    *,
    project: str | None = None,
    directory: str | Path | None = None,
    once: bool = False,
    every: float = 5,
) -> bool:
    """Logs a run until it ends, and returns whether it is complete.

    `to` is "tensorboard", "wandb", "mlflow", "trackio" or an object with the functions of Backend. `project` is the
    project of W&B and Trackio or the experiment of MLflow, by default posbench; `directory` is that of TensorBoard, by
    default log/tensorboard in the run directory. `every` is the time between two looks at the run in seconds, and with
    `once` there is one. Files in the run directory's log/ note what was logged, so that a later call continues. Raises
    InputError if there is no run or another process logs it to the same place, and ProgramError for errors of the logger.
    """
    folder = RunFolder(run)
    backend = make_backend(to, folder.path, project, directory) if isinstance(to, str) else to
    journal = _Journal(folder, backend)
    try:
        while True:
            complete = _log_news(folder, backend, journal)
            if complete or once or folder.is_idle(_IDLE_SECONDS):
                return complete
            time.sleep(every)
            folder.check_unchanged()
    except backend.errors as error:
        raise ProgramError(f"{backend.name}: {' '.join(str(error).split())}") from error
    finally:
        backend.close()
        journal.close()


def _log_news(folder: RunFolder, backend: Backend, journal: _Journal) -> bool:
    """Logs what was not logged yet, and returns whether that is all."""
    finished = folder.finished()
    for experiment in folder.experiments:
        _log_experiment(folder, experiment, finished.get(experiment), backend, journal)
    report, page = folder.path / "report.json", folder.path / "report.html"
    if not report.exists() or not all(experiment in finished for experiment in folder.experiments):
        return False
    # The program writes the page after the report.
    if not (page.exists() and page.stat().st_mtime_ns >= report.stat().st_mtime_ns) and not folder.is_idle(
        _IDLE_SECONDS
    ):
        return False
    digest = hashlib.sha256(report.read_bytes()).hexdigest()
    if journal.result("report") != digest:
        logged = LoggedRun(_run_id(folder, "report"), "report", journal.group, folder.settings())
        backend.write_report(logged, [file for file in (report, page) if file.exists()], call(["report", report]))
        journal.add("report", {}, digest)
    return True


def _log_experiment(
    folder: RunFolder, experiment: Experiment, line: Mapping[str, Any] | None, backend: Backend, journal: _Journal
) -> None:
    digest = None if line is None else hashlib.sha256(json.dumps(line).encode()).hexdigest()
    if digest is not None and journal.result(experiment.name) == digest:
        return
    points = journal.news(experiment.name, folder.points(experiment, line))
    if not points and line is None:
        return
    result = None if line is None else Result(line["status"], line["steps"], results(line))
    config = folder.config(experiment, line)
    backend.write(LoggedRun(_run_id(folder, experiment.name), experiment.name, journal.group, config), points, result)
    journal.add(experiment.name, points, digest)


def _run_id(folder: RunFolder, name: str) -> str:
    return hashlib.sha256(f"{folder.fingerprint} {name}".encode()).hexdigest()[:16]


class _Journal:
    """The file that notes what was logged to one place: a JSON object for each write, appended after it.

    One process at a time has it. A line that an interruption has truncated is dropped.
    """

    def __init__(self, folder: RunFolder, backend: Backend):
        key = hashlib.sha256(f"{folder.fingerprint} {backend.destination}".encode()).hexdigest()[:12]
        path = folder.path / "log" / f"{backend.name}-{key}.jsonl"
        try:
            path.parent.mkdir(exist_ok=True)
            self._file: IO[str] = open(path, "a+", encoding="utf-8")  # noqa: SIM115  close() closes it
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}); it notes what was logged") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InputError(f"another process logs {folder.path} to {backend.name} already; stop it first") from None
        except OSError:
            pass  # this file system has no locks
        self._steps: dict[str, dict[str, int]] = {}
        self._results: dict[str, str] = {}
        self.group = f"{folder.path.resolve().name}-{folder.fingerprint[:6]}"
        self._file.seek(0)
        whole = self._file.read().rpartition("\n")[0]
        self._file.truncate(len(whole.encode()) + 1 if whole else 0)
        for number, text in enumerate(whole.splitlines(), 1):
            entry = load_json(text.encode(), f"{path}:{number}")
            self.group = entry.get("group", self.group)
            self._note(entry["name"], entry["steps"], entry["result"])

    def result(self, name: str) -> str | None:
        return self._results.get(name)

    def news(self, name: str, points: Points) -> Points:
        """Returns the values after the last logged step of their metric, in the order of the steps."""
        logged = self._steps.get(name, {})
        news = {
            step: {metric: value for metric, value in points[step].items() if step > logged.get(metric, -1)}
            for step in sorted(points)
        }
        return {step: values for step, values in news.items() if values}

    def add(self, name: str, points: Points, result: str | None) -> None:
        steps = {metric: step for step, values in points.items() for metric in values}  # the last step, as they ascend
        entry = {"name": name, "group": self.group, "steps": steps, "result": result}
        self._file.write(with_checksum(json.dumps(entry).encode()).decode() + "\n")
        self._file.flush()
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # a file system that cannot flush
                raise
        self._note(name, steps, result)

    def _note(self, name: str, steps: Mapping[str, int], result: str | None) -> None:
        self._steps.setdefault(name, {}).update(steps)
        if result is not None:
            self._results[name] = result

    def close(self) -> None:
        self._file.close()
