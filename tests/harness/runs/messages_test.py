"""Gives the program invalid input, and checks that each error is one short line.

messages_test.py POSBENCH [TEST...]
"""

import json
import shutil
import subprocess

from program_case import ONE_SEQUENCE, PROGRAM, TINY, Case, run_tests


class Messages(Case):
    def test_whatever_is_given_an_error_is_one_short_printable_line(self):
        (self.folder / "long.json").write_text(json.dumps({"tasks": "x" * 5_000_000}))
        (self.folder / "bad.json").write_bytes(b'{"tasks": "a\\nb\\u001b[31m\xff"}')
        (self.folder / "key.json").write_text(json.dumps({"x\n\x1b[2J" * 1000: 1}))
        for arguments in (
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
            with self.subTest(arguments=[argument[:60] for argument in arguments]):
                self.posbench(*arguments, code=2)

    def test_a_path_that_is_too_long_is_named_with_the_reason(self):
        long = "x" * 300
        tiny = ["run", "-t", "parity_check", "-e", "none", "--profile", "smoke"]
        for arguments in (["report", long], ["merge", long, "-o", "x"], [*tiny, "-o", long]):
            with self.subTest(arguments=[argument[:9] for argument in arguments]):
                error = self.posbench(*arguments, code=2).stderr
                self.assertIn(b"xxx", error)
                self.assertIn(b": File name too long", error)
                self.assertNotIn(b"filesystem error", error)

    def test_an_option_without_its_value_does_not_take_the_next_option(self):
        for arguments in (
            ["reproduce", "-o", "--list"],
            ["run", "-o", "--resume"],
            ["run", "-o", "-q"],
            ["run", "-e", "--dry-run"],
            ["run", "-s", "--dry-run"],
            ["run", "--config", "-v"],
            ["report", "run", "-o", "--by-split"],
            ["export", "flip_flop", "--manifest", "-n"],
            ["merge", "-o", "--force"],
        ):
            with self.subTest(arguments=arguments):
                done = self.posbench(*arguments, code=2)
                self.assertIn(f"has no value, but is followed by '{arguments[-1]}'".encode(), done.stderr)
                self.assertEqual(list(self.folder.iterdir()), [])
        for arguments in (["run", "--output=", "--list-only"], ["run", "--jobs=", "-q"], ["report", "x", "--split="]):
            done = self.posbench(*arguments, code=2)
            option = next(word for word in arguments if word.endswith("="))
            self.assertIn(
                f"{option[:-1]} has no value; add it after the =, or leave out {option}".encode(), done.stderr
            )
            self.assertEqual(list(self.folder.iterdir()), [])
        arguments = ["run", "-e", "-cope,none", "--list-only", "-t", "flip_flop", "-s", "1"]
        self.assertEqual(self.posbench(*arguments).stdout, b"flip_flop none 0\n")
        self.posbench("export", "flip_flop", "-n", "1", "--format", "jsonl", "-o", "./--list")
        self.assertTrue((self.folder / "--list").exists())

    def test_an_output_file_is_neither_an_input_nor_another_output(self):
        self.posbench(*TINY, "-e", "none", "-q", "-o", "run")
        report = (self.folder / "run/report.json").read_bytes()
        for name in ("a.json", "b.json"):
            (self.folder / name).write_bytes(report)
        for arguments in (
            ["report", "a.json", "-o", "a.json"],
            ["report", "a.json", "b.json", "-o", "./b.json"],
            ["compare", "a.json", "b.json", "-o", "a.json"],
            ["export", "flip_flop", "--config", "a.json", "-o", "a.json", "--format", "jsonl"],
        ):
            with self.subTest(arguments=arguments):
                done = self.posbench(*arguments, code=2)
                self.assertIn(b", an input of this command, which would be lost; choose another", done.stderr)
                self.assertEqual((self.folder / "a.json").read_bytes(), report)
                self.assertEqual((self.folder / "b.json").read_bytes(), report)
        done = self.posbench("export", "flip_flop", "-o", "x.jsonl", "--manifest", "./x.jsonl", code=2)
        self.assertIn(b"are both 'x.jsonl'; give each its own file", done.stderr)
        self.assertFalse((self.folder / "x.jsonl").exists())
        self.posbench("report", "a.json", "-o", "new.json")
        self.posbench("report", "a.json", "-o", "new.json")  # a file that is no input is replaced

    def test_a_program_name_that_is_not_utf8_is_no_failure(self):
        command = [b"\xff\xfeposbench", *TINY, "-e", "none", "-q", "-o", "run"]
        subprocess.run(command, executable=PROGRAM, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        command = [b"\xff\xfeposbench", "bench", "-e", "none", "--sizes", "tiny", "-r", "1", "--json"]
        done = subprocess.run(command, executable=PROGRAM, cwd=self.folder, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        json.loads(done.stdout)

    def test_every_configuration_that_is_accepted_gives_a_report_that_can_be_read(self):
        names = ["", " ", "a b", "a\nb", "\t", "\x00", "\x1b[31m", "\x9b", "\u202e", "模", "a,b", "a=b", "-a", "a("]
        names += ["a)", "((a))", "(a)(b)", "a:b", "*", "[a]", "a\\", "'\"<&", "all", "aspect:x"]
        names += ["train", "validation", "test:x"]
        accepted = []
        for name in names:
            if name.strip("\0"):
                (self.folder / name).write_text("0123456789" * 100)
            split = {"tasks": "parity_check", "splits": {"parity_check": {name: {"length": "2x"}}}}
            files = [{"tasks": [f"text:file={value}"]} for value in (name, f"({name})")]
            for config in (split, *files, {"tasks": "text", "sweep": {"task.file": [name]}}):
                (self.folder / "config.json").write_text(
                    json.dumps({"profile": "smoke", "encodings": "none", **config})
                )
                run = ["run", "--config", "config.json", *ONE_SEQUENCE]
                with self.subTest(config=config):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    made = subprocess.run([PROGRAM, *run, "-q", "-o", "run"], cwd=self.folder, capture_output=True)
                    if made.returncode != 0:  # before it trains
                        self.assertEqual(made.returncode, 2)
                        self.check_one_line(made.stderr)
                        self.assertFalse((self.folder / "run").exists())
                        continue
                    accepted.append(name)
                    self.posbench(*run, "--show-config")
                    self.posbench("run", "--resume", "-o", "run")
                    self.posbench("merge", "run", "-o", "merged", "--force")
                    self.posbench("report", "run", *(["--split", f"in_distribution,{name}"] if config is split else []))
                    if config is split:
                        self.posbench(
                            "export", "parity_check", "--config", "config.json", "--split", name, "-o", "x.jsonl"
                        )
                        manifest = json.loads((self.folder / "x.jsonl.manifest.json").read_text())
                        self.assertEqual(manifest["purpose"], f"test:{name}")
        self.assertGreater(len(accepted), 20)
        self.posbench("run", "-t", b"text:file=caf\xe9", "--show-config", code=2)

    def test_texts_of_files_and_paths_reach_no_terminal_with_control_characters(self):
        odd = "a\x1b[31m\x9b1m\u202e"
        shown = [self.posbench(*TINY, "-e", "none", "-q", "-o", odd)]
        report = json.loads((self.folder / odd / "report.json").read_text())
        del report["crc32"]
        failed = {"status": "failed", "reason": odd, "splits": [], "final_loss": None, "learning_curve": []}
        failed = {**report["experiments"][0], **failed, "encoding": "rope"}
        report["tasks"][0]["splits"][1]["options"] = {"length": odd}
        report["summary"][0]["task"] = odd
        report["config"]["encodings"].append("rope")
        report["experiments"].append(failed)
        report["context"].update(dict.fromkeys(("host", "cpu", "command", "commit", "compiler"), odd))
        (self.folder / "x.json").write_text(json.dumps(report))
        failed["description"] = odd
        (self.folder / "y.json").write_text(json.dumps(report))
        for code, arguments in (
            (0, ["merge", odd, "-o", f"{odd}2"]),
            (0, ["check", odd]),
            (1, ["check", "x.json"]),
            (0, ["report", "y.json"]),
            (0, ["report", "y.json", "--format", "markdown"]),
            (0, ["report", "y.json", "--format", "latex"]),
            (0, ["report", "y.json", "--format", "csv"]),
            (0, ["compare", "x.json", "y.json"]),
            (0, ["export", "rope", "-o", f"{odd}.json"]),
            (0, ["report", odd, "-o", f"{odd}.html"]),
        ):
            shown.append(self.posbench(*arguments, code=code))
        for done in shown:
            with self.subTest(arguments=done.args):
                text = (done.stdout + done.stderr).decode().replace("\r\n", "\n")
                self.assertFalse([c for c in text if c != "\n" and not c.isprintable()], repr(text))


if __name__ == "__main__":
    run_tests()
