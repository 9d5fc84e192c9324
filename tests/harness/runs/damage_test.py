"""Changes single bytes of the files of a run. A change is refused with exit code 2 and the name of the file, or it has no effect.

    damage_test.py POSBENCH [--changes N] [--seed S]

N random bytes of experiments.jsonl change before a resume, and N random digits of counts and accuracies in report.json
before `posbench check`. 300 of each take several minutes.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RUN = ["run", "--profile", "smoke", "-t", "flip_flop,last_x_retrieval", "-e", "none,rope", "-q", "-j", "1"]
RUN += ["--set", "training.steps=4", "--set", "training.validate_every=2", "--learning-rates", "1e-3,1e-2"]
RUN += ["--trace-loss", "-o", "run"]
# The keys under which report.json has counts, accuracies and their places. Other numbers cannot be computed again.
COUNTS = ["correct", "total", "sequences", "accuracy", "low", "high", "length", "distance", "position", "chance"]
COUNTS += ["validation_token", "validation_sequence", "constant", "last_token", "bag_of_tokens", "mean", "values"]
COUNTS += ["solved", "late_gain", "diverged", "failed"]


def posbench(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stderr.decode(errors="replace")


def report(folder):
    """Returns the report without context and times."""
    whole = json.loads((folder / "run/report.json").read_bytes())
    return {key: value for key, value in whole.items() if key not in ("context", "timing")}


def leaves(value, keys=()):
    """Returns the numbers of a JSON value by their keys."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {path: leaf for key, item in items for path, leaf in leaves(item, (*keys, key)).items()}
    return {keys: value}


def changed_key(before, after):
    """Returns the name of the only number that differs in two reports; None if it is another value."""
    try:
        after = leaves(json.loads(after))
    except ValueError:
        return None
    changed = [path for path in before if before[path] != after.get(path)]
    if len(changed) != 1 or changed[0][0] in ("context", "config", "timing"):
        return None
    if any(name in changed[0] for name in ("loss", "margin")):
        return None
    return next(key for key in reversed(changed[0]) if isinstance(key, str))


class Damage:
    def __init__(self, program, base, seed):
        self.program, self.base, self.random = program, base, random.Random(seed)
        self.whole = base / "whole"
        self.whole.mkdir()
        code, message = posbench(program, self.whole, *RUN)
        assert code == 0, message
        self.expected = report(self.whole)
        code, message = posbench(program, self.whole, "check", "run", "--sample", "1000", "-j", "1")
        assert code == 0, f"the whole report: {message}"

    def copy(self, name, file, data):
        folder = self.base / name
        shutil.copytree(self.whole, folder)
        (folder / "run" / file).write_bytes(data)
        return folder

    def resumes(self, change):
        """Resumes a run with one other byte in a file. Returns what happened."""
        number, file, data, at = change
        folder = self.copy(f"{file.replace('/', '-')}-{number}", file, data)
        code, message = posbench(self.program, folder, *RUN, "--resume")
        if code == 2 and file in message:
            outcome = "refused"
        elif code == 0 and report(folder) == self.expected and (folder / "run" / file).read_bytes() != data:
            outcome = "written again"
        elif code == 0 and report(folder) == self.expected and file == "experiments.jsonl":
            outcome = "without effect"
        else:
            outcome = f"WRONG: byte {at} of {file}: exit code {code} {message}"
        shutil.rmtree(folder)
        return outcome

    def bytes_of(self, file, number):
        """Returns copies of a file with one other byte. Every second change is of a digit to another digit."""
        data = (self.whole / "run" / file).read_bytes()
        digits = [match.start() for match in re.finditer(rb"[0-9]", data)]
        changes = []
        for n in range(number):
            at = self.random.choice(digits) if n % 2 else self.random.randrange(len(data))
            others = [c for c in (b"0123456789" if n % 2 else range(256)) if c != data[at]]
            changes.append((n, file, data[:at] + bytes([self.random.choice(others)]) + data[at + 1 :], at))
        return changes

    def digits_of_report(self, number):
        """Returns reports with another digit in a count or an accuracy."""
        data = (self.whole / "run/report.json").read_bytes()
        before = leaves(json.loads(data))
        digits = [match.start() for match in re.finditer(rb"[0-9]", data)]
        changes = []
        while len(changes) < number:
            at = self.random.choice(digits)
            other = self.random.choice([c for c in b"0123456789" if c != data[at]])
            changed = data[:at] + bytes([other]) + data[at + 1 :]
            key = changed_key(before, changed)
            if key in COUNTS:
                changes.append((len(changes), key, changed, at))
        return changes

    def verifies(self, change):
        number, key, data, at = change
        path = self.base / f"report-{number}.json"
        path.write_bytes(data)
        code, message = posbench(self.program, self.base, "check", path.name, "--sample", "1000", "-j", "1")
        path.unlink()
        if code == 1 or (code == 2 and path.name in message):
            return "refused" if code == 2 else "another value when run again"
        return f"WRONG: {key} at byte {at}: exit code {code} {message}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--changes", type=int, default=40)
    parser.add_argument("--seed", type=int, default=11)
    arguments = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="posbench-test-"))
    try:
        damage = Damage(arguments.program, base, arguments.seed)
        losses = "losses/" + sorted(path.name for path in (damage.whole / "run/losses").iterdir())[0]
        tests = [
            ("bytes of experiments.jsonl", damage.resumes, damage.bytes_of("experiments.jsonl", arguments.changes)),
            ("bytes of a file of losses", damage.resumes, damage.bytes_of(losses, arguments.changes // 4)),
            ("digits of report.json", damage.verifies, damage.digits_of_report(arguments.changes)),
        ]
        wrong = 0
        for name, test, changes in tests:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                outcomes = list(pool.map(test, changes))
            failures = [outcome for outcome in outcomes if outcome.startswith("WRONG")]
            counts = collections.Counter("WRONG" if o in failures else o for o in outcomes)
            print(f"{len(changes)} {name}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
            print("\n".join(failures), flush=True)
            wrong += len(failures)
        return 1 if wrong else 0
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    sys.exit(main())
