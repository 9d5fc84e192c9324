"""Runs the program with little memory, and with input that would need much of it.

limits_test.py POSBENCH [TEST...]
"""

import gzip
import json
import os
import resource
import shutil
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
                memory = limit(resource.RLIMIT_AS, kilobytes << 10)
                done = subprocess.run([PROGRAM, "board", "-q"], capture_output=True, preexec_fn=memory)
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

    def test_a_large_file_is_refused_by_its_beginning_or_its_header(self):
        export = ["export", "parity_check", "-n", "2", "--split", "in_distribution", "-q", "-o"]
        for file in ("sparse.safetensors", "sparse.jsonl"):
            self.posbench(*export, file)
        samples = (self.folder / "sparse.safetensors").read_bytes()
        self.posbench(*TINY, "-e", "none", "--save-models", "-q", "-o", "run")
        model = "run/models/parity_check-none-0.safetensors"
        self.posbench("export", "rope", "--length", "4", "-o", "vectors.safetensors")
        against, plugin = ["check", "rope", "--against"], ["list", "tasks", "--plugin"]
        for arguments, file, begin in (
            (["report"], "sparse.json", b""),
            (["report"], "sparse.json", b'{"schema_version": 1, "context": {}}'),
            (["run", "--config"], "sparse.json", b"{}"),
            (against, "sparse.json", b"{}"),
            (against, "vectors.safetensors", b""),
            (against, "vectors.safetensors", (self.folder / "vectors.safetensors").read_bytes()),
            (
                ["export", "run", "parity_check", "none", "-o", "x.safetensors"],
                model,
                (self.folder / model).read_bytes(),
            ),
            (["score", "-o", "x.json", "--name", "m"], "sparse.safetensors", samples),
            (["score", "-o", "x.json", "--name", "m"], "sparse.jsonl", b""),
            (plugin, "sparse.so", b""),
            (["sample"], "text:file=sparse.txt", b"0123456789"),
        ):
            path = self.folder / file.rpartition("=")[2]
            path.write_bytes(begin)
            os.truncate(path, 4 << 30)
            with self.subTest(arguments=arguments, file=file, begin=begin[:20]):
                words = arguments if file == model else [*arguments, file]
                done = self.posbench(*words, code=2, timeout=10, preexec_fn=limit(resource.RLIMIT_AS, 400 << 20))
                self.assertIn(path.name.encode(), done.stderr)
                path.unlink()

    def test_a_file_that_does_not_fit_into_memory_is_named(self):
        (self.folder / "large.json").write_text('{"tasks": "' + "x" * (150 << 20) + '"}')
        header = json.dumps({"a": {"dtype": "F64", "shape": [50 << 20], "data_offsets": [0, 400 << 20]}}).encode()
        (self.folder / "large.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        os.truncate(self.folder / "large.safetensors", 8 + len(header) + (400 << 20))
        for arguments in (
            ["run", "--config", "large.json"],
            ["report", "large.json"],
            ["check", "rope", "--against", "large.safetensors"],
        ):
            with self.subTest(arguments=arguments):
                done = self.posbench(*arguments, code=1, preexec_fn=limit(resource.RLIMIT_AS, 300 << 20))
                self.check_one_line(done.stderr)
                self.assertIn(f"out of memory while '{arguments[-1]}' of ".encode(), done.stderr)

    def test_a_small_stack_gives_the_result_or_a_message(self):
        deep = "[" * 60 + "]" * 60
        (self.folder / "deep.json").write_text(json.dumps({"tasks": json.loads(deep)}))
        nested = "randomized:base=(" * 20 + "rope" + ")" * 20
        run = [*TINY, "-e", "none,rope", "-q", "-j", "2", "-o", "run", "--force"]
        for arguments, code in (
            (run, 0),
            (["--help"], 0),
            (["check", "rope"], 0),
            (["bench", "-e", "none", "--sizes", "tiny", "-r", "1"], 0),
            (["run", "--config", "deep.json"], 2),
            ([*TINY, "-e", nested], 2),
            (["report", "run", "-o", "x.html"], 0),
        ):
            for kilobytes in (20, 32, 255, 256):  # with 16 the dynamic loader may fail
                with self.subTest(arguments=arguments[:2], kilobytes=kilobytes):
                    stack = limit(resource.RLIMIT_STACK, kilobytes << 10)
                    done = self.posbench(*arguments, code=code if kilobytes == 256 else 1, preexec_fn=stack)
                    if kilobytes < 256:
                        self.check_one_line(done.stderr)
                        self.assertIn(b"the stack is limited to less than 256 kB", done.stderr)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_a_clock_that_stands_still_ends_no_command(self):
        (self.folder / "clock.c").write_text(
            "#include <time.h>\nint clock_gettime(clockid_t c, struct timespec* t) { t->tv_sec = 9; return t->tv_nsec = 0; }"
        )
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c"], cwd=self.folder, check=True)
        environment = {**os.environ, "LD_PRELOAD": str(self.folder / "clock.so")}
        bench = ["bench", "-e", "none", "--sizes", "tiny", "-r", "1"]
        for arguments, code in (
            ([*TINY, "-e", "none,rope", "-s", "2", "-o", "run"], 0),
            ([*TINY, "-e", "none,rope", "--dry-run"], 0),
            (["report", "run"], 0),
            (["check", "run"], 0),
            (bench, 1),
        ):
            with self.subTest(arguments=arguments[:2]):
                done = self.posbench(*arguments, code=code, env=environment, timeout=60)
                if code == 1:
                    self.check_one_line(done.stderr)
                    self.assertIn(b"the CPU clock of this system stands still", done.stderr)

    def test_a_billion_missing_shards_are_counted_not_listed(self):
        self.posbench(*TINY, "-e", "none", "-q", "-o", "one", "--shard", "1/2000000000")
        done = self.posbench("merge", "one", "-o", "all", code=2, preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
        self.assertIn(b"1999999999 of 2000000000 shards are missing: 2/2000000000, ", done.stderr)

    def test_exported_samples_are_written_as_they_are_drawn(self):
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
            run = ["run", "-t", "parity_check", "-e", spec, "--dry-run"]
            done = self.posbench(*run, code=2, preexec_fn=limit(resource.RLIMIT_AS, 1 << 30))
            self.assertIn(b"colons", done.stderr)


if __name__ == "__main__":
    run_tests()
