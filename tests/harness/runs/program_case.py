"""Runs posbench in a folder that is deleted after the test, and checks exit codes and messages."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from run_files import arguments_of

PROGRAM = os.path.abspath(sys.argv[1])
SMOKE = ["run", "--profile", "smoke", "-t", "parity_check"]
TINY = SMOKE + ["--set", "training.steps=2", "--set", "training.validate_every=2"]
# A single step, and one sequence in each batch and each test.
ONE_SEQUENCE = [
    f"--set={name}=1"
    for name in ("training.steps", "training.batch", "training.validation_sequences", "evaluation.sequences")
]
LONG = SMOKE + arguments_of(
    "-e none,cope -s 100 --set training.steps=6000 --set training.validate_every=2000 -q -j 1 --checkpoint-every 0.02 -o run"
)


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def default_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="posbench-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def posbench(self, *arguments, code=0, timeout=300, **options):
        """Runs posbench in the test's folder and checks the exit code, and that an error is one line without control characters."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, timeout=timeout, **options)
        self.assertEqual(done.returncode, code, (done.stderr or b"")[-2000:])
        if code == 2:
            self.check_one_line(done.stderr)
        return done

    def check_one_line(self, message):
        text = message.decode()  # it is UTF-8
        self.assertLess(len(text), 1500)
        self.assertTrue(text.startswith("posbench: ") and text.endswith("\n"), text)
        self.assertFalse([c for c in text[:-1] if ord(c) < 32 or 0x7F <= ord(c) < 0xA0], repr(text))

    def files(self, name):
        """Returns path and bytes of all files below a folder."""
        root = self.folder / name
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    def lines(self, name="run"):
        """Returns the whole lines of experiments.jsonl. A run may be writing the next one."""
        path = self.folder / name / "experiments.jsonl"
        return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []

    def start(self, *arguments, **options):
        """Starts posbench with the default actions of signals. Under nohup it would inherit an ignored SIGHUP."""
        options = {"preexec_fn": default_signals, **options}
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            **options,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, process):
        while not condition():
            self.assertIsNone(process.poll(), "it ended too early")
            time.sleep(0.002)


def run_tests():
    """Runs the tests of the program that Python was started with. The arguments after posbench select some of them."""
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
