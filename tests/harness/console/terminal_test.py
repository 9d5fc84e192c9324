"""Tests the texts on a terminal: widths, colors and progress.

terminal_test.py POSBENCH
"""

import json
import re
import unittest

from console_case import RUN, Console, on_terminal, posbench


class Terminal(Console):
    def test_everything_fits_eighty_columns_and_pipes_have_a_constant_width(self):
        commands = ["report full", "compare full full", "list encodings", "list tasks", "list settings"]
        commands += ["list profiles", "run --help", "check rope -q", "check flip_flop -q", "sample mqar -n 2"]
        commands += ["board -t last_x_retrieval --split ood_far4", "reproduce --list", "show ood_length"]
        commands += ["show last_x_retrieval -q", "show cope -q", "show reverse_string:length=1..10 -q"]
        commands += ["show none-interleaved-one-layer -q"]
        for arguments in commands:
            code, shown = on_terminal(arguments, self.folder, 80, NO_COLOR="1")
            self.assertEqual(code, 0, shown)
            lines = shown.replace("\x1b[K", "").splitlines()
            self.assertEqual([line for line in lines if len(line) > 80 and " " in line.strip()], [], arguments)
            piped = posbench(arguments, self.folder, COLUMNS="60").stdout
            self.assertEqual(piped, posbench(arguments, self.folder, COLUMNS="200").stdout)
            if arguments.startswith(("list", "sample")):  # no word is broken
                self.assertEqual(shown.split(), piped.split(), arguments)
        columns = max(map(len, posbench("report full", self.folder).stdout.splitlines()))
        self.assertLessEqual(columns, 100)

    def test_progress_fits_eighty_columns_and_breaks_no_word(self):
        suite = (
            "run --profile smoke -t reverse_string:length=1..10 -e learned_abs,rope:axial=true,pairing=half_split -s 1"
        )
        code, shown = on_terminal(f"{suite} --set training.learning_rate=3e-4,1e-3 -o narrow", self.folder, 80)
        self.assertEqual(code, 0, shown)
        lines = re.split(r"\n|\r|\x1b\[\d*[A-Z]", shown)
        self.assertEqual([line for line in lines if len(line) > 80], [])
        finished = re.sub(r"\s+", " ", shown)
        for encoding in ("learned_abs", "rope:pairing=half_split,axial=true"):
            self.assertRegex(
                finished,
                rf"\[\d/2\] {encoding} on reverse_string:length=1..10, seed 0: \S+ in distribution, worst OOD split \S+",
            )

    def test_a_terminal_without_control_sequences_gets_none(self):
        run = "run --profile smoke -t reverse_string -e none -s 1 -j 1"
        self.assertIn("\x1b[K", on_terminal(f"{run} -o redrawn", self.folder, 80)[1])
        for name, term in (("dumb", "dumb"), ("empty", "")):
            shown = on_terminal(f"{run} -o {name}", self.folder, 80, TERM=term)[1]
            self.assertIn("[1/1] none on reverse_string", shown)
            self.assertNotIn("\x1b", shown)

    def test_the_table_of_one_seed_says_that_it_decides_nothing(self):
        note = "one seed decides nothing"
        one = posbench("run --profile smoke -t parity_check -e none,rope -s 1 -o one_seed", self.folder)
        self.assertIn(note, one.stdout)
        self.assertIn(note, posbench("report one_seed", self.folder).stdout)
        self.assertNotIn(note, posbench("report full", self.folder).stdout)

    def test_color_and_quiet(self):
        # No encoding solves parity_check here, so the only colored text is that of a failed experiment.
        run = self.cut("colored", 0)
        line = json.loads(self.lines[0])
        line.update(status="failed", reason="set by the test", splits=[], learning_curve=[], final_loss=None)
        line.pop("crc32")
        (run / "experiments.jsonl").write_text(json.dumps(line) + "\n")
        self.assertIn("\x1b[31m", on_terminal("report colored", self.folder, 80)[1])
        self.assertNotIn("\x1b[31m", on_terminal("report colored --color never", self.folder, 80)[1])
        self.assertIn("\x1b[31m", posbench("report colored --color always", self.folder).stdout)
        self.assertIn("\x1b[31m", posbench("report colored --color always", self.folder, NO_COLOR="1").stdout)
        loud = posbench(f"{RUN} -o loud", self.folder)
        self.assertIn("[8/8]", loud.stderr)
        for quiet in (f"--quiet {RUN} -o quiet1", f"{RUN} -o quiet2 -q"):
            self.assertEqual(posbench(quiet, self.folder).stderr, "")
        distinct = (
            "run --profile smoke -t sorting:length=1..6,symbols=6,distinct=true -e none -s 1 --set training.steps=2"
        )
        self.assertIn("is tested without split 'ood_length'", posbench(f"{distinct} -o noted", self.folder).stderr)
        self.assertEqual(posbench(f"{distinct} -o not_noted -q", self.folder).stderr, "")
        self.refused("run -q -v", "exclude each other")
        self.refused("report loud -o loud/report.json", "loud/report.json belongs to a run, which would be damaged")
        (self.folder / "loud/models").mkdir()
        for writes in (
            "export parity_check -n 1 -o loud/experiments.jsonl",
            "export rope -o loud/report.json",
            "export loud parity_check rope --initial --model-output loud/models/rope.safetensors",
            "score answers.jsonl -o loud/report.json",
        ):
            self.refused(writes, "belongs to a run, which would be damaged")
        self.refused("run --resume -o loud --trace-loss", "loud was started without --trace-loss")
        self.assertIn("step ", posbench(f"{RUN} -o verbose -v", self.folder).stderr)

    def test_a_dry_run_of_more_than_two_seconds_shows_its_progress(self):
        long = "run -t all -e dape -s 1 -j 1 --dry-run"
        outcome = posbench(long, self.folder)
        self.assertRegex(outcome.stderr, r"measuring how long experiments take,( \d+ of \d+,)? \d+ s\n")
        code, shown = on_terminal(long, self.folder, 80)
        self.assertEqual(code, 0)
        self.assertIn("\r\x1b[Kmeasuring how long experiments take", shown)
        self.assertEqual(posbench(long + " -q", self.folder).stderr, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
