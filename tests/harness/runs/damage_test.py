"""Changes single bytes and bits of files. A change is refused with exit code 2 and the name of the file, or it has no effect.

    damage_test.py POSBENCH [--changes N] [--seed S]

N random bytes of experiments.jsonl change before a resume; N random bits of manifest.json, report.json, samples, vectors
and their manifests before a command reads them; and N random digits of counts and accuracies in report.json, whose checksum
was deleted, before `posbench check`. 300 of each take several minutes.
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
SPLITS = ["in_distribution", "ood_dense", "ood_sparse", "ood_length", "ood_sparse_length"]
LOGITS = ["export", "run", "flip_flop", "none", "--initial", "-n", "4"]
EXPORTS = [[*LOGITS, "--split", split, "-o", f"{split}.safetensors"] for split in SPLITS]
EXPORTS += [["export", "rope", "--length", "2", "-o", "rope.json"]]
SCORE = ["score", *(f"{s}.safetensors" for s in SPLITS), "-o", "out"]
# The files whose bits change, and the commands that read them.
READS = {
    "run/manifest.json": ["run", "--resume", "-o", "run", "-q"],
    "run/report.json": ["report", "run", "--format", "csv", "-o", "out"],
    "in_distribution.safetensors": SCORE,
    "in_distribution.safetensors.manifest.json": SCORE,
    "rope.json": ["check", "rope", "--length", "2", "--against", "rope.json"],
}
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
    return {key: value for key, value in whole.items() if key not in ("context", "timing", "crc32")}


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
        self.outputs = {}
        for words in (["check", "run", "--sample", "1000", "-j", "1"], *EXPORTS, *READS.values()):
            code, message = posbench(program, self.whole, *words)
            assert code == 0, f"{words}: {message}"
            self.outputs.update({file: self.output(self.whole) for file in READS if READS[file] == words})
            (self.whole / "out").unlink(missing_ok=True)

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
        """Returns reports without a checksum and with another digit in a count or an accuracy."""
        data = re.sub(rb',\n "crc32": "\w+"', b"", (self.whole / "run/report.json").read_bytes())
        before = leaves(json.loads(data))
        # `check` compares accuracies to six decimals, which is what reports of earlier versions have.
        digits = [match.start() for match in re.finditer(rb"[0-9]", data)]
        digits = [at for at in digits if not re.search(rb"\.\d{6,}$", data[at - 24 : at])]
        changes = []
        while len(changes) < number:
            at = self.random.choice(digits)
            other = self.random.choice([c for c in b"0123456789" if c != data[at]])
            changed = data[:at] + bytes([other]) + data[at + 1 :]
            key = changed_key(before, changed)
            if key in COUNTS:
                changes.append((len(changes), key, changed, at))
        return changes

    def bits_of(self, file, number):
        """Returns copies of a file with one other bit."""
        data = (self.whole / file).read_bytes()
        for n in range(number):
            at, bit = self.random.randrange(len(data)), 1 << self.random.randrange(8)
            yield n, file, data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :], at

    def reads(self, change):
        """Reads a file with one other bit. The command in READS writes the file `out`."""
        number, file, data, at = change
        folder = self.base / f"read-{number}-{file.replace('/', '-')}"
        shutil.copytree(self.whole, folder)
        (folder / file).write_bytes(data)
        code, message = posbench(self.program, folder, *READS[file])
        outcome = f"WRONG: byte {at} of {file}: exit code {code} {message}"
        if code in (1, 2) and (file in message or Path(file).name in message):
            outcome = "refused"
        elif code == 0 and self.output(folder) == self.outputs[file]:
            outcome = "without effect"
        shutil.rmtree(folder)
        return outcome

    def output(self, folder):
        """Returns the file `out`, or the report of the run if the command wrote no such file, without times."""
        if not (folder / "out").exists():
            return report(folder)
        text = (folder / "out").read_bytes()
        if text.startswith(b'{\n "schema_version"'):
            return {key: value for key, value in json.loads(text).items() if key not in ("context", "timing", "crc32")}
        return text

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
            *((f"bits of {file}", damage.reads, list(damage.bits_of(file, arguments.changes // 2))) for file in READS),
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
