#!/usr/bin/env python3
"""Tests scripts/mutate.py: mutate_test.py ROOT.

The defects of tests/mutants.json can all be planted and name tests that exist. In a small project of its own, a defect
that a test notices is killed, one that no test notices survives, and no defect is left behind.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PRESETS = {
    "version": 6,
    "configurePresets": [
        {"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"},
    ],
}
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
add_subdirectory(tests)
"""
TESTS_CMAKE = "add_executable(small_tests small/sum_test.cpp)\ntarget_include_directories(small_tests PRIVATE ..)\n"
SUM = """#pragma once
inline int sum(int a, int b) { return a + b; }
inline int twice(int a) { return a * 2; }
"""
TEST = """#include <cstdio>
#include <cstring>
#include "sum.h"
#define TEST_CASE(name) if (std::strcmp(argv[1], name) == 0)
int main(int, char** argv) {
  bool good = false;
  TEST_CASE("a sum of two") { good = sum(2, 3) == 5; }
  TEST_CASE("twice two is four") { good = twice(2) == 4; }
  std::puts(good ? "All tests passed (1 assertion)" : "failed");
  return good ? 0 : 1;
}
"""


def mutant(name: str, text: str, replacement: str, test: str) -> dict[str, str]:
    return {"name": name, "file": "sum.h", "text": text, "replacement": replacement, "program": "small", "test": test}


KILLED = mutant("a difference", "return a + b;", "return a - b;", "twice two is four")
NOTICED = mutant("three times", "return a * 2;", "return a * 3;", "twice two is four")
UNNOTICED = mutant("a square", "return a * 2;", "return a * a;", "twice two is four")
BROKEN = mutant("no semicolon", "return a * 2;", "return a * 2", "twice two is four")


class Project:
    """A project with one test program and scripts/mutate.py."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        for name in ("scripts", "tests/small"):
            (folder / name).mkdir(parents=True)
        shutil.copy(root / "scripts" / "mutate.py", folder / "scripts")
        (folder / "CMakePresets.json").write_text(json.dumps(PRESETS))
        (folder / "CMakeLists.txt").write_text(CMAKE)
        (folder / "tests" / "CMakeLists.txt").write_text(TESTS_CMAKE)
        (folder / "tests" / "small" / "sum_test.cpp").write_text(TEST)
        (folder / "sum.h").write_text(SUM)

    def run(self, mutants: list[dict[str, str]], *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "tests" / "mutants.json").write_text(json.dumps(mutants))
        command = [sys.executable, str(self.folder / "scripts" / "mutate.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True)


def expect(condition: bool, what: str, done: subprocess.CompletedProcess[str]) -> None:
    if not condition:
        sys.exit(f"{what}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")


def check_refusals(project: Project) -> None:
    """Mutants that cannot be planted are refused in one line, before anything is built."""
    for change, message in (
        ({"text": "return b;"}, "sum.h has 'return b;' 0 times, expected once"),
        ({"text": "return a"}, "sum.h has 'return a' 2 times, expected once"),
        ({"file": "product.h"}, "there is no file product.h"),
        ({"test": "a product"}, "tests/small has no test 'a product'"),
        ({"replacement": NOTICED["text"]}, "the replacement is the text itself"),
    ):
        done = project.run([NOTICED | change], "--check")
        expect(done.returncode == 2 and message in done.stderr, f"{message!r} was expected", done)
        expect(done.stderr.count("\n") == 1, "one line was expected", done)
    done = project.run([NOTICED, NOTICED], "--check")
    expect(done.returncode == 2 and "occurs twice" in done.stderr, "a repeated name is to be refused", done)
    done = project.run([NOTICED], "--only", "nothing")
    expect(
        done.returncode == 2 and "no mutant is called nothing" in done.stderr, "an unknown name is to be refused", done
    )


def check_results(project: Project) -> None:
    """A defect is judged by its test alone, and is removed afterwards."""
    of_sum = KILLED | {"test": "a sum of two"}
    done = project.run([of_sum, KILLED | {"name": "unseen"}, NOTICED, UNNOTICED])
    lines = done.stdout.splitlines()
    expect(done.returncode == 1, "two mutants survive", done)
    expect(lines[0].startswith("killed    a difference: the test failed"), "the first is killed", done)
    expect(lines[1].startswith("SURVIVED  unseen: the test passed"), "the second survives", done)
    expect(lines[2].startswith("killed    three times"), "the third is killed", done)
    expect(lines[3].startswith("SURVIVED  a square"), "the fourth survives", done)
    expect("2 of 4 killed, 2 survived, 0 invalid" in lines[4], "the sum is printed", done)
    for path in (project.folder / "sum.h", project.folder / "build" / "mutants" / "sum.h"):
        expect(path.read_text() == SUM, f"{path} has a defect", done)
    done = project.run([NOTICED, BROKEN], "--only", "three*")
    expect(done.returncode == 0 and "1 of 1 killed" in done.stdout, "only one is planted", done)
    done = project.run([BROKEN])
    expect(done.returncode == 2 and "does not compile" in done.stdout, "it does not compile", done)
    (project.folder / "sum.h").write_text(SUM.replace("a * 2", "a * 5"))
    done = project.run([NOTICED | {"text": "return a * 5;"}])
    expect(done.returncode == 2 and "without the defect" in done.stderr, "the test fails without the defect", done)


def main() -> None:
    root = Path(sys.argv[1])
    if not all(shutil.which(tool) for tool in ("cmake", "ninja", "c++")):
        print("skipped: no cmake, ninja or c++ (Debian: cmake ninja-build g++)")
        sys.exit(77)
    done = subprocess.run(
        [sys.executable, str(root / "scripts" / "mutate.py"), "--check"], capture_output=True, text=True
    )
    expect(done.returncode == 0, "the mutants of the repository can be planted", done)
    with tempfile.TemporaryDirectory() as folder:
        project = Project(root, Path(folder))
        check_refusals(project)
        check_results(project)


if __name__ == "__main__":
    main()
