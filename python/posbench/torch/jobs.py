"""Runs trainings side by side and prints their progress."""

from __future__ import annotations

import multiprocessing
import sys
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any, Callable

import torch

from .._program import PosbenchError, ProgramError
from ..samples import Task
from .training import Training

_fork = multiprocessing.get_context("fork" if sys.platform == "linux" else None)


class Progress:
    """Prints a line on standard error after every validation, with the time that all trainings together still take."""

    def __init__(self, steps: int):
        self.steps = steps
        self.done = _fork.Value("q", 0)
        self.started = time.monotonic()

    def of(self, what: str, task: Task) -> Callable[[Training], None]:
        """Returns the function that `train` calls after every validation."""
        most = task.manifest["settings"]["training"]["steps"]
        counted = 0

        def show(training: Training) -> None:
            nonlocal counted
            reached = most if training.stopped_early else min(training.steps, most)
            with self.done.get_lock():
                self.done.value += reached - counted
                done = self.done.value
            counted = reached
            left = (time.monotonic() - self.started) * (self.steps - done) / max(1, done)
            point = training.learning_curve[-1]
            print(
                f"{what}: step {point['step']} of {max(most, training.steps)}, loss {point['loss']:.4f}, "
                f"validation {point['validation_token']:.4f}; about {_duration(left)} left",
                file=sys.stderr,
            )

        return show


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def run_all(jobs: Sequence[Callable[[], None]], parallel: int) -> None:
    """Calls every function, `parallel` of them at a time in processes of their own. Raises the first error of one and
    ends the others."""
    if parallel == 1:
        for job in jobs:
            job()
        return
    waiting = list(jobs)
    running: dict[Any, Any] = {}  # the pipe for the error of a process, and the process
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                reader, writer = _fork.Pipe(duplex=False)
                process = _fork.Process(target=_call, args=(waiting.pop(0), writer))
                process.start()
                writer.close()
                running[reader] = process
            finished = wait(list(running))
            for ready in [pipe for pipe in running if pipe in finished]:
                process = running.pop(ready)
                try:
                    error = ready.recv()
                except EOFError:
                    process.join()
                    error = ProgramError(f"a training ended with the exit code {process.exitcode}")
                except Exception as unreadable:  # the error cannot be made again from its text
                    error = ProgramError(f"a training failed, as printed above ({unreadable})")
                process.join()
                if error is not None:
                    raise error
    finally:
        for process in running.values():
            process.terminate()
            process.join()


def _call(job: Callable[[], None], writer: Any) -> None:
    """Calls the function with one thread and sends its error, or None."""
    torch.set_num_threads(1)
    try:
        job()
        writer.send(None)
    except BaseException as error:
        if not isinstance(error, (PosbenchError, KeyboardInterrupt)):
            traceback.print_exc()  # a pipe has no traceback
        try:
            writer.send(error)
        except Exception:  # it cannot be pickled
            writer.send(ProgramError(f"a training failed: {error!r}"))
