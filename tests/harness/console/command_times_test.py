"""Tests that commands take few seconds of CPU time.

command_times_test.py POSBENCH
"""

import re
import resource
import unittest

from console_case import Console, posbench


class CommandTimes(Console):
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
