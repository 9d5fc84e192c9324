"""Tests unknown names, names in any case, and help texts.

names_and_help_test.py POSBENCH
"""

import re
import unittest

from console_case import Console, posbench


class NamesAndHelp(Console):
    def test_unknown_commands_and_options_name_the_nearest(self):
        self.refused("runn", "unknown command 'runn'; did you mean 'run'?")
        self.refused("RUN", "did you mean 'run'?")
        self.refused("-q", "no command is given (usage: posbench COMMAND")
        self.refused("version", "did you mean '--version'?")
        self.refused("run --seed 3", "unknown option '--seed' of 'posbench run'; did you mean '--seeds'?")
        self.refused("run --enc rope", "did you mean '--encodings'?")
        self.refused("--versoin", "unknown option '--versoin' of 'posbench'; did you mean '--version'?")
        self.refused("report full -x", "unknown option '-x' of 'posbench report'")
        self.refused("run --set modle.width=3", "did you mean 'model.width'?")
        self.refused("run --set width=3", "did you mean 'model.width'?")
        self.refused("run -e ropee", "did you mean 'rope'?")
        self.refused("report full --format htlm", "'htlm' is not one of", "did you mean 'html'?")
        self.refused("help runn", "did you mean 'run'?")
        self.refused("report full --format csv --format json", "--format is given more than once; give it once")
        self.refused("run --set model.width=8 --sweep model.width=16,32", "--set and --sweep both have model.width")
        self.refused("bench --samples --sizes tiny", "--sizes excludes --samples")
        self.refused(["golden", "rope", "--positions", ""], "--positions is empty, expected ascending numbers")
        self.refused(["golden", "rope", "--arrays", ""], "--arrays is empty, expected some of ")
        self.refused("show layers:of=", "of is '', expected two or more encodings")
        self.refused(["report", ""], "the path is empty, expected a file or a folder")
        self.refused(
            "board -t grammar -q", "the board has no result of 'grammar'; 'posbench run -t grammar' makes some"
        )
        self.refused("forward full parity_check rope --model-output m.npz", "expected the extension .safetensors")
        self.refused("sample counting -n 0", "--count: '0' is not a number from 1 to 1000000")
        self.refused("compare full full --alpha 2", "--alpha: '2' is not a number from 1e-09 to 0.5")
        self.refused("inspect full mqar rope", "the run has models/even_pairs-none-0.safetensors, ")
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
        shown = posbench("show ROPE", self.folder)
        self.assertEqual((shown.returncode, shown.stdout), (0, posbench("show rope", self.folder).stdout))
        self.assertEqual(posbench("sample Flip_Flop -n 1 --json", self.folder).returncode, 0)
        self.assertIn("pass rope ", posbench("check RoPE", self.folder).stdout)
        self.assertEqual(posbench("inspect full Parity_Check ROPE", self.folder).returncode, 0)

    def test_help_of_a_command_equals_the_output_of_its_help_flag(self):
        for text, flag in (("help run", "run --help"), ("help", "--help")):
            shown, flagged = posbench(text, self.folder), posbench(flag, self.folder)
            self.assertEqual((shown.returncode, shown.stdout), (0, flagged.stdout), shown.stderr)
            self.assertEqual(flagged.returncode, 0, flagged.stderr)

    def test_help_shows_every_choice_and_default(self):
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
