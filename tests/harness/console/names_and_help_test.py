"""Tests unknown names, names in any case, and help texts.

names_and_help_test.py POSBENCH
"""

import json
import re
import unittest

from console_case import Console, posbench


class NamesAndHelp(Console):
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
        self.refused("report full --format htlm", "'htlm' is not one of", "did you mean 'html'?")
        self.refused("help run", "'posbench help' was removed; use 'posbench COMMAND --help'")
        self.refused("separation full", "'posbench separation' was removed; use 'posbench report RUN --separation'")
        self.refused("report full --format csv --format json", "--format is given more than once; give it once")
        self.refused("run --set model.width=8 --sweep model.width=16,32", "--set and --sweep both have model.width")
        self.refused("list tasks --json --markdown", " excludes ")
        self.refused("run --keep-going", "--keep-going was removed; use a pattern such as -t all")
        self.refused(["export", "rope", "--positions", ""], "--positions is empty, expected ascending numbers")
        self.refused(["export", "rope", "--arrays", ""], "--arrays is empty, expected some of ")
        self.refused(["report", ""], "the path is empty, expected a file or a folder")
        self.refused(
            "board -t grammar -q", "the board has no result of 'grammar'; 'posbench run -t grammar' makes some"
        )
        self.refused("export full parity_check rope --model-output m.npz", "expected the extension .safetensors")
        self.refused("sample counting -n 0", "--count: '0' is not a number from 1 to 1000")
        self.refused("compare full full --alpha 2", "--alpha: '2' is not a number from 1e-09 to 0.5")
        self.refused("inspect full mqar rope", "the run has models/even_pairs-none-0.safetensors, ")
        version = posbench("-V", self.folder)
        self.assertIn("commit", version.stdout)
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
        shown = posbench("show ROPE", self.folder)
        self.assertEqual((shown.returncode, shown.stdout), (0, posbench("show rope", self.folder).stdout))
        self.assertEqual(posbench("sample Flip_Flop -n 1 --json", self.folder).returncode, 0)
        self.assertIn("pass rope ", posbench("check RoPE", self.folder).stdout)
        self.assertEqual(posbench("inspect full Parity_Check ROPE", self.folder).returncode, 0)

    def commands(self):
        overview = posbench("--help", self.folder).stdout
        return re.findall(r"^  (\w+) ", overview[overview.index("Commands:") : overview.index("Examples:")], re.M)

    def complete(self, *words):
        """Returns the kind of what completes the last word, and the words."""
        kind, *lines = posbench(["--complete", *words], self.folder).stdout.splitlines()
        return kind, [line.split("\t")[0] for line in lines]

    def test_help_reference_and_completion_have_every_option(self):
        self.assertEqual(posbench("", self.folder).stdout, posbench("--help", self.folder).stdout)
        reference = posbench("--help --markdown", self.folder).stdout
        self.assertLess(len(reference), 25_000)
        commands = self.commands()
        self.assertEqual(self.complete("")[1], commands)
        for command in commands:
            text = posbench(f"{command} --help", self.folder).stdout
            self.assertIn("\nExamples:\n", text)
            options = re.findall(r"^  (-.*?)(?:  |$)", text.split("\nExamples:")[0], re.M)
            names = [name for option in options for name in re.findall(r"(?<!\S)--?[a-zA-Z][\w-]*", option)]
            self.assertEqual(sorted(self.complete(command, "-")[1]), sorted(names))
            section = reference.split(f"\n### {command}\n")[1].split("\n#")[0] + reference.split("\n### ")[0]
            for name in set(names) - {"-h", "--help"}:
                self.assertRegex(section, rf"[ `]{name}\b", command)

    def test_every_kind_of_value_completes(self):
        def listed(kind, *keys):
            lists = json.loads(posbench(f"list {kind} --json", self.folder).stdout)
            return [entry["name" if kind == "settings" else "id"] for key in keys for entry in lists[key]]

        encodings = listed("encodings", "encodings", "presets")
        tasks = listed("tasks", "tasks")
        for words, expected in (
            (("run", "-t", ""), tasks),
            (("run", "-e", ""), encodings),
            (("run", "-t", "flip_flop,"), [f"flip_flop,{task}" for task in tasks]),
            (("check", "x", ""), encodings + tasks),
            (("show", ""), encodings + tasks + ["quick", "ood_far4", "training.steps", "margin", "weaker"]),
            (("run", "--profile", ""), listed("profiles", "profiles")),
            (("run", "--set", ""), [f"{name}=" for name in listed("settings", "settings")]),
            (("run", "-e", "rope:base=16,"), ["rope:base=16,axial=", "rope:base=16,cope"]),
            (("run", "--encodings=co"), ["--encodings=cope"]),
            (("report", "x", "--split", "ood_f"), ["ood_far4"]),
            (("board", "--family", ""), ["rotary", "absolute"]),
            (("board", "--aspects", "recall,"), ["recall,counting", "recall,state_tracking"]),
            (("reproduce", "cope-"), ["cope-flip-flop-longer"]),
            (("report", "--format", ""), ["csv", "html"]),
            (("list", ""), ["tasks", "encodings", "profiles", "settings"]),
        ):
            kind, found = self.complete(*words)
            self.assertEqual((kind, set(expected) - set(found)), ("words", set()), words)
            self.assertTrue(all(word.startswith(words[-1]) for word in found), words)
        for words, expected in (
            (("run", "--seeds", ""), "words"),
            (("compare", "--alpha", ""), "words"),
            (("board", "--aspects", "file"), "words"),
            (("unknown", ""), "words"),
            (("run", "--config", ""), "file "),
            (("run", "--config=x"), "file --config="),
            (("run", "-o", ""), "folder "),
            (("report", "one", "two"), "file "),
        ):
            self.assertEqual(self.complete(*words), (expected, []))

    def test_an_output_may_have_the_name_of_a_word_that_is_no_file(self):
        ranked = "board --aspects counting --format csv -o counting"
        for _ in range(2):
            self.assertEqual(posbench(ranked, self.folder).returncode, 0)
        self.refused("report full/report.json -o full/report.json --format csv", "an input of this command")

    def test_help_shows_every_choice_and_default(self):
        for command in self.commands():
            text = posbench(f"{command} --help", self.folder).stdout
            for technical in ("ENUM", "value in {", "INT:", "TEXT:", "OR {"):
                self.assertNotIn(technical, text.split("Examples:")[0], command)
            for entry in re.split(r"\n  (?=-)", text.split("\nExamples")[0])[1:]:
                entry = re.sub(r"\s+", " ", entry.split("\n\n")[0])
                if re.match(r"(-\w, )?--[\w-]+(, --[\w-]+)* [A-Z]{3,}\b", entry):  # it takes a value
                    self.assertRegex(entry, r"\[(default: .+|required)\]", f"{command}: {entry}")
        compare = re.sub(r"\s+", " ", posbench("compare --help", self.folder).stdout)
        self.assertIn("-o, --output FILE output file, whose extension selects the format", compare)
        self.assertIn(
            "; one of console, html, markdown, csv, json, plots, latex [default: that of the file's ext", compare
        )
        self.assertIn("in a comparison of equal runs; 1e-09 to 0.5 [default: 0.05]", compare)


if __name__ == "__main__":
    unittest.main(verbosity=2)
