"""Replaces, moves and deletes folders of runs, and checks which files remain.

run_folders_test.py POSBENCH [TEST...]
"""

import json
import os
import resource
import shutil

from program_case import LONG, TINY, Case, limit, run_tests


class Force(Case):
    OLD = TINY + ["-e", "none,rope", "--save-models", "-q", "-o", "run"]
    NEW = TINY + ["-e", "alibi", "-s", "5", "-q", "-o", "run", "--force"]

    TUNED = ["--learning-rates", "1e-3,3e-3,1e-2", "--set", "training.tuning_seeds=2"]

    def test_a_run_with_tuning_seeds_is_resumed_after_any_line(self):
        self.posbench(*self.OLD, *self.TUNED)
        whole, report = ((self.folder / "run" / name).read_bytes() for name in ("experiments.jsonl", "report.json"))
        lines = whole.splitlines(keepends=True)
        self.assertEqual([b'"tuning":true' in line for line in lines], [True] * 4 + [False] * (len(lines) - 4))
        self.assertNotIn(b'"tuning":true', report)
        for kept in range(len(lines)):
            (self.folder / "run/experiments.jsonl").write_bytes(b"".join(lines[:kept]))
            self.posbench(*self.OLD, *self.TUNED, "--resume")
            again = json.loads((self.folder / "run/report.json").read_bytes())
            self.assertEqual(again["experiments"], json.loads(report)["experiments"], kept)
        self.posbench("check", "run/report.json")

    def test_a_run_that_cannot_be_replaced_is_still_there(self):
        self.posbench(*self.OLD)
        before = self.files("run")
        done = self.posbench(*self.NEW, code=1, preexec_fn=limit(resource.RLIMIT_FSIZE, 200))
        self.check_one_line(done.stderr)
        self.assertEqual(self.files("run"), before)
        self.posbench(*self.OLD, "--resume")

    def test_a_folder_with_a_temporary_name_does_not_stop_a_run(self):
        self.posbench(*self.OLD)
        (self.folder / "run/.posbench-0000000000000000.tmp").mkdir()
        self.posbench(*self.OLD, "--resume")

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
        self.posbench(*self.OLD, *self.TUNED, "--trace-loss")
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

    def test_a_backup_of_hard_links_keeps_its_bytes(self):
        for words in (self.NEW, [*self.OLD, "--resume"], ["merge", "other", "-o", "run", "--force"]):
            with self.subTest(words=words):
                for name in ("run", "other", "backup"):
                    shutil.rmtree(self.folder / name, ignore_errors=True)
                self.posbench(*self.OLD)
                shutil.copytree(self.folder / "run", self.folder / "other")
                lines = (self.folder / "run/experiments.jsonl").read_bytes()
                (self.folder / "run/experiments.jsonl").write_bytes(lines[: lines.index(b"\n") + 9])
                shutil.copytree(self.folder / "run", self.folder / "backup", copy_function=os.link)
                before = self.files("backup")
                self.posbench(*words)
                self.assertEqual(self.files("backup"), before)
                self.assertNotEqual(self.files("run"), before)


class Folders(Case):
    def test_a_run_whose_manifest_was_deleted_ends_with_a_message(self):
        process = self.start(*LONG)
        self.wait_for(lambda: len(self.lines()) >= 1, process)
        (self.folder / "run/manifest.json").unlink()
        message = process.stderr.read().decode()
        self.assertEqual(process.wait(), 1, message)
        self.assertIn("'run/manifest.json' was deleted while the run used it", message)

    def test_an_empty_disk_takes_a_run_and_a_merge(self):
        for name in ("run", "merged"):
            (self.folder / name / "lost+found").mkdir(parents=True)
        self.posbench(*TINY, "-e", "none", "-q", "-o", "run")
        self.posbench("merge", "run", "-q", "-o", "merged")
        self.assertTrue((self.folder / "run/lost+found").is_dir() and (self.folder / "merged/lost+found").is_dir())

    def test_no_message_about_a_strangers_folder_advises_what_fails(self):
        self.posbench(*TINY, "-e", "none", "-q", "-o", "run")
        for file, text in (("notes.txt", "mine"), ("manifest.json", "{}")):
            (self.folder / file).mkdir()
            (self.folder / file / file).write_text(text)
            for command in ([*TINY, "-q"], ["merge", "run"], ["site"]):
                with self.subTest(file=file, command=command[0]):
                    message = self.posbench(*command, "-o", file, code=2).stderr.decode()
                    self.assertNotIn("--force", message)
                    self.assertIn("choose another", message)

    def test_runs_that_start_at_once_take_different_folders(self):
        started = [self.start(*TINY, "-e", "none", "-q") for _ in range(6)]
        self.assertEqual([process.wait() for process in started], [0] * 6, started[0].stderr.read())
        runs = list((self.folder / "runs").iterdir())
        self.assertEqual(len(runs), 6)
        self.assertTrue(all((run / "report.json").exists() for run in runs))

    def test_a_run_whose_folder_was_made_again_leaves_the_new_run_alone(self):
        first = self.start(*LONG)
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


if __name__ == "__main__":
    run_tests()
