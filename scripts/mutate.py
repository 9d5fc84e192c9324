#!/usr/bin/env python3
"""Plants defects, one at a time, and reports those that no test notices.

    scripts/mutate.py                     # all defects of tests/mutants.json; takes about an hour
    scripts/mutate.py --only 'softmax*'   # some of them
    scripts/mutate.py --list
    scripts/mutate.py --check             # only checks that each defect can be planted and that its test exists

A mutant is an object of tests/mutants.json: `name`; `file`, in which the text `text` occurs exactly once; its
`replacement`; `program` and `test`, the test program and the name of the test that must fail; `section`, if one
section of the test is enough. The program is built before, and the test must pass then. A mutant is killed if the test
fails, crashes or does not end in time, and survives otherwise.

Defects are planted in a copy of the source tree in build/mutants, never in the tree itself. Exit codes: 0 all are killed,
1 some survive, 2 a mutant or the copy is invalid.
"""

from __future__ import annotations

import argparse
import fcntl
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPY = (ROOT / "build" / "mutants").resolve()
BUILD = COPY / "build" / "dev"
LEFT_OUT = {".git", "build", "runs", "shared"}  # folders that the copy does not have
TIME_LIMIT = 300  # seconds for a test


class Invalid(Exception):
    """A mutant, its test or the copy of the tree is invalid."""


class Mutant(NamedTuple):
    name: str
    file: str
    text: str
    replacement: str
    program: str
    test: str
    section: str = ""

    def planted(self, source: str) -> str:
        """Returns the source with the defect."""
        count = source.count(self.text)
        if count != 1:
            raise Invalid(f"{self.name}: {self.file} has {self.text!r} {count} times, expected once; correct `text`")
        return source.replace(self.text, self.replacement)

    def command(self) -> list[str]:
        """Returns the command that runs the test."""
        name = re.sub(r"([\\,\[\]])", r"\\\1", self.test)
        section = ["-c", self.section] if self.section else []
        return [str(BUILD / "tests" / f"{self.program}_tests"), name, *section]


def read_mutants() -> list[Mutant]:
    path = ROOT / "tests" / "mutants.json"
    try:
        mutants = [Mutant(**item) for item in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError) as error:
        raise Invalid(f"{path}: {error}") from error
    names = [mutant.name for mutant in mutants]
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{path}: the name {name!r} occurs twice; rename one")
    return mutants


def test_names(program: str) -> set[str]:
    """Returns the names of the test cases in the sources of a test program."""
    sources = [path.read_text() for path in (ROOT / "tests" / program).rglob("*.cpp")]
    found: set[str] = set()
    for source in sources:
        for case in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', source):
            found.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', case)))
    return found


def check(mutants: list[Mutant]) -> None:
    """Throws Invalid if a defect cannot be planted, changes nothing, or names a test that does not exist."""
    names = {program: test_names(program) for program in {mutant.program for mutant in mutants}}
    for mutant in mutants:
        path = ROOT / mutant.file
        if not path.is_file():
            raise Invalid(f"{mutant.name}: there is no file {mutant.file}; correct `file`")
        source = path.read_text()
        if mutant.planted(source) == source:
            raise Invalid(f"{mutant.name}: the replacement is the text itself; correct `replacement`")
        if mutant.test not in names[mutant.program]:
            raise Invalid(f"{mutant.name}: tests/{mutant.program} has no test {mutant.test!r}; correct `test`")


def files_of(folder: Path) -> set[Path]:
    found = set()
    for parent, folders, files in os.walk(folder):
        if Path(parent) == folder:
            folders[:] = [name for name in folders if name not in LEFT_OUT]
        found.update(Path(parent, name).relative_to(folder) for name in files)
    return found


def copy_tree() -> None:
    """Makes the copy equal to the tree. A file that is equal is not written, so that it is not compiled again."""
    wanted = files_of(ROOT)
    for path in files_of(COPY) - wanted:
        (COPY / path).unlink()
    for path in wanted:
        source, copy = ROOT / path, COPY / path
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        shutil.copyfile(source, copy)
        shutil.copymode(source, copy)


def configure() -> None:
    linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []  # takes a fifth of the time
    done = subprocess.run(["cmake", "--preset", "dev", *linker], cwd=COPY, capture_output=True, text=True)
    if done.returncode != 0:
        raise Invalid(f"the copy in {COPY} cannot be configured:\n{done.stdout}{done.stderr}")


