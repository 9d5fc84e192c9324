"""Kills posbench at random moments of a run, a sweep, an extension, shards and a merge, and repeats the command until it
ends. The result has the bytes of an undisturbed one.

    kill_test.py POSBENCH [--kills N] [--seed S] [-j JOBS]

180 kills take about two minutes, 5,000 about an hour.
"""

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run_files import arguments_of, files
from sanitized import sanitized

SMOKE = ["run", "--profile", "smoke", "-t", "parity_check", "-q"]
SHORT = ["--set", "training.steps=600", "--set", "training.validate_every=200"]
OFTEN = ["--checkpoint-every", "0.005"]
ALWAYS = ["--set", "training.steps=40", "--set", "training.validate_every=20", "--checkpoint-every", "0"]


def shard(k):
    return [*SMOKE, *SHORT, *OFTEN, *arguments_of(f"-e none,rope -s 2 --save-models --shard {k}/2 -j 1 -o {k}")]


# The commands of each scenario, in their order. A run is repeated with --resume, a merge with --force.
SCENARIOS = {
    "run": [
        [*SMOKE, *SHORT, *OFTEN, "-e", "none,cope", "-s", "2", "--save-models", "--trace-loss", "-j", "2", "-o", "run"]
    ],
    "sweep": [[*SMOKE, *ALWAYS, "-e", "rope", "--sweep", "model.width=8,16", "--trace-loss", "-j", "2", "-o", "run"]],
    "extend": [
        [*SMOKE, *ALWAYS, "-e", "rope", "-s", "2", "--extend", "interpolated,none", "--set", "extend.steps=20"]
        + ["--save-models", "--trace-loss", "-j", "2", "-o", "run"]
    ],
    "learning rates": [
        [*SMOKE, *SHORT, *OFTEN, "-e", "cope", "--learning-rates", "1e-3,1e-2,3e-3", "--save-models", "--trace-loss"]
        + ["-j", "1", "-o", "run"]
    ],
    "sgd": [
        [*SMOKE, *SHORT, *OFTEN, "-e", "none,rope", "--set", "training.optimizer=sgd", "--save-models"]
        + ["-j", "1", "-o", "run"]
    ],
    "shards and merge": [shard("1"), shard("2"), ["merge", "1", "2", "-o", "all"]],
}


# The most kills of a command before it may end. Without this limit, a slow machine would spend all kills on one command.
KILLS_OF_A_COMMAND = 6
# A scenario in which no kill has left a checkpoint continues, up to this multiple of the kills that were asked for.
MOST_KILLS = 10


def start(program, folder, words):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen([program, *words], cwd=folder, **quiet)


def finish(process):
    message = process.stderr.read().decode(errors="replace")
    process.stderr.close()
    return process.wait(), message


class Scenario:
    def __init__(self, program, base, name, commands, rng):
        self.program, self.base, self.name, self.commands, self.random = program, base, name, commands, rng
        self.kills = self.ends = self.checkpoints = self.temporaries = self.lines = 0
        self.wrong = []
        self.seconds = []
        undisturbed = base / "undisturbed"
        undisturbed.mkdir()
        for words in commands:
            begin = time.monotonic()
            code, message = finish(start(program, undisturbed, words))
            assert code == 0, message
            self.seconds.append(time.monotonic() - begin)
        self.expected = files(undisturbed)

    def look(self, folder):
        """Counts what kills left behind, to show that they come at different moments."""
        self.checkpoints += any(folder.glob("*/checkpoints/*.safetensors"))
        self.temporaries += any(folder.rglob(".posbench-*.tmp"))
        self.lines += any(path.stat().st_size > 0 for path in folder.glob("*/experiments.jsonl"))

    def unfinished(self, kills):
        return self.kills < kills or (not self.checkpoints and self.kills < MOST_KILLS * kills)

    def repeat(self, folder, number, kills):
        """Repeats a command until it ends. Returns an error or ""."""
        words = self.commands[number]
        words = [*words, "--force" if words[0] == "merge" else "--resume"]
        for attempt in itertools.count():
            kill = attempt < KILLS_OF_A_COMMAND and self.unfinished(kills)
            process = start(self.program, folder, words)
            if kill:
                time.sleep(self.random.uniform(0, 1.2 * self.seconds[number]))  # some commands end before
                process.kill()
            code, message = finish(process)
            if code == 0:
                return ""
            if code != -9:
                return f"{' '.join(words)} ended with {code} after {self.kills} kills: {message}"
            self.kills += 1
            self.look(folder)

    def test(self, kills):
        while (self.unfinished(kills) or self.ends == 0) and not self.wrong:
            folder = self.base / "killed"
            folder.mkdir()
            for number in range(len(self.commands)):
                error = self.repeat(folder, number, kills)
                if error:
                    self.wrong.append(error)
                    break
            else:
                self.ends += 1
                found = files(folder)
                self.wrong += [
                    f"{name} differs from that of the undisturbed run"
                    for name in sorted({*found, *self.expected})
                    if found.get(name, "missing") != self.expected.get(name, "missing")
                ]
            if not self.wrong:
                shutil.rmtree(folder)

    def summary(self):
        return (
            f"{self.name}: {self.kills} kills, {self.ends} ends with the same bytes; after the kills there was a checkpoint "
            f"{self.checkpoints} times, a temporary file {self.temporaries} times, a finished experiment {self.lines} times"
        )


def run_scenario(program, name, kills, seed):
    base = Path(tempfile.mkdtemp(prefix="posbench-test-"))
    try:
        scenario = Scenario(program, base, name, SCENARIOS[name], random.Random(seed))
        scenario.test(kills)
    finally:
        shutil.rmtree(base)
    if not scenario.checkpoints:
        scenario.wrong.append(f"{name}: no kill left a checkpoint")
    print("\n".join([scenario.summary(), *scenario.wrong]), flush=True)
    return scenario


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=180)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="scenarios at once")
    arguments = parser.parse_args()
    kills = arguments.kills // 4 if sanitized(arguments.program) else arguments.kills
    begin = time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        futures = []
        for n, name in enumerate(SCENARIOS):
            of_scenario = kills // len(SCENARIOS) + (n < kills % len(SCENARIOS))
            futures.append(pool.submit(run_scenario, arguments.program, name, of_scenario, arguments.seed + n))
        scenarios = [future.result() for future in futures]
    total = sum(scenario.kills for scenario in scenarios)
    print(f"{total} kills in {time.monotonic() - begin:.0f} s (--seed {arguments.seed})")
    return 1 if any(scenario.wrong for scenario in scenarios) else 0


if __name__ == "__main__":
    sys.exit(main())
