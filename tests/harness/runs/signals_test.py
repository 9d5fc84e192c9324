"""Sends signals to runs.

signals_test.py POSBENCH [TEST...]
"""

import re
import shutil
import signal
import time

from program_case import ONE_SEQUENCE, PROGRAM, SMOKE, Case, run_tests
from sanitized import sanitized


class Signals(Case):
    def test_the_first_signal_ends_a_run_that_measures_baselines(self):
        limit = 30 if sanitized(PROGRAM) else 5  # seconds
        # A program that sets no variable is drawn again, here 1000 times for each sample: the baselines take 14 s.
        tasks = "counting:length=20,pass=10000,increment=10000,counting:length=21,pass=10000,increment=10000"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                arguments = ["run", "--profile", "smoke", "-t", tasks, "-e", "none", *ONE_SEQUENCE]
                process = self.start(*arguments, "-j", "1", "-q", "-o", "run")
                self.wait_for(lambda: len(self.lines()) == 2, process)
                process.send_signal(number)
                start = time.monotonic()
                message = process.stderr.read().decode()
                self.assertEqual(process.wait(), 130, message)
                self.assertLess(time.monotonic() - start, limit)
                self.assertTrue(message.startswith("interrupted; 2 of 2 experiments are stored."), message)

    def test_a_signal_in_a_merge_leaves_nothing(self):
        for shard in ("1", "2"):
            run = [*SMOKE, "-e", "none,rope", "-s", "40", *ONE_SEQUENCE, "--save-models", "--trace-loss"]
            self.posbench(*run, "-q", "--shard", f"{shard}/2", "-o", shard)
        merge = ["merge", "1", "2", "-q", "-o", "all"]
        before = self.files(".")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.start(*merge)
                self.wait_for(lambda: any(self.folder.glob("all/models/*")), process)
                process.send_signal(number)
                self.assertEqual(process.wait(), 130)
                self.assertEqual(process.stderr.read(), b"interrupted; nothing was written\n")
                self.assertFalse((self.folder / "all").exists())
                self.assertEqual(self.files("."), before)
        killed = self.start(*merge)
        self.wait_for(lambda: any(self.folder.glob("all/models/*")), killed)
        killed.kill()
        killed.wait()
        message = self.posbench("report", "all", code=2).stderr.decode()
        self.assertIn("all: 'posbench merge' was interrupted while it wrote this run; give its command again", message)
        self.posbench(*merge)
        merged = self.files("all")
        for shard in ("1", "2"):
            for file, content in self.files(shard).items():
                if file.startswith(("models/", "losses/")):
                    self.assertEqual(merged[file], content, file)
        self.assertEqual(sum(file.startswith("losses/") for file in merged), 80)

    def test_a_resumed_run_does_not_repeat_the_steps_before_its_checkpoint(self):
        settings = ["--set", "training.steps=1000000", "--set", "training.validate_every=500"]
        run = [*SMOKE, "-e", "none", *settings, "--trace-loss", "--checkpoint-every", "1000"]
        process = self.start(*run, "-j", "1", "-q", "-o", "run")
        losses = self.folder / "run/losses/parity_check-none-0.csv"
        self.wait_for(lambda: losses.exists() and losses.read_text().count("\n") > 1000, process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        resumed = self.start("run", "--resume", "-o", "run", "-v")
        said = next(line for line in resumed.stderr if b"step " in line)
        self.assertGreaterEqual(int(re.search(rb"step (\d+), loss", said)[1]), 1000)

    def test_a_signal_that_the_caller_ignores_stays_ignored(self):
        arguments = [*SMOKE, "-e", "none", "-s", "5", "--set", "training.steps=2000", "-q", "-j", "1", "-o", "run"]
        process = self.start(*arguments, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: len(self.lines()) >= 1, process)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    run_tests()
