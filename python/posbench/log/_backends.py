"""Writes logged runs with TensorBoard, Weights & Biases, MLflow and Trackio."""

from __future__ import annotations

import importlib
import json
import re
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .._program import InputError, ProgramError
from ._folder import Points


@dataclass(frozen=True)
class LoggedRun:
    """A run of the logger: an experiment, or the report on all of them. `id` is the same when its log continues."""

    id: str
    name: str
    group: str
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The results of a finished experiment at its last step."""

    status: str  # "ok", "diverged" or "failed"
    step: int
    values: Mapping[str, float]


class Backend(Protocol):
    """Functions that `follow` calls. They return when the values are written, so that no value is logged twice."""

    name: str
    destination: str  # identifies the place that the log goes to
    errors: tuple[type[Exception], ...]  # which `follow` raises as ProgramError

    def write(self, run: LoggedRun, points: Points, result: Result | None) -> None:
        """Adds points to the curves of an experiment, and its results if it has finished."""

    def write_report(self, run: LoggedRun, files: Sequence[Path], table: str) -> None:
        """Adds the report, its page and its table of results."""

    def close(self) -> None:
        """Ends the log for now."""


def _import(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ProgramError(f"{package} is missing ({error}); run \"pip install '{package}'\"") from None


def _plain_path(name: str, also: str = "") -> str:
    """Returns a name as a relative path that leads nowhere else, of parts with letters, digits and the characters "_. -" and
    `also`. A part that has to change, or is too long for a folder, ends in its checksum."""

    def plain(part: str) -> str:
        safe = re.sub(rf"[^\w. {re.escape(also)}-]", "_", part, flags=re.A)[:150]
        if part and safe == part == part.strip(". "):
            return part
        return f"{safe.strip('. ')}-{zlib.crc32(part.encode(errors='surrogateescape')):08x}"

    return "/".join(map(plain, name.split("/")))


class TensorBoard:
    """One folder of event files for each experiment. It has no artifacts: the table and the paths are a text."""

    name = "tensorboard"
    errors: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, directory: Path):
        writer = _import("tensorboard.summary.writer.event_file_writer", "tensorboard")
        self._make_writer = writer.EventFileWriter
        self._pb: Any = _import("tensorboard.compat.proto.summary_pb2", "tensorboard")
        self._event: Any = _import("tensorboard.compat.proto.event_pb2", "tensorboard").Event
        self._text = _import("tensorboard.plugins.text.summary_v2", "tensorboard").text_pb
        self._hparams = _import("tensorboard.plugins.hparams.summary_v2", "tensorboard").hparams_pb
        self._directory = directory
        self._writers: dict[str, Any] = {}
        self.destination = str(directory.resolve())

    def write(self, run: LoggedRun, points: Points, result: Result | None) -> None:
        for step, values in points.items():
            self._add(run, step, self._scalars(values))
        if result:
            self._add(run, result.step, self._scalars(result.values))
            self._add(run, 0, self._hparams(dict(run.config, status=result.status), trial_id=run.id))
        self._writers[run.id].flush()

    def write_report(self, run: LoggedRun, files: Sequence[Path], table: str) -> None:
        indented = "".join(f"    {line}\n" for line in table.splitlines())
        self._add(run, 0, self._text("report", indented + "\n" + "\n".join(f"* {file.resolve()}" for file in files)))
        self._writers[run.id].flush()

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def _scalars(self, values: Mapping[str, float]) -> Any:
        return self._pb.Summary(value=[self._pb.Summary.Value(tag=k, simple_value=v) for k, v in values.items()])

    def _add(self, run: LoggedRun, step: int, summary: Any) -> None:
        if run.id not in self._writers:
            self._writers[run.id] = self._make_writer(
                str(self._directory / run.group / _plain_path(run.name.replace(":", "_"), "=,()+"))
            )
            config = "    " + json.dumps(dict(run.config), indent=1).replace("\n", "\n    ")
            self._add(run, 0, self._text("configuration", config))
        # The bytes are parsed because the summary may be of TensorFlow, if that is installed.
        parsed = self._pb.Summary.FromString(summary.SerializeToString())
        self._writers[run.id].add_event(self._event(wall_time=time.time(), step=step, summary=parsed))


class WandB:
    """One W&B run for each experiment, in a group. Charts have the step of training as their axis, since validations
    become known after later losses."""

    name = "wandb"

    def __init__(self, project: str):
        self._wandb: Any = _import("wandb", "wandb>=0.19.10")
        self.errors: tuple[type[Exception], ...] = (self._wandb.Error,)
        self._project = project
        self._runs: dict[str, Any] = {}
        settings = self._wandb.Settings()
        self.destination = f"{settings.base_url} {settings.mode} {settings.entity} {project}"

    def write(self, run: LoggedRun, points: Points, result: Result | None) -> None:
        logged = self._open(run, "train")
        for step, values in points.items():
            logged.log({**values, "step": step})
        if result:
            logged.log({**result.values, "step": result.step})
            logged.config.update(dict(run.config), allow_val_change=True)
            logged.summary["status"] = result.status
            self._runs.pop(run.id).finish(exit_code=0 if result.status == "ok" else 1)

    def write_report(self, run: LoggedRun, files: Sequence[Path], table: str) -> None:
        logged = self._open(run, "report")
        artifact = self._wandb.Artifact(f"report-{run.id}", type="report")
        for file in files:
            artifact.add_file(str(file))
        logged.log_artifact(artifact)
        logged.summary["table"] = table
        self._runs.pop(run.id).finish()

    def close(self) -> None:
        for logged in self._runs.values():
            logged.finish()

    def _open(self, run: LoggedRun, job: str) -> Any:
        if run.id not in self._runs:
            about: dict[str, Any] = {"project": self._project, "id": run.id, "name": run.name, "group": run.group}
            logged = self._wandb.init(
                **about, job_type=job, config=dict(run.config), resume="allow", reinit="create_new"
            )
            logged.define_metric("step", hidden=True)
            logged.define_metric("*", step_metric="step")
            self._runs[run.id] = logged
        return self._runs[run.id]


class MLflow:
    """One MLflow run for each experiment, in the run that has the report."""

    name = "mlflow"

    def __init__(self, project: str):
        self._mlflow: Any = _import("mlflow", "mlflow-skinny")
        self.errors: tuple[type[Exception], ...] = (self._mlflow.MlflowException, OSError, ImportError)
        self._client = self._mlflow.MlflowClient()
        self._project = project
        self._experiment: str | None = None
        self._ids: dict[str, str] = {}
        self.destination = f"{self._mlflow.get_tracking_uri()} {project}"

    def write(self, run: LoggedRun, points: Points, result: Result | None) -> None:
        parent = self._open(LoggedRun(run.group, run.group, run.group), {})
        run_id = self._open(run, {"mlflow.parentRunId": parent})
        steps = [*points.items(), *([(result.step, result.values)] if result else [])]
        now, entities = int(time.time() * 1000), self._mlflow.entities
        metrics = [
            entities.Metric(_plain_path(name), value, now, step)
            for step, values in steps
            for name, value in values.items()
        ]
        for first in range(0, len(metrics), 1000):  # the most that a call takes
            self._client.log_batch(run_id, metrics=metrics[first : first + 1000])
        if result:
            self._client.set_tag(run_id, "status", result.status)
            self._log_config(run_id, run.config)
            self._client.set_terminated(run_id, "FINISHED" if result.status == "ok" else "FAILED")

    def write_report(self, run: LoggedRun, files: Sequence[Path], table: str) -> None:
        run_id = self._open(LoggedRun(run.group, run.group, run.group), {})
        for file in files:
            self._client.log_artifact(run_id, str(file))
        self._client.log_text(run_id, table, "table.txt")
        self._log_config(run_id, run.config)
        self._client.set_terminated(run_id)

    def close(self) -> None:
        pass

    def _log_config(self, run_id: str, config: Mapping[str, Any]) -> None:
        params = [self._mlflow.entities.Param(_plain_path(name), str(value)) for name, value in config.items()]
        self._client.log_batch(run_id, params=params)

    def _open(self, run: LoggedRun, tags: Mapping[str, str]) -> str:
        if self._experiment is None:
            found = self._client.get_experiment_by_name(self._project)
            self._experiment = found.experiment_id if found else self._client.create_experiment(self._project)
        if run.id not in self._ids:
            found = self._client.search_runs([self._experiment], f"tags.`posbench.id` = '{run.id}'", max_results=1)
            made = found or [
                self._client.create_run(self._experiment, tags={**tags, "posbench.id": run.id}, run_name=run.name)
            ]
            self._ids[run.id] = made[0].info.run_id
            self._client.update_run(self._ids[run.id], status="RUNNING")
            self._log_config(self._ids[run.id], run.config)
        return self._ids[run.id]


class Trackio:
    """One Trackio run for each experiment, in a group. Trackio finds a run by its name, which therefore has the group."""

    name = "trackio"
    errors: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, project: str):
        self._trackio: Any = _import("trackio", "trackio")
        self._project = project
        self.destination = f"{self._trackio.TRACKIO_DIR} {project}"

    def write(self, run: LoggedRun, points: Points, result: Result | None) -> None:
        status = {} if result is None else {"status": result.status}
        logged = self._open(run, {**run.config, **status})
        for step, values in points.items():
            logged.log(dict(values), step=step)
        if result:
            logged.log({**result.values, **status}, step=result.step)
        logged.finish()

    def write_report(self, run: LoggedRun, files: Sequence[Path], table: str) -> None:
        logged = self._open(run, run.config)
        for file in files:
            logged.log_artifact(file, name=f"{run.group}-{file.name}", type="report")
        logged.log({"table": self._trackio.Markdown(f"```\n{table}```\n")}, step=0)
        logged.finish()

    def close(self) -> None:
        pass

    def _open(self, run: LoggedRun, config: Mapping[str, Any]) -> Any:
        about: dict[str, Any] = {"project": self._project, "name": f"{run.name} {run.group}", "group": run.group}
        return self._trackio.init(
            **about, config=dict(config), resume="allow", embed=False, auto_log_gpu=False, auto_log_cpu=False
        )


def make_backend(to: str, run: Path, project: str | None, directory: str | Path | None) -> Backend:
    """Returns the backend of a name. Raises InputError for an unknown one or for an option that it does not have."""
    if to == "tensorboard":
        if project is not None:
            raise InputError("TensorBoard has no projects; expected a directory")
        return TensorBoard(Path(directory) if directory is not None else run / "log" / "tensorboard")
    places = {"wandb": "WANDB_DIR", "mlflow": "MLFLOW_TRACKING_URI", "trackio": "TRACKIO_DIR"}
    if to not in places:
        raise InputError(f"'{to}' is no logger; expected tensorboard, wandb, mlflow or trackio")
    if directory is not None:
        raise InputError(f"a directory is for tensorboard only; set {places[to]} to choose where {to} writes")
    backend: Any = {"wandb": WandB, "mlflow": MLflow, "trackio": Trackio}[to]
    try:
        made: Backend = backend(project or "posbench")
    except ProgramError:
        raise
    except Exception as error:  # of an address or a setting of the library
        raise ProgramError(f"{to} cannot be used: {' '.join(str(error).split())}; correct {places[to]}") from error
    return made
