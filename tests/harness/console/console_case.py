"""Runs posbench with and without a terminal in a folder that has a finished run."""

import csv
import fcntl
import io
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

POSBENCH = str(Path(sys.argv.pop(1)).resolve())
REFERENCE = Path(__file__).resolve().parents[3] / "results/data/reference/report.json"
RUN = "run --profile smoke -t parity_check,even_pairs -e none,rope -s 2"  # 8 experiments
signal.signal(signal.SIGINT, signal.default_int_handler)  # posbench would inherit that a background job ignores it
for variable in list(os.environ):  # the texts depend on them
    if variable in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS") or variable.startswith("POSBENCH_"):
        del os.environ[variable]


def posbench(arguments, folder, **environment):
    arguments = arguments.split() if isinstance(arguments, str) else arguments
    return subprocess.run(
        [POSBENCH, *arguments], cwd=folder, text=True, capture_output=True, env={**os.environ, **environment}
    )


def on_terminal(arguments, folder, columns, **environment):
    """Returns the exit code and what a terminal with this number of columns shows, including standard error."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", **environment}
    process = subprocess.Popen(
        [POSBENCH, *arguments.split()], cwd=folder, stdin=slave, stdout=slave, stderr=slave, env=environment
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the program has closed its end
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def until(condition, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def text_of(path):
    return path.read_text() if path.exists() else ""


class Console(unittest.TestCase):
    """Has a folder with the finished run `full`."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        done = posbench(f"{RUN} -q -o full --save-models", cls.folder)
        assert done.returncode == 0, done.stderr
        cls.lines = (cls.folder / "full/experiments.jsonl").read_text().splitlines(keepends=True)

    def cut(self, name, finished):
        """Makes the run directory of an interrupted run with a number of finished experiments."""
        run = self.folder / name
        run.mkdir()
        shutil.copy(self.folder / "full/manifest.json", run)
        (run / "experiments.jsonl").write_text("".join(self.lines[:finished]) + '{"task": "par')
        return run

    def refused(self, arguments, *parts):
        outcome = posbench(arguments, self.folder)
        self.assertEqual(outcome.returncode, 2, arguments)
        self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
        for part in parts:
            self.assertIn(part, outcome.stderr)

    def rows(self, arguments):
        outcome = posbench(f"{arguments} --format csv", self.folder)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return list(csv.DictReader(io.StringIO(outcome.stdout)))
