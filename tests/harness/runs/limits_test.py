"""Runs the program with little memory, and with input that would need much of it.

limits_test.py POSBENCH [TEST...]
"""

import gzip
import resource
import subprocess
import unittest

from program_case import ONE_SEQUENCE, PROGRAM, SMOKE, TINY, Case, limit, run_tests
from sanitized import sanitized


@unittest.skipIf(sanitized(PROGRAM), "a sanitizer needs more memory than the limits leave")
class Machine(Case):
    # Parameters, gradient and two moments of a model take about 50 MB each.
    LARGE = [*SMOKE, "--set", "model.width=512", "--set", "model.layers=4", *ONE_SEQUENCE, "-o", "run"]

    def test_running_out_of_memory_is_no_result(self):
        arguments = self.LARGE + ["-e", "none", "-j", "1"]
        done = self.posbench(*arguments, code=1, preexec_fn=limit(resource.RLIMIT_AS, 200 << 20))
        self.assertIn(b"out of memory", done.stderr)
        self.assertIn(b"--resume", done.stderr)
        self.assertEqual(self.lines(), [])
        self.posbench(*arguments, "--resume")
        self.assertEqual([line["status"] for line in self.lines()], ["ok"])

    def test_a_run_continues_with_as_many_jobs_as_there_is_memory_for(self):
        self.posbench(*self.LARGE, "-e", "none", "-s", "4", "-j", "4", preexec_fn=limit(resource.RLIMIT_AS, 620 << 20))
        self.assertEqual([line["status"] for line in self.lines()], ["ok"] * 4)

    def test_every_memory_limit_gives_a_result_or_a_message(self):
        # The JSON library's destructors allocate, also while an exception is handled.
        starts = next(
            kilobytes
            for kilobytes in range(20000, 100000, 500)
            if subprocess.run(
                [PROGRAM, "--version"], capture_output=True, preexec_fn=limit(resource.RLIMIT_AS, kilobytes << 10)
            ).returncode
            == 0
        )
        failed = 0
        for kilobytes in range(starts + 1000, starts + 81000, 1000):
            with self.subTest(kilobytes=kilobytes):
                done = subprocess.run(
                    [PROGRAM, "board", "-q"],
                    capture_output=True,
                    preexec_fn=limit(resource.RLIMIT_AS, kilobytes << 10),
                )
                self.assertIn(done.returncode, (0, 1), done.stderr)
                if done.returncode == 1:
                    failed += 1
                    self.check_one_line(done.stderr)
                    self.assertIn(b"out of memory", done.stderr)
        self.assertGreater(failed, 10)

    def test_a_small_compressed_file_takes_little_memory(self):
        text = b'{"schema_version": 1, "junk": [' + b"0," * 100_000_000 + b"0]}"
        (self.folder / "bomb.json.gz").write_bytes(gzip.compress(text))
        done = self.posbench("report", "bomb.json.gz", "-q", code=2, preexec_fn=limit(resource.RLIMIT_AS, 500 << 20))
        self.assertIn(b"expected at most 16 MiB or 100 times its ", done.stderr)

    def test_no_more_threads_are_started_than_experiments(self):
        self.posbench(
            *TINY, "-e", "none,rope", "-q", "-o", "run", "-j", "64", preexec_fn=limit(resource.RLIMIT_AS, 300000 << 10)
        )
        self.assertEqual(len(self.lines()), 2)

    def test_a_file_without_an_end_is_refused(self):
        memory = limit(resource.RLIMIT_AS, 1 << 30)
        self.posbench("run", "--config", "/dev/zero", code=2, preexec_fn=memory)
        self.posbench("report", "/dev/zero", code=2, preexec_fn=memory)
        self.posbench("compare", "/dev/zero", "/dev/zero", code=2, preexec_fn=memory)

    def test_a_billion_missing_shards_are_counted_not_listed(self):
        self.posbench(*TINY, "-e", "none", "-q", "-o", "one", "--shard", "1/2000000000")
        done = self.posbench("merge", "one", "-o", "all", code=2, preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
        self.assertIn(b"1999999999 of 2000000000 shards are missing: 2/2000000000, ", done.stderr)

    def test_samples_are_written_as_they_are_drawn(self):
        for form in ([], ["--json"]):
            self.posbench(
                "sample",
                "parity_check:length=10000",
                "-n",
                "2000",
                *form,
                stdout=subprocess.DEVNULL,
                preexec_fn=limit(resource.RLIMIT_AS, 150 << 20),
            )
        for form in ("jsonl", "safetensors"):  # files of 140 and 260 MB
            export = ["export", "parity_check:length=10000", "-n", "2000", "--format", form, "-q"]
            self.posbench(*export, "-o", f"samples.{form}", preexec_fn=limit(resource.RLIMIT_AS, 150 << 20))

    def test_a_suite_of_too_many_experiments_is_refused(self):
        done = self.posbench(
            "run", "-t", "all", "-e", "all", "-s", "10000", code=2, preexec_fn=limit(resource.RLIMIT_AS, 1 << 30)
        )
        self.assertIn(b"a run holds up to 1000000", done.stderr)

    def test_a_spec_nests_only_so_deep(self):
        for spec in (
            "dape:base=(" * 10800 + "alibi" + ")" * 10800,
            "dape:base=" * 10800 + "alibi",
            "randomized:base=(" * 50 + "rope" + ")" * 50,
        ):
            done = self.posbench(
                "run",
                "-t",
                "parity_check",
                "-e",
                spec,
                "--dry-run",
                code=2,
                preexec_fn=limit(resource.RLIMIT_AS, 1 << 30),
            )
            self.assertIn(b"colons", done.stderr)


if __name__ == "__main__":
    run_tests()
