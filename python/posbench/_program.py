"""Runs the program and raises its failures as exceptions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Union

Argument = Union[str, int, Path]
Settings = Union[Sequence[str], Mapping[str, Any]]  # ["model.width=128"] or {"model.width": 128}


class PosbenchError(Exception):
    """Base of all exceptions of this package; its text is one line."""


class InputError(PosbenchError, ValueError):
    """Invalid input (exit code 2 of the program). Nothing was written."""


class ProgramError(PosbenchError, RuntimeError):
    """The program is missing, could not write a file, or failed (exit codes 1 and 3)."""


def program_path() -> Path:
    """Returns the program: $POSBENCH_PROGRAM, else the one of this package, else the one on the PATH."""
    chosen = os.environ.get("POSBENCH_PROGRAM")
    if chosen:
        return Path(chosen)
    own = Path(__file__).parent / "bin" / "posbench"
    if own.exists():
        return own
    found = shutil.which("posbench")
    if found and not _is_wrapper(Path(found)):
        return Path(found)
    raise ProgramError("the program posbench is not installed; run 'pip install .', or set POSBENCH_PROGRAM")


def _is_wrapper(path: Path) -> bool:
    """Returns whether the file is the script that calls main() below, which would call itself."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def call(arguments: Sequence[Argument], accept: Sequence[int] = (0,), progress: bool = False) -> str:
    """Runs the program and returns its standard output.

    Raises InputError or ProgramError if the exit code is not in `accept`, and for an error with an accepted code: 1 can
    mean that an experiment diverged, and that a file could not be written.
    """
    command = [str(program_path()), *map(str, arguments)]
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise ProgramError(f"{command[0]} cannot be started: {error.strerror}; correct POSBENCH_PROGRAM") from error
    with started as process:
        assert process.stdout is not None and process.stderr is not None
        lines: list[str] = []
        reader = threading.Thread(target=_read_messages, args=(process.stderr, lines, progress))
        reader.start()
        output = process.stdout.read()
        reader.join()
    is_error = process.returncode != 0 and bool(lines) and lines[-1].startswith("posbench: ")
    if process.returncode in accept and not is_error:
        return output
    if process.returncode == 130:
        raise KeyboardInterrupt
    message = lines[-1] if lines else f"posbench ended with exit code {process.returncode}"
    message = message[len("posbench: ") :] if message.startswith("posbench: ") else message
    raise InputError(message) if process.returncode == 2 else ProgramError(message)


def _read_messages(stream: IO[str], lines: list[str], show: bool) -> None:
    for line in stream:
        lines.append(line.rstrip("\n"))
        if show and not line.startswith("posbench: "):  # an error, which the caller raises
            sys.stderr.write(line)


def configuration(profile: str | None, settings: Settings, config: str | Path | None) -> list[str]:
    """Returns the flags of a configuration: a profile's name, settings such as "model.width=128", a file."""
    flags: list[str] = []
    if profile is not None:
        flags += ["--profile", profile]
    if config is not None:
        flags += ["--config", str(config)]
    if isinstance(settings, Mapping):
        settings = [f"{name}={text_of(value)}" for name, value in settings.items()]
    for setting in settings:
        flags += ["--set", setting]
    return flags


def text_of(value: object) -> str:
    """Returns the value of a setting as the program reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_value(text: Any) -> Any:
    """Returns the number or truth value that the text of a setting states, or else the text."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return text
    return value if isinstance(value, (int, float)) else text


def main() -> None:
    """Runs the program. It is the command `posbench` of the package."""
    try:
        path = str(program_path())
    except ProgramError as error:
        sys.exit(f"posbench: {error}")
    if Path(path).resolve() == Path(sys.argv[0]).resolve():
        sys.exit(f"posbench: POSBENCH_PROGRAM is {path}, which starts that program; set it to the program itself")
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"posbench: {path} cannot be started: {error.strerror}; correct POSBENCH_PROGRAM")
