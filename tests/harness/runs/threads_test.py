"""Runs experiments on several threads.

threads_test.py POSBENCH [TEST...]
"""

import json
import os
import re
import signal

from program_case import SMOKE, Case, run_tests
from run_files import files

GROUPS = [*SMOKE, "-e", "none,cope", "--set", "training.groups=2", "-q"]


class Threads(Case):
    def test_the_number_of_threads_changes_no_file(self):
        run = [*GROUPS, "--learning-rates", "1e-3,3e-3", "--extend", "none", "--set", "extend.steps=4"]
        self.posbench(*run, "-o", "one", "-j", "1", "--threads", "1", "--save-models")
        one = files(self.folder / "one")
        config = one["report.json"]["config"]
        self.assertEqual(config["training"]["groups"], 2)
        for name, options in (("idle", ["-j", "1"]), ("jobs", ["-j", "2"]), ("three", ["--threads", "3"])):
            with self.subTest(name=name):
                self.posbench(*run, *options, "-o", name, "--save-models")
                self.assertEqual(files(self.folder / name), one)
        self.posbench("check", "three", "--sample", "2")
        for shard, threads in ((1, "2"), (2, "1")):
            self.posbench(*run, "--shard", f"{shard}/2", "--threads", threads, "-o", f"shard{shard}")
        self.posbench("merge", "shard1", "shard2", "-o", "merged")
        self.assertEqual(files(self.folder / "merged")["report.json"], one["report.json"])

    def test_an_interrupted_run_continues_with_another_number_of_threads(self):
        long = [*GROUPS, "--set", "training.steps=2000", "--set", "training.validate_every=500"]
        self.posbench(*long, "-o", "whole", "--threads", "2")
        process = self.start(*long, "-o", "run", "--threads", "2", "-j", "1", "--checkpoint-every", "0")
        self.wait_for(lambda: any((self.folder / "run/checkpoints").glob("*.safetensors")), process)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130, process.stderr.read())
        self.posbench("run", "--resume", "-o", "run", "--threads", "1", "-q")
        self.assertEqual(files(self.folder / "run"), files(self.folder / "whole"))
        self.posbench(*long, "--set", "training.groups=4", "--resume", "-o", "run", code=2)

    def test_a_run_has_as_many_jobs_as_cores_that_it_may_use(self):
        one = min(os.sched_getaffinity(0))
        run = self.posbench(
            *SMOKE, "-e", "none,rope", "-o", "run", preexec_fn=lambda: os.sched_setaffinity(0, {one})
        ).stderr.decode()
        limit = " (1 core by the CPU affinity)" if len(os.sched_getaffinity(0)) > 1 else ""
        self.assertIn(f"2 of 2 experiments to run, 1 at once{limit}, into run", run)
        usable = files(self.folder / "run")
        self.assertEqual(len(usable["experiments.jsonl"]), 2)
        context = json.loads((self.folder / "run/report.json").read_text())["context"]
        self.assertEqual(context.get("usable_cores", {}).get("count", 1), 1)

    def test_the_estimate_of_a_dry_run_includes_threads(self):
        def plan(*options):
            """Returns the last line of the plan, and the number of threads of each job in it, if any."""
            settings = ["--set", "training.steps=100000", "--set", "training.batch=16", "--dry-run"]
            last = self.posbench(*SMOKE, "-e", "none", *settings, *options).stdout.decode().splitlines()[-1]
            found = re.search(r"about (.+) of core time, (.+) with \d+ jobs?(?: of (\d+) threads)?$", last)
            self.assertIsNotNone(found, last)
            return last, found[3]

        listed = json.loads(self.posbench("list", "settings", "--json").stdout)
        self.assertIn("training.groups", json.dumps(listed))
        self.assertIsNone(plan("--threads", "1")[1])
        last, threads = plan("--threads", "2", "-j", "1")
        self.assertEqual(threads, "2" if len(os.sched_getaffinity(0)) > 1 else None, last)


if __name__ == "__main__":
    run_tests()
