"""Tests the effects of options, and the files that commands write.

option_effects_test.py POSBENCH
"""

import json
import unittest

from console_case import REFERENCE, RUN, Console, posbench


class OptionEffects(Console):
    def test_lists_add_up_and_numbers_have_exponents(self):
        once = posbench("run -e cope,rope -t flip_flop,parity_check --show-config", self.folder).stdout
        twice = posbench("run -e cope -e rope -t flip_flop -t parity_check --show-config", self.folder).stdout
        self.assertEqual(once, twice)
        self.assertEqual(json.loads(twice)["encodings"], ["cope", "rope"])
        steps = posbench("run --set training.steps=1e3 --show-config", self.folder)
        self.assertEqual(json.loads(steps.stdout)["training"]["steps"], 1000)
        self.refused("run --set training.steps=1e-3", "training: steps is '1e-3', expected an integer")

    def test_a_variable_selects_the_instruction_set(self):
        if "instruction set x86-64" in posbench("--version", self.folder).stdout:  # other builds have one set
            self.assertIn("instruction set x86-64-v3)", posbench("--version", self.folder, POSBENCH_ISA="v3").stdout)
        self.assertEqual(posbench("list tasks", self.folder, POSBENCH_ISA="").returncode, 0)
        wrong = posbench("list tasks", self.folder, POSBENCH_ISA="v9")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("POSBENCH_ISA is 'v9'", wrong.stderr)

    def test_a_file_extension_of_no_format_is_refused_with_a_message(self):
        for command in ("report full", "compare full full", "inspect full parity_check rope"):
            self.refused(f"{command} -o x.pdf", "'x.pdf' does not end in .txt, .html, .md,", "--format")
            self.refused(f"{command} -o plain", "'plain' does not end in .txt, .html, .md,")
            self.assertFalse((self.folder / "x.pdf").exists())
        self.assertEqual(posbench("report full -o x.pdf --format markdown", self.folder).returncode, 0)
        self.assertTrue((self.folder / "x.pdf").read_text().startswith("| encoding |"))
        (self.folder / "x.pdf").unlink()

    def test_sample_names_its_stream(self):
        for stream, said in (
            ("train", "stream train of flip_flop, seed 0: the samples that a run trains on"),
            ("ood_sparse", "stream test:ood_sparse of flip_flop, seed 0: the samples that a run tests on"),
        ):
            self.assertTrue(posbench(f"sample flip_flop --stream {stream}", self.folder).stdout.startswith(said))
        self.refused("sample flip_flop --stream sparse", "train, validation, its splits:")

    def test_report_selects_tasks_encodings_and_splits(self):
        rows = self.rows("report full -t parity_check -e 'r*' --split ood_length".replace("'", ""))
        self.assertEqual({(row["task"], row["encoding"]) for row in rows}, {("parity_check", "rope")})
        self.assertEqual({row["split"] for row in rows if row["kind"] != "grid"}, {"in_distribution", "ood_length"})
        whole = self.rows("report full")
        self.assertEqual(rows, [row for row in whole if row in rows])
        self.assertEqual(self.rows("report full -e all,-none"), [row for row in whole if row["encoding"] == "rope"])
        self.refused("report full -e ropee", "the reports have no encoding 'ropee'; did you mean 'rope'?")
        self.refused("report full -t flip_flop", "the reports have no task 'flip_flop'")
        self.refused("report full --split near", "the reports have no split 'near'", "ood_length")
        without = [row for row in whole if row["split"] != "ood_length"]
        self.assertEqual(self.rows("report full --split=-ood_length"), without)
        self.assertEqual(self.rows("report full --encodings=-none"), self.rows("report full -e ROPE"))
        self.assertEqual(self.rows("report full -e rotary"), self.rows("report full -e rope"))

    def test_two_encodings_of_one_report_are_compared(self):
        rows = self.rows(f"compare {REFERENCE} --between cope,rope")
        self.assertEqual({(row["encoding"], row["candidate_encoding"]) for row in rows}, {("cope", "rope")})
        self.assertNotIn("same", {row["verdict"] for row in rows if row["task"] == "last_x_retrieval"})
        one = self.rows(f"compare {REFERENCE} --between cope,rope -t last_x_retrieval --split ood_far4")
        self.assertEqual(one, [row for row in rows if (row["task"], row["split"]) == ("last_x_retrieval", "ood_far4")])
        self.assertEqual(len(one), 1)
        self.assertEqual(self.rows(f"compare {REFERENCE} --between CoPE,rotary"), rows)
        self.refused(f"compare {REFERENCE} --between cope,ropee -q", "have no encoding 'ropee'; did you mean 'rope'?")
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

    def test_list_only_lists_the_experiments_and_runs_nothing(self):
        listed = posbench(f"{RUN} --list-only -o nothing", self.folder)
        self.assertEqual(len(listed.stdout.splitlines()), 8)
        self.assertEqual(listed.stdout.splitlines()[0], "parity_check none 0")
        self.assertFalse((self.folder / "nothing").exists())
        self.assertEqual(len(posbench(f"{RUN} --list-only --shard 1/4", self.folder).stdout.splitlines()), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
