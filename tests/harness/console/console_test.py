"""Tests the console as a user sees it: unfinished runs, names, flags, choices, widths, progress.

console_test.py POSBENCH
"""

import csv
import fcntl
import io
import json
import os
import pty
import re
import resource
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


def posbench(arguments, folder, **environment):
    words = arguments.split() if isinstance(arguments, str) else arguments
    return subprocess.run(
        [POSBENCH, *words], cwd=folder, text=True, capture_output=True, env={**os.environ, **environment}
    )


def on_terminal(arguments, folder, columns):
    """Returns the exit code and what a terminal with this number of columns shows, including standard error."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([POSBENCH, *arguments.split()], cwd=folder, stdin=slave, stdout=slave, stderr=slave)
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


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def text_of(path):
    return path.read_text() if path.exists() else ""


class Console(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        done = posbench(f"{RUN} -q -o full --save-models", cls.folder)
        assert done.returncode == 0, done.stderr
        cls.lines = (cls.folder / "full/experiments.jsonl").read_text().splitlines(keepends=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

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

    # Unfinished runs

    def test_an_unfinished_run_is_reported_compared_and_inspected(self):
        self.cut("three", 3)
        for form in ("console", "markdown", "json", "html"):
            outcome = posbench(f"report three --format {form}", self.folder)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertIn("three: 3 of 8 experiments", outcome.stdout)
        self.assertNotIn("of 8 experiments", posbench("report full", self.folder).stdout)
        compared = posbench("compare full three --format json", self.folder)
        self.assertIn("three: 3 of 8 experiments", json.loads(compared.stdout)["warnings"])
        finished = json.loads(self.lines[0])
        shutil.copytree(self.folder / "full/models", self.folder / "three/models")
        inspect = f"inspect three {finished['task']} {finished['encoding']} --seed {finished['seed']}"
        self.assertIn("three: 3 of 8 experiments", posbench(inspect, self.folder).stdout)
        shutil.rmtree(self.folder / "three/models")
        self.refused(inspect, "three: 3 of 8 experiments")
        self.cut("none_yet", 0)
        self.assertIn("none_yet: 0 of 8 experiments", posbench("report none_yet", self.folder).stdout)

    def test_an_interrupted_run_is_reported_with_its_finished_experiments(self):
        run = subprocess.Popen(
            [POSBENCH, *f"{RUN} -j 1 -q -o broken --set training.steps=300".split()],
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertTrue(until(lambda: text_of(self.folder / "broken/experiments.jsonl").count("\n") >= 1))
        running = posbench("report broken", self.folder)
        self.assertRegex(running.stdout, r"broken: [1-8] of 8 experiments")
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, error)
        finished = text_of(self.folder / "broken/experiments.jsonl").count("\n")
        self.assertIn(f"broken: {finished} of 8 experiments", posbench("report broken", self.folder).stdout)

    def test_watch_follows_a_run_until_it_is_finished(self):
        run, page = self.cut("watched", 3), self.folder / "now.html"
        watch = subprocess.Popen(
            [POSBENCH, "report", "watched", "--watch", "-o", "now.html"],
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertTrue(until(lambda: "watched: 3 of 8 experiments" in text_of(page)))
        self.assertIn('http-equiv="refresh"', text_of(page))
        (run / "experiments.jsonl").write_text("".join(self.lines[:5]))
        self.assertTrue(until(lambda: "watched: 5 of 8 experiments" in text_of(page)))
        shutil.copy(self.folder / "full/experiments.jsonl", run)
        shutil.copy(self.folder / "full/report.json", run)
        self.assertEqual(watch.wait(60), 0)
        self.assertNotIn('http-equiv="refresh"', text_of(page))
        self.assertNotIn("of 8 experiments", text_of(page))
        watch.stderr.close()
        self.refused("report full/report.json --watch", "--watch needs directories of runs")

    def test_a_live_run_keeps_its_page_current(self):
        page = self.folder / "live/report.html"
        run = subprocess.Popen(
            [POSBENCH, *f"{RUN} -q -o live --live --set training.steps=100".split()],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.assertTrue(until(lambda: "of 8 experiments" in text_of(page)))
        self.assertIn('http-equiv="refresh"', text_of(page))
        run.communicate()
        self.assertEqual(run.returncode, 0)
        self.assertNotIn('http-equiv="refresh"', text_of(page))
        self.assertNotIn("of 8 experiments", text_of(page))

    # Widths

    def test_tables_and_lists_fit_the_terminal_and_pipes_have_a_constant_width(self):
        for arguments in (
            "report full",
            "compare full full",
            "list encodings",
            "list tasks",
            "list settings",
            "run --help",
        ):
            code, shown = on_terminal(arguments + (" --color never" if "full" in arguments else ""), self.folder, 80)
            self.assertEqual(code, 0, shown)
            wide = [
                line for line in shown.split("\nExamples:")[0].splitlines() if len(line) > 80
            ]  # examples are not wrapped
            self.assertEqual(wide, [], arguments)
            piped = posbench(arguments, self.folder, COLUMNS="60").stdout
            self.assertEqual(piped, posbench(arguments, self.folder, COLUMNS="200").stdout)
        listed = [
            line.split()[0] for line in posbench("list encodings", self.folder).stdout.splitlines() if line[:2] == "  "
        ]
        names = [
            encoding["id"]
            for encoding in json.loads(posbench("list encodings --json", self.folder).stdout)["encodings"]
        ]
        self.assertEqual(sorted(listed), sorted(names))
        columns = max(map(len, posbench("report full", self.folder).stdout.splitlines()))
        self.assertLessEqual(columns, 100)

    def test_definitions_and_lists_fit_eighty_columns_and_break_no_word(self):
        for arguments in (
            "show cope",
            "show rope",
            "show flip_flop",
            "show addition",
            "show reverse_string:length=1..10",
            "list encodings",
            "list tasks",
            "list settings",
            "list profiles",
        ):
            code, shown = on_terminal(arguments, self.folder, 80)
            self.assertEqual(code, 0, shown)
            self.assertEqual([line for line in shown.splitlines() if len(line) > 80], [], arguments)
            self.assertEqual(shown.split(), posbench(arguments, self.folder).stdout.split(), arguments)
        code, shown = on_terminal("reproduce --list --color never", self.folder, 80)
        self.assertEqual([line for line in shown.splitlines() if len(line) > 80], [])
        markdown = posbench("reproduce --list --format markdown", self.folder).stdout
        plain = set(markdown.replace("\\", "").split())
        table = shown.split("verdict: by")[0].split()
        rules = {word for word in table if set(word) == {"-"}}
        self.assertEqual(set(table) - plain - rules, set())

    def test_progress_fits_eighty_columns_and_breaks_no_word(self):
        suite = (
            "run --profile smoke -t reverse_string:length=1..10 -e learned_abs,cope:positions=16,gates=separate -s 1"
        )
        code, shown = on_terminal(f"{suite} --set training.learning_rate=3e-4,1e-3 -o narrow", self.folder, 80)
        self.assertEqual(code, 0, shown)
        lines = re.split(r"\n|\r|\x1b\[K", shown)
        self.assertEqual([line for line in lines if len(line) > 80], [])
        finished = re.sub(r"\s+", " ", shown)
        for encoding in ("learned_abs", "cope:positions=16,gates=separate"):
            self.assertRegex(
                finished,
                rf"\[\d/2\] {encoding} on reverse_string:length=1..10, seed 0: \S+ in distribution, worst OOD split \S+",
            )

    def test_the_table_of_one_seed_says_that_it_decides_nothing(self):
        note = "one seed decides nothing"
        one = posbench("run --profile smoke -t parity_check -e none,rope -s 1 -q -o one_seed", self.folder)
        self.assertIn(note, one.stdout)
        self.assertIn(note, posbench("report one_seed", self.folder).stdout)
        self.assertNotIn(note, posbench("report full", self.folder).stdout)

    # Unknown words, names in any case, help

    def test_unknown_commands_and_options_name_the_nearest(self):
        self.refused("runn", "unknown command 'runn'; did you mean 'run'?")
        self.refused("RUN", "did you mean 'run'?")
        self.refused("version", "did you mean '--version'?")
        self.refused("run --seed 3", "unknown option '--seed' of 'posbench run'; did you mean '--seeds'?")
        self.refused("run --enc rope", "did you mean '--encodings'?")
        self.refused("--versoin", "unknown option '--versoin' of 'posbench'; did you mean '--version'?")
        self.refused("report full -x", "unknown option '-x' of 'posbench report'")
        self.refused("run --set modle.width=3", "did you mean 'model.width'?")
        self.refused("run --set width=3", "did you mean 'model.width'?")
        self.refused("run -e ropee", "did you mean 'rope'?")
        self.refused("report full --format htlm", "'htlm' is none of", "did you mean 'html'?")
        self.refused("help runn", "did you mean 'run'?")
        version = posbench("-V", self.folder)
        self.assertEqual((version.returncode, version.stdout), (0, posbench("--version", self.folder).stdout))

    def test_names_are_found_regardless_of_case(self):
        listed = posbench(
            "run -t Flip_Flop -e ROPE,CoPE:positions=16,Randomized:base=ALiBi -s 1 --list-only", self.folder
        )
        self.assertEqual(
            listed.stdout, "flip_flop rope 0\nflip_flop cope:positions=16 0\nflip_flop randomized:base=alibi 0\n"
        )
        self.assertIn(
            "\nxpos",
            posbench(
                ["run", "-t", "flip_flop", "-e", "XP*,rope", "-s", "1", "--list-only"], self.folder
            ).stdout.replace("flip_flop ", "\n"),
        )
        self.assertEqual(posbench("show ROPE", self.folder).stdout, posbench("show rope", self.folder).stdout)
        self.assertEqual(posbench("sample Flip_Flop -n 1 --json", self.folder).returncode, 0)
        self.assertIn("pass rope ", posbench("check RoPE", self.folder).stdout)
        self.assertEqual(posbench("inspect full Parity_Check ROPE", self.folder).returncode, 0)

    def test_help_of_a_command_equals_the_output_of_its_help_flag(self):
        self.assertEqual(posbench("help run", self.folder).stdout, posbench("run --help", self.folder).stdout)
        self.assertEqual(posbench("help", self.folder).stdout, posbench("--help", self.folder).stdout)

    def test_help_shows_choices_as_words_and_every_default(self):
        overview = posbench("--help", self.folder).stdout
        commands = re.findall(r"^  (\w+) ", overview[overview.index("Commands:") : overview.index("Examples:")], re.M)
        self.assertGreater(len(commands), 15)
        for command in commands:
            text = posbench(f"{command} --help", self.folder).stdout
            for technical in ("ENUM", "value in {", "INT:", "TEXT:", "OR {"):
                self.assertNotIn(technical, text.split("Examples:")[0], command)
            for entry in re.split(r"\n  (?=-)", text.split("\nExamples")[0])[1:]:
                entry = re.sub(r"\s+", " ", entry.split("\n\n")[0])
                if re.match(r"(-\w, )?--[\w-]+(, --[\w-]+)* [A-Z]{3,}\b", entry):  # it takes a value
                    self.assertRegex(entry, r"\[(default: .+|required)\]", f"{command}: {entry}")
        report = re.sub(r"\s+", " ", posbench("report --help", self.folder).stdout)
        self.assertIn(
            "--format WORD format of the output; one of console, markdown, csv, json, html, latex [default: that of the file's "
            "extension, or console]",
            report,
        )
        self.assertIn(
            "probability of any verdict 'better' or 'worse' in a comparison of equal runs; 1e-09 to 0.5 [default: 0.05]",
            re.sub(r"\s+", " ", posbench("compare --help", self.folder).stdout),
        )

    # What options mean

    def test_lists_add_up_and_numbers_have_exponents(self):
        once = posbench("run -e cope,rope -t flip_flop,parity_check --show-config", self.folder).stdout
        twice = posbench("run -e cope -e rope -t flip_flop -t parity_check --show-config", self.folder).stdout
        self.assertEqual(once, twice)
        steps = posbench("run --set training.steps=1e3 --show-config", self.folder)
        self.assertEqual(json.loads(steps.stdout)["training"]["steps"], 1000)
        self.refused("run --set training.steps=1e-3", "training: steps is '1e-3', expected an integer")

    def test_a_file_extension_of_no_format_is_refused_with_a_message(self):
        for command in ("report full", "compare full full", "inspect full parity_check rope"):
            self.refused(f"{command} -o x.pdf", "'x.pdf' does not end in .html, .md,", "--format")
            self.refused(f"{command} -o plain", "'plain' does not end in .html, .md,")
            self.assertFalse((self.folder / "x.pdf").exists())
        self.assertEqual(posbench("report full -o x.pdf --format markdown", self.folder).returncode, 0)
        self.assertTrue((self.folder / "x.pdf").read_text().startswith("| encoding |"))
        (self.folder / "x.pdf").unlink()

    def test_a_comparison_has_a_page(self):
        self.assertEqual(posbench("compare full full -o change.html", self.folder).returncode, 0)
        page = (self.folder / "change.html").read_text()
        data = json.loads(re.search(r'<script type="application/json" id="page">(.*?)</script>', page, re.S)[1])
        verdicts, differences = (section["plots"] for section in data["sections"])
        self.assertEqual([plot["title"] for plot in verdicts], ["All differences"])
        self.assertEqual([plot["title"] for plot in differences], ["parity_check", "even_pairs"])
        self.assertTrue(all(plot["kind"] == "forest" for plot in differences))
        columns = json.loads(re.search(r'<script type="application/json" id="rows1">(.*?)</script>', page, re.S)[1])
        values = [column["texts"][column["at"][0]] if isinstance(column, dict) else column[0] for column in columns[:3]]
        self.assertEqual(values, ["none, in_distribution", "same", 0])
        kinds = json.loads(
            re.search(r'<script type="application/json" id="specifications">(.*?)</script>', page, re.S)[1]
        )
        self.assertIn("forest", kinds)

    def test_sample_names_its_stream_and_prints_its_samples(self):
        def tokens(stream):
            outcome = posbench(f"sample flip_flop -n 2 --seed 3 --json --split {stream}", self.folder)
            return [sample["tokens"] for sample in json.loads(outcome.stdout)["samples"]]

        def exported(split, option="--split"):
            outcome = posbench(f"export flip_flop -n 2 --seed 3 {option} {split}", self.folder)
            return [json.loads(line)["tokens"] for line in outcome.stdout.splitlines()]

        for split in ("train", "validation", "in_distribution", "ood_sparse"):
            self.assertEqual(tokens(split), exported(split))
        self.assertEqual(tokens("ood_sparse"), exported("test:ood_sparse", "--purpose"))
        self.assertNotEqual(tokens("train"), tokens("validation"))
        for stream, said in (
            ("train", "stream train of flip_flop, seed 0: the samples that a run trains on"),
            ("ood_sparse", "stream test:ood_sparse of flip_flop, seed 0: the samples that a run tests on"),
        ):
            self.assertTrue(posbench(f"sample flip_flop --stream {stream}", self.folder).stdout.startswith(said))
        self.refused("sample flip_flop --stream sparse", "train, validation, and its splits:")

    def test_the_means_of_the_rows_of_csv_are_those_of_the_report(self):
        rows = list(csv.DictReader(io.StringIO(posbench("report full --format csv", self.folder).stdout)))
        report = json.loads((self.folder / "full/report.json").read_text())
        splits = sum(len(experiment["splits"]) for experiment in report["experiments"])
        self.assertEqual(len(rows), splits)
        for row in report["summary"]:
            of = [
                float(r["sequence"])
                for r in rows
                if (r["task"], r["encoding"]) == (row["task"], row["encoding"]) and r["split"] == "in_distribution"
            ]
            self.assertEqual(len(of), 2)
            self.assertAlmostEqual(sum(of) / 2, row["in_distribution"]["sequence"]["mean"], 5)

    def rows(self, arguments):
        outcome = posbench(f"{arguments} --format csv", self.folder)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return list(csv.DictReader(io.StringIO(outcome.stdout)))

    def test_report_selects_tasks_encodings_and_splits(self):
        rows = self.rows("report full -t parity_check -e 'r*' --split ood_length".replace("'", ""))
        self.assertEqual({(row["task"], row["encoding"]) for row in rows}, {("parity_check", "rope")})
        self.assertEqual({row["split"] for row in rows}, {"in_distribution", "ood_length"})
        whole = self.rows("report full")
        self.assertEqual(rows, [row for row in whole if row in rows])
        self.assertEqual(self.rows("report full -e all,-none"), [row for row in whole if row["encoding"] == "rope"])
        self.refused("report full -e ropee", "the reports have no encoding 'ropee'; did you mean 'rope'?")
        self.refused("report full -t flip_flop", "the reports have no task 'flip_flop'")
        self.refused("report full --split near", "the reports have no split 'near'", "ood_length")

    def test_report_sorts_encodings(self):
        def order(sort):
            table = posbench(
                f"report {REFERENCE} -t last_x_retrieval --by-split --format markdown --sort {sort}", self.folder
            )
            return [
                line.split("|")[1].strip().replace("\\", "") for line in table.stdout.splitlines() if line[:2] == "| "
            ][1:]

        encodings = ["none", "sinusoidal", "learned_abs", "shaw_k", "rope", "alibi", "cope"]
        self.assertEqual([name for name in order("run") if name != ":--"], encodings)
        self.assertEqual([name for name in order("name") if name != ":--"], sorted(encodings))
        self.assertEqual([name for name in order("accuracy") if name != ":--"][0], "cope")
        self.refused("report full --sort name --format csv", "--sort needs --format console, markdown or latex")

    def test_two_encodings_of_one_report_are_compared(self):
        def difference(row):
            return float(re.search(r"[+-][\d.]+", row["difference (95%)"])[0])

        rows = self.rows(f"compare {REFERENCE} --between cope,rope")
        self.assertEqual({row["encoding"] for row in rows}, {"cope -> rope"})
        self.assertNotIn("same", {row["verdict"] for row in rows if row["task"] == "last_x_retrieval"})
        one = self.rows(f"compare {REFERENCE} --between cope,rope -t last_x_retrieval --split ood_far4")
        self.assertEqual(one, [row for row in rows if (row["task"], row["split"]) == ("last_x_retrieval", "ood_far4")])
        self.assertEqual(len(one), 1)
        losses = [difference(row) for row in self.rows(f"compare {REFERENCE} --between cope,rope --sort difference")]
        self.assertEqual(sorted(losses), sorted(difference(row) for row in rows))
        for verdict in {row["verdict"] for row in rows}:
            of_verdict = [
                difference(row)
                for row in self.rows(f"compare {REFERENCE} --between cope,rope --sort difference")
                if row["verdict"] == verdict
            ]
            self.assertEqual(of_verdict, sorted(of_verdict))
        self.refused(f"compare {REFERENCE} --between cope,ropee", "has no encoding 'ropee'; did you mean 'rope'?")
        self.refused(f"compare {REFERENCE} --between cope", "expected two encodings of one report")
        self.refused(f"compare {REFERENCE}", "only one report is given", "--between")
        self.refused("compare full full -e ropee", "did you mean 'rope'?")

    def test_a_written_file_is_named(self):
        for arguments, path in (
            ("report full -o named.md", "named.md"),
            ("compare full full -o named.csv", "named.csv"),
            ("inspect full parity_check rope -o named.json", "named.json"),
            ("inspect full parity_check rope --over 4 -o over.md", "over.md"),
        ):
            outcome = posbench(arguments, self.folder)
            self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
            self.assertIn(f"written: {path}\n", outcome.stderr)
            self.assertNotIn("written", posbench(arguments + " -q", self.folder).stderr)
            self.assertTrue((self.folder / path).exists())
        self.assertNotIn("written", posbench("report full", self.folder).stderr)

    # Flags

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
        self.refused("run -q -v", "exclude each other")
        self.assertIn("step ", posbench(f"{RUN} -o verbose -v", self.folder).stderr)

    def with_a_failure(self, name, status="failed"):
        """Makes a finished run whose first experiment has failed."""
        run = self.folder / name
        shutil.copytree(self.folder / "full", run)
        line = json.loads(self.lines[0])
        line.update(status=status, reason="set by the test", splits=[], learning_curve=[], final_loss=None)
        line.pop("crc32")
        (run / "experiments.jsonl").write_text(json.dumps(line) + "\n" + "".join(self.lines[1:]))
        return run

    def test_rerun_failed_runs_only_the_failed_experiments_again(self):
        run = self.with_a_failure("failed")
        kept = posbench(f"{RUN} -o failed --save-models --resume", self.folder)
        self.assertEqual(kept.returncode, 1, kept.stderr)
        self.assertIn("0 of 8 experiments to run", kept.stderr)
        again = posbench(f"{RUN} -o failed --save-models --resume --rerun-failed", self.folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("1 of 8 experiments to run", again.stderr)
        whole = {
            key: value
            for key, value in json.loads((run / "report.json").read_text()).items()
            if key not in ("context", "timing")
        }
        full = json.loads((self.folder / "full/report.json").read_text())
        self.assertEqual(whole, {key: full[key] for key in whole})
        self.assertEqual(text_of(run / "experiments.jsonl").count("\n"), 9)  # the line that failed stays
        self.assertEqual(posbench(f"{RUN} -q -o failed --save-models --resume", self.folder).returncode, 0)
        self.refused(f"{RUN} -o other --rerun-failed", "--resume")

    def test_fail_fast_stops_at_the_first_experiment_that_diverges(self):
        diverging = (
            f"{RUN} -j 1 --set training.optimizer=sgd --set training.learning_rate=1 --set training.momentum=0.999 "
            "--set training.clip=1e8 --set training.steps=60"
        )
        slow = posbench(f"{diverging} -q -o all_diverge", self.folder)
        statuses = [
            json.loads(line)["status"] for line in text_of(self.folder / "all_diverge/experiments.jsonl").splitlines()
        ]
        self.assertEqual(len(statuses), 8)
        self.assertIn("diverged", statuses, slow.stderr)
        first = statuses.index("diverged") + 1
        self.assertLess(first, 8)
        fast = posbench(f"{diverging} -o fast --fail-fast", self.folder)
        self.assertEqual(fast.returncode, 1)
        self.assertIn("--fail-fast", fast.stderr)
        self.assertEqual(text_of(self.folder / "fast/experiments.jsonl").count("\n"), first)
        self.assertIn(f"{first} of 8 experiments", posbench("report fast", self.folder).stdout)

    def test_keep_going_skips_incompatible_names_with_a_warning(self):
        settings = "run -s 1 -t flip_flop,reverse_string -e none,path --set model.attention=bidirectional"
        self.refused(f"{settings} --list-only")
        kept = posbench(f"{settings} --list-only --keep-going", self.folder)
        self.assertEqual(kept.returncode, 0, kept.stderr)
        self.assertTrue(all(line.startswith("reverse_string ") for line in kept.stdout.splitlines()), kept.stdout)
        self.assertIn("skipped: ", kept.stderr)
        self.assertEqual(kept.stdout.count("\n") + kept.stderr.count("skipped: encoding"), 2, kept.stderr)
        self.assertEqual(posbench("report full missing", self.folder).returncode, 2)
        read = posbench("report full missing --keep-going", self.folder)
        self.assertEqual(read.returncode, 0)
        self.assertIn("skipped: missing", read.stderr)
        self.assertEqual(posbench("report missing --keep-going", self.folder).returncode, 2)

    def test_list_only_lists_the_experiments_and_runs_nothing(self):
        listed = posbench(f"{RUN} --list-only -o nothing", self.folder)
        self.assertEqual(len(listed.stdout.splitlines()), 8)
        self.assertEqual(listed.stdout.splitlines()[0], "parity_check none 0")
        self.assertFalse((self.folder / "nothing").exists())
        self.assertEqual(len(posbench(f"{RUN} --list-only --shard 1/4", self.folder).stdout.splitlines()), 2)

    def cpu_seconds(self, arguments):
        """Returns the CPU seconds of a command, on which other programs of the machine have little effect, and its output."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome = posbench(arguments, self.folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, outcome.stdout

    def test_the_dry_run_of_the_largest_profile_takes_few_seconds(self):
        seconds, plan = self.cpu_seconds("run --profile paper --dry-run -j 2")
        self.assertLess(seconds / 2, 20)
        text = re.sub(r"\s+", " ", plan)
        self.assertRegex(text, r"\b\d+ of 160 pairs of a task and an encoding were measured")
        self.assertRegex(text, r"estimates of measured pairs are wrong by up to \d+ %")

    def test_the_pages_of_tasks_and_encodings_take_few_seconds(self):
        for kind, most in (("tasks", 20), ("encodings", 40)):
            seconds, _ = self.cpu_seconds(f"list {kind} --markdown")
            self.assertLess(seconds / 2, most, kind)  # on two cores

    def test_a_dry_run_of_more_than_two_seconds_shows_its_progress(self):
        long = (
            "run -t selective_copy,reverse_string,counting,flip_flop,last_x_retrieval,bucket_sort -s 1 -j 1 --dry-run "
            "-e cope,rope,alibi,shaw_k,fire,kerple_log,dape,fox,path,txl"
        )
        outcome = posbench(long, self.folder)
        self.assertRegex(outcome.stderr, r"measuring how long experiments take, \d+ of 60, \d+ s\n")
        code, shown = on_terminal(long, self.folder, 80)
        self.assertEqual(code, 0)
        self.assertIn("\r\x1b[Kmeasuring how long experiments take", shown)
        self.assertEqual(posbench(long + " -q", self.folder).stderr, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
