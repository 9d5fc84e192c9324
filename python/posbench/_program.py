"""Runs the program and raises its failures as exceptions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import index
from pathlib import Path
from typing import IO, Any, Union

import numpy as np

Argument = Union[str, int, Path]
Settings = Union[Sequence[str], Mapping[str, Any]]  # ["model.width=128"] or {"model.width": 128}
_CHECKSUM = "crc32"
_TEXT: Any = {"encoding": "utf-8", "errors": "surrogateescape"}  # of the program, in every locale


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
    program = program_path()
    command = [os.fsencode(a) if isinstance(a, Path) else str(a).encode(**_TEXT) for a in (program, *arguments)]
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_TEXT)
    except OSError as error:
        raise ProgramError(f"{program} cannot be started: {error.strerror}; correct POSBENCH_PROGRAM") from error
    with started as process:
        assert process.stdout is not None and process.stderr is not None
        lines: list[str] = []
        reader = threading.Thread(target=_read_messages, args=(process.stderr, lines, progress))
        reader.start()
        output: str = process.stdout.read()
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


def configuration(profile: str | None, settings: Settings, config: str | Path | None) -> list[Argument]:
    """Returns the flags of a configuration: a profile's name, settings such as "model.width=128", a file."""
    flags = flags_of({"--profile": profile, "--config": None if config is None else Path(config)})
    if isinstance(settings, Mapping):
        settings = [f"{name}={text_of(value)}" for name, value in settings.items()]
    for setting in settings:
        flags += ["--set", setting]
    return flags


def seeds_of(seeds: Any) -> list[int]:
    """Returns the seeds of their number or of a list. Raises InputError for anything else."""
    try:
        given = range(index(seeds)) if np.ndim(seeds) == 0 else [index(seed) for seed in seeds]
    except TypeError:
        given = []
    if len(given) == 0 or isinstance(seeds, (bool, str)):
        raise InputError(f"seeds is {seeds!r}, expected the number of seeds (1 or more) or a list of seeds")
    return list(given)


def flags_of(options: Mapping[str, Any]) -> list[Argument]:
    """Returns the options that are not None as flags of the program. One that is true or false has no value."""
    flags: list[Argument] = []
    for flag, value in options.items():
        if isinstance(value, (bool, np.bool_)):
            flags += [flag] if value else []
        elif value is not None:
            flags += [flag, value if isinstance(value, Path) else text_of(value)]
    return flags


def text_of(value: Any) -> str:
    """Returns the value of an option as the program reads it; a list is separated by commas."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(map(text_of, value))
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes a file that the program reads, with its checksum."""
    text = json.dumps({key: item for key, item in value.items() if key != _CHECKSUM}, indent=1)
    path.write_bytes(with_checksum(text.encode()) + b"\n")


def with_checksum(text: bytes) -> bytes:
    """Returns the text of an object, which is not empty, with `crc32` as its last member: the checksum of the bytes before
    the last comma, which the program checks."""
    body = text.rstrip()[:-1].rstrip()
    line, space = (b"\n ", b" ") if b"\n" in body else (b"", b"")
    return b'%s,%s"%s":%s"%08x"%s}' % (body, line, _CHECKSUM.encode(), space, zlib.crc32(body), line.strip(b" "))


def load_json(text: bytes, place: str | Path) -> Any:
    """Returns the value of a JSON text without its checksum. Raises InputError, which names the place, if it is not JSON or
    was changed. Files of older versions have no checksum."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{place}: {error}") from None
    if not isinstance(value, dict) or next(reversed(value), None) != _CHECKSUM:
        return value
    given, found = value.pop(_CHECKSUM), f"{zlib.crc32(text[: text.rfind(b',')]):08x}"
    if given != found:
        raise InputError(
            f"{place}: {_CHECKSUM} is {given!r}, expected {found!r}: the file was changed; restore it, or delete "
            f"{_CHECKSUM} if the change was intended"
        )
    return value


def parse_value(text: Any) -> Any:
    """Returns the number or truth value that the text of a setting states, or else the text."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return text
    return value if isinstance(value, (int, float)) else text


def default_settings(group: str) -> dict[str, Any]:
    """Returns the settings GROUP.* of the program with their defaults, such as {"width": 64} of "model"."""
    named = {setting["name"].partition(".")[::2]: setting["default"] for setting in _listed("settings", program_path())}
    return {name: parse_value(default) for (of, name), default in named.items() if of == group}


def encoding_names() -> set[str]:
    """Returns the names of the program's encodings, and other names for them."""
    return {name for e in _listed("encodings", program_path()) for name in (e["id"], *e["aliases"])}


@lru_cache
def _listed(kind: str, program: Path) -> list[dict[str, Any]]:
    """Returns what `posbench list KIND` shows. `program` is that of program_path()."""
    listed: list[dict[str, Any]] = json.loads(call(["list", kind, "--json"]))[kind]
    return listed


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
