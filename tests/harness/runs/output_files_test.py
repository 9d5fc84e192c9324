"""Writes to closed descriptors, full devices, pipes, devices and links.

output_files_test.py POSBENCH [TEST...]
"""

import contextlib
import ctypes
import functools
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading

from program_case import PROGRAM, TINY, Case, limit, run_tests


class Descriptors(Case):
    def test_closed_descriptors_are_not_given_to_the_files_of_a_run(self):
        for closed in ([2], [0, 2], [0, 1, 2]):
            with self.subTest(closed=closed):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                arguments = TINY + ["-e", "none,rope", "-v", "-o", "run"]

                def prepare(closed=closed):
                    for descriptor in closed:
                        os.close(descriptor)

                command = [PROGRAM, *arguments]
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
                self.posbench(*arguments, "--resume")

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
            "run": TINY + ["-e", "none", "--force", "-o", "again"],
            "run --show-config": ["run", "--show-config"],
            "run --dry-run": TINY + ["-e", "none", "--dry-run"],
            "merge": ["merge", "run", "-o", "merged"],
            "inspect": ["inspect", "run", "parity_check", "none", "--format", "json"],
            "bench": ["bench", "-e", "none", "--sizes", "tiny", "-r", "1"],
            "--help": ["--help"],
            "--version": ["--version"],
        }
        for name, arguments in commands.items():
            with self.subTest(command=name):
                with open("/dev/full", "wb") as full:
                    done = self.posbench(*arguments, code=1, stdout=full)
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
            [*samples, "safetensors"],
            ["export", "run", "parity_check", "none", "-n", "8"],
        )

    @for_each_command
    def test_a_pipe_gets_the_bytes_and_stays_a_pipe(self, arguments, expected):
        pipe, got = self.folder / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda pipe=pipe, got=got: got.append(pipe.read_bytes()), daemon=True)
        reader.start()
        self.posbench(*arguments, "pipe")
        reader.join(10)
        self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        self.assertEqual(got, [expected])
        self.assertFalse((self.folder / "pipe.manifest.json").exists())

    @for_each_command
    def test_a_device_stays_a_device(self, arguments, expected):
        device = self.folder / "null"
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("only root makes devices")
        try:
            device.open("wb").close()
            code = 0
        except PermissionError:  # a container may not open the device
            code = 1
        self.posbench(*arguments, "null", code=code)
        self.assertTrue(stat.S_ISCHR(device.stat().st_mode))

    @for_each_command
    def test_a_full_device_is_reported_and_stays_a_device(self, arguments, expected):
        (self.folder / "full").symlink_to("/dev/full")  # not the device itself, which a fault could replace
        done = self.posbench(*arguments, "full", code=1)
        self.assertEqual(done.stderr, b"posbench: cannot write 'full': No space left on device\n")
        self.assertTrue((self.folder / "full").is_symlink())

    @for_each_command
    def test_a_users_file_is_not_used_as_a_temporary_file(self, arguments, expected):
        (self.folder / "precious").write_text("precious")
        (self.folder / "out.tmp").write_text("mine")
        self.posbench(*arguments, "out")
        self.assertEqual((self.folder / "out.tmp").read_text(), "mine")
        (self.folder / "linked.tmp").symlink_to("precious")
        self.posbench(*arguments, "linked")
        self.assertEqual((self.folder / "precious").read_text(), "precious")
        self.assertTrue((self.folder / "linked.tmp").is_symlink())
        self.assertEqual((self.folder / "linked").read_bytes(), expected)

    @for_each_command
    def test_a_link_is_followed_and_stays(self, arguments, expected):
        (self.folder / "target").write_text("old")
        (self.folder / "link").symlink_to("target")
        self.posbench(*arguments, "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual((self.folder / "target").read_bytes(), expected)

    def test_a_link_to_a_file_that_does_not_exist_yet_stays(self):
        (self.folder / "link.json").symlink_to("second.json")
        (self.folder / "second.json").symlink_to("target.json")
        self.posbench("export", "rope", "-o", "link.json")
        self.assertTrue((self.folder / "link.json").is_symlink() and (self.folder / "second.json").is_symlink())
        self.assertTrue((self.folder / "target.json").read_text().startswith("{"))

    @for_each_command
    def test_a_file_stays_complete_if_the_new_one_cannot_be_written(self, arguments, expected):
        before = self.files(".")
        limited = limit(resource.RLIMIT_FSIZE, 20)
        self.check_one_line(self.posbench(*arguments, "regular", code=1, preexec_fn=limited).stderr)
        self.assertEqual(self.files("."), before)

    def test_a_missing_folder_for_temporary_files_is_named(self):
        environment = {**os.environ, "TMPDIR": "/no/such"}
        export = ["export", "parity_check", "-n", "2", "--format", "safetensors", "-o"]
        (self.folder / "out").symlink_to("/proc/self/fd/1")
        done = self.posbench(*export, "out", env=environment, code=2)
        self.assertIn(b"the folder for temporary files is '/no/such', expected one that exists", done.stderr)
        self.posbench(*export, "x.safetensors", env=environment)

    @for_each_command
    def test_a_file_is_written_in_place_if_it_cannot_be_replaced(self, arguments, expected):
        if not sys.platform.startswith("linux"):
            self.skipTest("only Linux has capabilities")
        drop = 24  # PR_CAPBSET_DROP; without CAP_DAC_OVERRIDE (1), root obeys the mode of a folder

        def prepare():
            if os.geteuid() == 0:
                ctypes.CDLL(None).prctl(drop, 1, 0, 0, 0)

        (self.folder / "closed").mkdir()
        (self.folder / "closed/out").write_text("old text that is longer than the new one may be" * 10000)
        (self.folder / "closed").chmod(0o555)
        self.addCleanup((self.folder / "closed").chmod, 0o755)
        with_manifest = (self.folder / "regular.manifest.json").exists()
        more = ["--manifest", "about.json"] if with_manifest and arguments[1] == "parity_check" else []
        if with_manifest and not more:
            return  # the manifest of logits is next to them
        self.posbench(*arguments, "closed/out", *more, preexec_fn=prepare)
        self.assertEqual((self.folder / "closed/out").read_bytes(), expected)
        self.assertEqual([path.name for path in (self.folder / "closed").iterdir()], ["out"])

    @for_each_command
    def test_standard_output_by_name_is_appended_to(self, arguments, expected):
        (self.folder / "log").write_text("before\n")
        (self.folder / "out").symlink_to("/proc/self/fd/1")
        with open(self.folder / "log", "ab") as log:
            self.posbench(*arguments, "out", stdout=log)
        self.assertEqual((self.folder / "log").read_bytes(), b"before\n" + expected)


if __name__ == "__main__":
    run_tests()
