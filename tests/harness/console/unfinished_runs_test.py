"""Tests runs that are not finished, or have failed experiments.

unfinished_runs_test.py POSBENCH
"""

import json
import shutil
import signal
import subprocess
import unittest

from console_case import POSBENCH, RUN, Console, posbench, text_of, until


class UnfinishedRuns(Console):
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
        for form in ("console", "csv", "json", "html"):
            self.refused(f"report none_yet --format {form}", "none_yet: no experiment is finished")

    def test_an_unfinished_sweep_is_reported(self):
        sweep = "run --profile smoke -t parity_check -e none --sweep model.width=8,16 --sweep evaluation.shift=0,1"
        done = posbench(f"{sweep} -q -o sweep", self.folder)
        self.assertEqual(
            done.returncode, 0, done.stderr
        )  # tasks with and without the split `shift` have their baselines
        (self.folder / "sweep/report.json").unlink()
        lines = (self.folder / "sweep/experiments.jsonl").read_text().splitlines(keepends=True)
        (self.folder / "sweep/experiments.jsonl").write_text(lines[0])
        outcome = posbench("report sweep", self.folder)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("sweep: 1 of 4 experiments", outcome.stdout)

    def test_an_interrupted_run_is_reported_with_its_finished_experiments(self):
        many = RUN.replace("-s 2", "-s 200")  # so that only the signal ends it
        run = subprocess.Popen(
            [POSBENCH, *f"{many} -j 1 -q -o broken --set training.steps=6000".split()],
            cwd=self.folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(run.kill)
        self.assertTrue(until(lambda: text_of(self.folder / "broken/experiments.jsonl").count("\n") >= 1))
        running = posbench("report broken", self.folder)
        self.assertRegex(running.stdout, r"broken: \d+ of 800 experiments")
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, error)
        finished = text_of(self.folder / "broken/experiments.jsonl").count("\n")
        self.assertIn(f"broken: {finished} of 800 experiments", posbench("report broken", self.folder).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