def build(program: str, jobs: int) -> str:
    """Builds a test program. Returns the output if it does not compile, and otherwise nothing."""
    command = ["ninja", "-C", str(BUILD), f"-j{jobs}", f"{program}_tests"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout[-3000:] if done.returncode != 0 else ""


def run_test(mutant: Mutant) -> tuple[str, str]:
    """Runs the test. Returns "passed", "failed", "crashed" or "timed out", and the output."""
    try:
        done = subprocess.run(mutant.command(), cwd=COPY, capture_output=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return "timed out", ""
    result = "passed" if done.returncode == 0 else "failed" if done.returncode > 0 else "crashed"
    return result, done.stdout.decode(errors="replace")


def prepare(mutants: list[Mutant], jobs: int) -> None:
    """Builds a test program without a defect, and runs each test once."""
    program = mutants[0].program
    if output := build(program, jobs):
        raise Invalid(f"{program}_tests without a defect does not compile:\n{output}")
    for mutant in {tuple(m.command()): m for m in mutants}.values():
        result, output = run_test(mutant)
        if result != "passed" or "All tests passed" not in output:
            where = f", section {mutant.section!r}" if mutant.section else ""
            raise Invalid(f"{mutant.name}: without the defect, test {mutant.test!r}{where} {result}:\n{output[-2000:]}")


def judge(mutant: Mutant, jobs: int) -> str:
    """Plants the defect in the copy and returns the result of the test, or "does not compile"."""
    path = COPY / mutant.file
    source = path.read_text()
    try:
        path.write_text(mutant.planted(source))
        output = build(mutant.program, jobs)
        return run_test(mutant)[0] if not output else f"does not compile\n{output}"
    finally:
        path.write_text(source)


def run(mutants: list[Mutant], jobs: int) -> int:
    (COPY / "build").mkdir(parents=True, exist_ok=True)
    with open(COPY / "build" / "mutants.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Invalid(f"another mutate.py uses {COPY}; wait until it has ended") from error
        copy_tree()
        configure()
        survived, invalid, start = [], [], time.monotonic()
        for program in dict.fromkeys(mutant.program for mutant in mutants):
            of_program = sorted((m for m in mutants if m.program == program), key=lambda m: m.file)
            prepare(of_program, jobs)
            for mutant in of_program:
                begin = time.monotonic()
                result = judge(mutant, jobs)
                if result.startswith("does not compile"):
                    invalid.append(mutant)
                elif result == "passed":
                    survived.append(mutant)
                word = "SURVIVED" if result == "passed" else "invalid" if mutant in invalid else "killed"
                print(f"{word:8}  {mutant.name}: the test {result}  ({time.monotonic() - begin:.0f} s)", flush=True)
        killed = len(mutants) - len(survived) - len(invalid)
        minutes = (time.monotonic() - start) / 60
        print(
            f"{killed} of {len(mutants)} killed, {len(survived)} survived, {len(invalid)} invalid; {minutes:.0f} minutes"
        )
        for mutant in survived:
            print(f"survived: {mutant.name} ({mutant.file}); the test {mutant.test!r} does not notice it")
        return 2 if invalid else 1 if survived else 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Plants defects, one at a time, and reports those that no test notices."
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="mutants of this name or glob; may be repeated")
    parser.add_argument(
        "--list", action="store_true", help="print the names of the mutants, their files and their tests"
    )
    parser.add_argument("--check", action="store_true", help="check that each defect can be planted and has a test")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compiler processes (default: all cores)")
    arguments = parser.parse_args()
    try:
        mutants = read_mutants()
        check(mutants)
        if arguments.only:
            mutants = [m for m in mutants if any(fnmatch.fnmatch(m.name, glob) for glob in arguments.only)]
            if not mutants:
                raise Invalid(f"no mutant is called {' or '.join(arguments.only)}; see --list")
        if arguments.list:
            for mutant in mutants:
                print(f"{mutant.name}  {mutant.file}  {mutant.program}: {mutant.test}")
            return 0
        if arguments.check:
            print(f"{len(mutants)} mutants can be planted")
            return 0
        return run(mutants, arguments.jobs)
    except Invalid as error:
        print(f"mutate.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
