"""Runs the program in unusual environments: descriptors, special files, limits of memory and disk, signals, foreign folders.

robustness_test.py POSBENCH [TEST...]
"""

import contextlib
import functools
import gzip
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from sanitized import sanitized

PROGRAM = os.path.abspath(sys.argv[1])
SMOKE = ["run", "--profile", "smoke", "-t", "parity_check"]
TINY = SMOKE + ["--set", "training.steps=2", "--set", "training.validate_every=2"]


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="posbench-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def posbench(self, *words, code=0, timeout=300, **options):
        """Runs posbench in the test's folder and checks the exit code, and that an error is one line without control characters."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, timeout=timeout, **options)
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
        path = self.folder / name / "experiments.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def start(self, *words, **options):
        process = subprocess.Popen(
            [PROGRAM, *words],
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


class Descriptors(Case):
    def test_closed_descriptors_are_not_given_to_the_files_of_a_run(self):
        for closed in ([2], [0, 2], [0, 1, 2]):
            with self.subTest(closed=closed):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                words = TINY + ["-e", "none,rope", "-v", "-o", "run"]

                def prepare(closed=closed):
                    for descriptor in closed:
                        os.close(descriptor)

                command = [PROGRAM, *words]
                pid = os.fork()
                if pid == 0:
                    os.chdir(self.folder)
                    prepare()
                    if 1 not in closed:
                        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
                    for descriptor in closed:
                        with contextlib.suppress(OSError):
                            os.close(descriptor)
                    os.execv(command[0], command)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                self.assertEqual(code, 1 if 1 in closed else 0)
                self.assertEqual(len(self.lines()), 2)
                self.posbench(*words, "--resume")

    def test_every_command_notices_that_its_output_cannot_be_written(self):
        self.posbench(*TINY, "-e", "none", "--save-models", "-q", "-o", "run")
        self.posbench(*TINY, "-e", "none", "-q", "-o", "again")
        (self.folder / "out").symlink_to(
            "/proc/self/fd/1"
        )  # not the machine's /dev/stdout, which a fault could replace
        commands = {
            "list": ["list", "tasks"],
            "show": ["show", "rope"],
            "sample": ["sample", "parity_check"],
            "sample --json": ["sample", "parity_check", "--json"],
            "check": ["check", "none"],
            "compare": ["compare", "run", "again"],
            "report": ["report", "run"],
            "report -o": ["report", "run", "--format", "json", "-o", "out"],  # a link to standard output
            "run": TINY + ["-e", "none", "-q", "--force", "-o", "again"],
            "run --show-config": ["run", "--show-config"],
            "run --dry-run": TINY + ["-e", "none", "--dry-run"],
            "merge": ["merge", "run", "-o", "merged"],
            "inspect": ["inspect", "run", "parity_check", "none", "--format", "json"],
            "bench": ["bench", "-e", "none", "--sizes", "tiny", "-r", "1"],
            "--help": ["--help"],
            "--version": ["--version"],
        }
        for name, words in commands.items():
            with self.subTest(command=name):
                with open("/dev/full", "wb") as full:
                    done = self.posbench(*words, code=1, stdout=full)
                message = done.stderr.splitlines(keepends=True)[-1]  # bench also prints what it measures
                self.check_one_line(message)
                self.assertIn(b"No space left on device" if b":" in message[10:] else b"cannot write", message)
        for name in ("list", "sample", "report"):
            with self.subTest(closed=name):
                done = subprocess.run(
                    ["sh", "-c", 'exec "$0" "$@" >&-', PROGRAM, *commands[name]],
                    cwd=self.folder,
                    stderr=subprocess.PIPE,
                )
                self.assertEqual(done.returncode, 1)
                self.check_one_line(done.stderr)

    def test_a_full_standard_error_ends_no_run(self):
        with open("/dev/full", "wb") as full:
            self.posbench(*TINY, "-e", "none,rope", "-v", "-o", "run", stderr=full)
        self.assertEqual(len(self.lines()), 2)


def for_each_command(test):
    """Calls a test for each command of its class, in a folder of its own, with the bytes of a regular file that it writes."""

    @functools.wraps(test)
    def run(self):
        root = self.folder
        for number, arguments in enumerate(self.commands):
            self.folder = root / str(number)
            self.folder.mkdir()
            with self.subTest(command=" ".join(arguments)):
                arguments = [str(root / "run") if item == "run" else item for item in arguments]
                self.posbench(*arguments, "-o", "regular")
                test(self, [*arguments, "-o"], (self.folder / "regular").read_bytes())
        self.folder = root

    return run


class SpecialFiles(Case):
    def setUp(self):
        super().setUp()
        self.posbench(*TINY, "-e", "none", "--save-models", "-q", "-o", "run")
        samples = ["export", "parity_check", "-n", "300", "--format"]
        self.commands = (
            ["report", "run", "--format", "csv"],
            [*samples, "jsonl"],
            [*samples, "npz"],
            [*samples, "safetensors"],
            ["forward", "run", "parity_check", "none", "-n", "8", "--format", "npz"],
        )

    @for_each_command
    def test_a_pipe_gets_the_bytes_and_stays_a_pipe(self, words, expected):
        pipe, got = self.folder / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda pipe=pipe, got=got: got.append(pipe.read_bytes()), daemon=True)
        reader.start()
        self.posbench(*words, "pipe")
        reader.join(10)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        self.assertEqual(got, [expected])
        self.assertFalse((self.folder / "pipe.manifest.json").exists())

    @for_each_command
    def test_a_device_stays_a_device(self, words, expected):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("only root makes devices")
        with contextlib.suppress(AssertionError):  # a container may not open the device
            self.posbench(*words, "null")
        self.assertTrue(stat.S_ISCHR(device.stat().st_mode))

    @for_each_command
    def test_a_full_device_is_reported_and_stays_a_device(self, words, expected):
        (self.folder / "full").symlink_to("/dev/full")  # not the device itself, which a fault could replace
        done = self.posbench(*words, "full", code=1)
        self.assertEqual(done.stderr, b"posbench: cannot write full: No space left on device\n")
        self.assertTrue((self.folder / "full").is_symlink())

    @for_each_command
    def test_a_users_file_is_not_used_as_a_temporary_file(self, words, expected):
        (self.folder / "precious").write_text("precious")
        (self.folder / "out.tmp").write_text("mine")
        self.posbench(*words, "out")
        self.assertEqual((self.folder / "out.tmp").read_text(), "mine")
        (self.folder / "linked.tmp").symlink_to("precious")
        self.posbench(*words, "linked")
        self.assertEqual((self.folder / "precious").read_text(), "precious")
        self.assertTrue((self.folder / "linked.tmp").is_symlink())
        self.assertEqual((self.folder / "linked").read_bytes(), expected)

    @for_each_command
    def test_a_link_is_followed_and_stays(self, words, expected):
        (self.folder / "target").write_text("old")
        (self.folder / "link").symlink_to("target")
        self.posbench(*words, "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual((self.folder / "target").read_bytes(), expected)

    @for_each_command
    def test_a_file_stays_complete_if_the_new_one_cannot_be_written(self, words, expected):
        before = self.files(".")
        limited = limit(resource.RLIMIT_FSIZE, 20)
        self.check_one_line(self.posbench(*words, "regular", code=1, preexec_fn=limited).stderr)
        self.assertEqual(self.files("."), before)

    @for_each_command
    def test_standard_output_by_name_is_appended_to(self, words, expected):
        (self.folder / "log").write_text("before\n")
        (self.folder / "out").symlink_to("/proc/self/fd/1")
        with open(self.folder / "log", "ab") as log:
            self.posbench(*words, "out", stdout=log)
        self.assertEqual((self.folder / "log").read_bytes(), b"before\n" + expected)


class Force(Case):
    OLD = TINY + ["-e", "none,rope", "--save-models", "-q", "-o", "run"]
    NEW = TINY + ["-e", "alibi", "-s", "5", "-q", "-o", "run", "--force"]

    def test_a_run_that_cannot_be_replaced_is_still_there(self):
        self.posbench(*self.OLD)
        before = self.files("run")
        done = self.posbench(*self.NEW, code=1, preexec_fn=limit(resource.RLIMIT_FSIZE, 200))
        self.check_one_line(done.stderr)
        self.assertEqual(self.files("run"), before)
        self.posbench(*self.OLD, "--resume")

    def test_models_that_are_missing_are_not_passed_over(self):
        self.posbench(*self.OLD)
        for model in (self.folder / "run/models").iterdir():
            model.unlink()
        done = self.posbench(*self.OLD, "--resume", code=2)
        self.assertIn(b"is missing", done.stderr)

    def test_a_strangers_folder_is_not_replaced(self):
        for manifest in ("{}", "[]", '{"name": "app", "config": {}}', ""):
            with self.subTest(manifest=manifest):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                for folder in ("models", "checkpoints"):
                    (self.folder / "run" / folder).mkdir(parents=True)
                    (self.folder / "run" / folder / "precious").write_text("precious")
                (self.folder / "run/manifest.json").write_text(manifest)
                (self.folder / "run/report.json").write_text("theirs")
                before = self.files("run")
                done = self.posbench(*self.NEW, code=2)
                self.assertIn(b"is not a run directory", done.stderr)
                self.assertEqual(self.files("run"), before)

    def test_only_what_a_run_lists_is_deleted(self):
        self.posbench(*self.OLD)
        theirs = {"notes.txt": b"notes", "models/mine.bin": b"mine", "checkpoints/deep/mine.bin": b"mine"}
        for name, text in theirs.items():
            (self.folder / "run" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / "run" / name).write_bytes(text)
        self.posbench(*self.NEW)
        after = self.files("run")
        for name, text in theirs.items():
            self.assertEqual(after.pop(name), text)
        self.assertEqual(sorted(after), ["experiments.jsonl", "manifest.json", "report.html", "report.json"])
        self.assertEqual([line["encoding"] for line in self.lines()], ["alibi"] * 5)


@unittest.skipIf(sanitized(PROGRAM), "a sanitizer needs more memory than the limits leave")
class Machine(Case):
    # Parameters, gradient and two moments of a model take about 50 MB each.
    LARGE = [
        "run",
        "--profile",
        "smoke",
        "-t",
        "parity_check",
        "--set",
        "model.width=512",
        "--set",
        "model.layers=4",
        "--set",
        "training.steps=1",
        "--set",
        "training.batch=1",
        "--set",
        "training.validation_sequences=1",
        "--set",
        "evaluation.sequences=1",
        "-o",
        "run",
    ]

    def test_running_out_of_memory_is_no_result(self):
        words = self.LARGE + ["-e", "none", "-j", "1"]
        done = self.posbench(*words, code=1, preexec_fn=limit(resource.RLIMIT_AS, 200 << 20))
        self.assertIn(b"out of memory", done.stderr)
        self.assertIn(b"--resume", done.stderr)
        self.assertEqual(self.lines(), [])
        self.posbench(*words, "--resume")
        self.assertEqual([line["status"] for line in self.lines()], ["ok"])

    def test_a_run_goes_on_with_as_many_jobs_as_there_is_memory_for(self):
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
                    [PROGRAM, "board", "--summary", "-q"],
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
        done = self.posbench("report", "bomb.json.gz", code=2, preexec_fn=limit(resource.RLIMIT_AS, 500 << 20))
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


class Folders(Case):
    LONG = SMOKE + [
        "-e",
        "none,cope",
        "-s",
        "2",
        "--set",
        "training.steps=6000",
        "--set",
        "training.validate_every=2000",
        "-q",
        "-j",
        "1",
        "--checkpoint-every",
        "0.02",
        "-o",
        "run",
    ]

    def test_a_run_whose_folder_was_made_again_leaves_the_new_run_alone(self):
        first = self.start(*self.LONG)
        self.wait_for(lambda: len(self.lines()) >= 1, first)
        shutil.move(self.folder / "run", self.folder / "gone")
        shutil.rmtree(self.folder / "gone")
        self.posbench(*TINY, "-e", "none,cope", "-s", "2", "-q", "-o", "run")
        before = self.files("run")
        message = first.stderr.read().decode()
        self.assertEqual(first.wait(), 1, message)
        self.assertIn("the run directory no longer exists", message)
        self.assertEqual(self.files("run"), before)
        self.posbench(*TINY, "-e", "none,cope", "-s", "2", "-q", "-o", "run", "--resume")

    def test_a_run_whose_folder_vanished_does_not_say_that_anything_is_kept(self):
        first = self.start(*self.LONG)
        self.wait_for(lambda: len(self.lines()) >= 1, first)
        shutil.move(self.folder / "run", self.folder / "gone")
        message = first.stderr.read().decode()
        self.assertEqual(first.wait(), 1, message)
        self.assertNotIn("are stored", message)
        self.assertFalse((self.folder / "run").exists())


class Signals(Case):
    def test_the_first_signal_ends_a_run_that_measures_baselines(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                process = self.start(
                    "run",
                    "--profile",
                    "smoke",
                    "-t",
                    "counting:length=2000",
                    "-e",
                    "none",
                    "--set",
                    "training.steps=1",
                    "--set",
                    "training.batch=1",
                    "--set",
                    "training.validation_sequences=1",
                    "--set",
                    "evaluation.sequences=1",
                    "-q",
                    "-o",
                    "run",
                )
                self.wait_for(lambda: len(self.lines()) == 1, process)
                process.send_signal(number)
                start = time.monotonic()
                message = process.stderr.read().decode()
                self.assertEqual(process.wait(), 130, message)
                self.assertLess(time.monotonic() - start, 5)
                self.assertTrue(message.startswith("interrupted; 1 of 1 experiments are stored."), message)

    def test_a_signal_that_the_caller_ignores_stays_ignored(self):
        words = [word.replace("none,cope", "none").replace("6000", "2000") for word in Folders.LONG]
        process = self.start(*words, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: len(self.lines()) >= 1, process)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(), 0)


class Messages(Case):
    def test_whatever_is_given_an_error_is_one_short_printable_line(self):
        (self.folder / "long.json").write_text(json.dumps({"tasks": "x" * 5_000_000}))
        (self.folder / "bad.json").write_bytes(b'{"tasks": "a\\nb\\u001b[31m\xff"}')
        (self.folder / "key.json").write_text(json.dumps({"x\n\x1b[2J" * 1000: 1}))
        for words in (
            ["run", "-e", "ro\np\x1b[31m"],
            ["run", "-e", b"\xff\xfe"],
            ["run", "-t", "x" * 100_000],
            ["run", "--config", "long.json"],
            ["run", "--config", "bad.json"],
            ["run", "--config", "key.json"],
            ["run", "--set", "model.\nwidth=3"],
            ["run", "--set", "model.width=\n\x9b"],
            ["run", "-s", "1\n2"],
            ["show", "a\nb"],
            ["sample", "parity_check", "--split", "a\x07b"],
            ["no\nsuch"],
            ["run", "--profile", "\x1b]0;title\x07"],
            ["report", "missing\n.json"],
            ["check", "\u202ecope"],
            ["merge", "a\nb", "-o", "out"],
            ["run", "--shard", "1\n/2"],
        ):
            with self.subTest(words=[w[:60] for w in words]):
                self.posbench(*words, code=2)

    def test_an_option_without_its_value_does_not_take_the_next_option(self):
        for words in (
            ["reproduce", "-o", "--list"],
            ["reproduce", "--page", "--list"],
            ["run", "-o", "--resume"],
            ["run", "-o", "-q"],
            ["run", "-e", "--dry-run"],
            ["run", "-s", "--dry-run"],
            ["run", "--config", "-v"],
            ["report", "run", "-o", "--watch"],
            ["export", "flip_flop", "--manifest", "-n"],
            ["merge", "-o", "--force"],
        ):
            with self.subTest(words=words):
                done = self.posbench(*words, code=2)
                self.assertIn(f"has no value, but is followed by '{words[-1]}'".encode(), done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])
        words = ["run", "-e", "-cope,none", "--list-only", "-t", "flip_flop", "-s", "1"]
        self.assertEqual(self.posbench(*words).stdout, b"flip_flop none 0\n")
        self.posbench("export", "flip_flop", "-n", "1", "--format", "jsonl", "-o", "./--list")
        self.assertTrue((self.folder / "--list").exists())

    def test_an_option_that_is_set_twice_is_refused(self):
        done = self.posbench("run", "-e", "cope:positions=4,positions=16", "--dry-run", code=2)
        self.assertIn(b"sets positions twice", done.stderr)

    def test_a_program_name_that_is_not_utf8_is_no_failure(self):
        command = [
            b"\xff\xfeposbench",
            "run",
            "--profile",
            "smoke",
            "-t",
            "parity_check",
            "-e",
            "none",
            "-q",
            "-o",
            "run",
        ]
        subprocess.run(command, executable=PROGRAM, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        command = [b"\xff\xfeposbench", "bench", "-e", "none", "--sizes", "tiny", "-r", "1", "--json"]
        done = subprocess.run(command, executable=PROGRAM, cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        json.loads(done.stdout)

    def test_merge_recommends_only_what_it_has(self):
        self.posbench(*TINY, "-e", "none", "-q", "-o", "run")
        self.posbench(*TINY, "-e", "none", "-q", "-o", "other")
        done = self.posbench("merge", "run", "-o", "other", code=2)
        self.assertEqual(done.stderr, b"posbench: other exists; add --force to replace it, or use another -o\n")

    def test_the_types_of_a_configuration_are_strict(self):
        for section, value in (
            ("model", {"width": "64"}),
            ("model", {"tied_embeddings": "true"}),
            ("training", {"steps": 2.5}),
            ("training", {"learning_rate": "1e-3"}),
            ("model", {"norm": 1}),
            ("model", {"tied_embeddings": 1}),
        ):
            (self.folder / "config.json").write_text(json.dumps({"profile": "smoke", section: value}))
            with self.subTest(value=value):
                done = self.posbench("run", "--config", "config.json", "--show-config", code=2)
                self.assertIn(b"expected", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
