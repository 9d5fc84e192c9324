"""Runs every example of the help texts.

examples_test.py POSBENCH PLUGIN SOURCE_DIR [COMMAND...]

The examples of a command run in order, in a folder with the files that they name. A script with the name posbench runs the
program there and shortens what takes long, by the rules in SHORTEN. With COMMAND, only the examples of these commands run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM, PLUGIN, SOURCE = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
SELECTED = sys.argv[4:]
ENDED_WITHIN = 1800  # seconds; sanitizers on a busy machine need most of it

SHORTEN = r"""#!/usr/bin/env bash
tiny=(--set training.steps=2 --set training.validation_sequences=4 --set evaluation.sequences=4 --set evaluation.grid=4)
command=$1 arguments=("$@")
[ "$1" = --plugin ] && command=$3
has() { [[ " ${arguments[*]} " == *" $1 "* ]]; }
# Replaces the value of an option, or adds the option.
set_value() {
  for ((n = 0; n < ${#arguments[@]}; n++)); do
    [ "${arguments[n]}" = "$1" ] && arguments[n + 1]=$2 && return
  done
  arguments+=("$1" "$2")
}
case $command in
  run) # a run of many experiments is only estimated
    if ! has --dry-run && ! has --resume; then
      if [ "$("$PROGRAM" "${arguments[@]}" --list-only 2>/dev/null | wc -l)" -gt 60 ]; then
        arguments+=(--dry-run)
      else
        arguments+=("${tiny[@]}")
      fi
    fi
    ;;
  reproduce) has --list || has --judge-only || has --dry-run || arguments+=(--dry-run) ;;
  bench) # small models, few measurements
    arguments+=(-r 1)
    has --sizes && for ((n = 0; n < ${#arguments[@]}; n++)); do
      [ "${arguments[n]}" = --sizes ] && arguments[n + 1]=${arguments[n + 1]%%,*}
    done
    if has --length; then set_value --length 16,32; else set_value --length 16; fi
    ;;
  show) has runs/mine && arguments+=(--allow-different-budget) ;; # it was trained for 2 steps
  check) # the small run, without names two certificates, and no variants, which take minutes
    if has --sample; then arguments[1]=runs/mine && set_value --sample 1; fi
    [ $# = 1 ] && arguments+=(alibi parity_check)
    for n in "${!arguments[@]}"; do [ "${arguments[n]}" = --variants ] && unset "arguments[n]"; done
    ;;
esac
if ! has --plugin && [[ " ${arguments[*]} " =~ [\ /,]mine\  ]]; then arguments=(--plugin ./libmine.so "${arguments[@]}"); fi
exec "$PROGRAM" "${arguments[@]}"
"""


def examples():
    """Returns the examples of each command, in the order of the help. The program's own have the name ''."""

    def text(*words):
        return subprocess.run([PROGRAM, *words, "--help"], check=True, capture_output=True, text=True).stdout

    overview = text()
    found = {}
    for name in ("", *re.findall(r"^  ([a-z]+) ", overview.split("Commands:")[1].split("Examples:")[0], re.M)):
        shown = (text(name) if name else overview).split("\nExamples:\n")[1].split("\n\n")[0]
        lines = shown.replace(" \\\n    ", "").splitlines()
        found[name] = [re.split(r"\s{2,}", line.strip())[0] for line in lines if not line.startswith("   ")]
    return found


def run(command, folder, shell="bash"):
    environment = {**os.environ, "PROGRAM": PROGRAM, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        [shell, "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=ENDED_WITHIN,
    )


def make_files(folder):
    """Makes the files that examples name."""
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin" / "posbench"
    script.write_text(SHORTEN)
    script.chmod(0o755)
    shutil.copy(PLUGIN, folder / "libmine.so")
    (folder / "results").symlink_to(f"{SOURCE}/results")
    suite = "posbench run -t flip_flop -s 2 -q"
    kept = f"{SOURCE}/results/data/claims/runs"
    tasks = json.loads(subprocess.run([PROGRAM, "list", "tasks", "--json"], check=True, capture_output=True).stdout)
    [flip_flop] = [task for task in tasks["tasks"] if task["id"] == "flip_flop"]
    commands = [
        f"{suite} -e cope,rope,mine -o runs/mine --save-models",
        f"{suite} -e cope,rope -o before",
        f"{suite} -e cope,cope:positions=4,rope -o after",
        "posbench export rope:pairing=half_split -o rope.safetensors",
        f"cp {SOURCE}/results/data/reference/report.json mine.json",
        "cp -r before main; cp -r before branch; cp -r runs/mine runs/ours; mkdir claims answers",
        f"ln -s {kept} claims/1; ln -s {kept} claims/2",
        *(
            f"posbench export runs/mine flip_flop cope --split {split} -n 8 -o answers/{split}.safetensors"
            for split in (split["name"] for split in flip_flop["splits"])
        ),
    ]
    for command in commands:
        outcome = run(command, folder)
        assert outcome.returncode == 0, f"{command}: {outcome.stdout}"


def shell_of(command):
    """Returns the shell of an example of a completion, and the command. A shell that is not installed is left out.

    Sourcing the output of a command that fails would succeed, so the command also runs alone."""
    named = re.search(r"posbench completion (\w+)", command)
    if not named:
        return "bash", command
    if not shutil.which(named[1]):
        return "bash", named[0]
    begin = "autoload -U compinit; compinit -u; " if named[1] == "zsh" else ""
    return named[1], f"{begin}{named[0]} >script && {command}"


def main():
    failed = count = 0
    found = examples()
    assert all(found.values()), [name for name in found if not found[name]]
    with tempfile.TemporaryDirectory() as work:
        files = Path(work) / "files"
        make_files(files)
        for name, commands in found.items():
            if SELECTED and (name or "posbench") not in SELECTED:
                continue
            folder = Path(work) / (name or "posbench")
            shutil.copytree(files, folder, symlinks=True)
            if name in ("board", "site"):  # they need a run with the settings of the stored reports
                shutil.rmtree(folder / "runs/mine")
                (folder / "runs/mine").mkdir()
                shutil.copy(f"{SOURCE}/results/data/reference/report.json", folder / "runs/mine")
            if name in ("run", "merge"):
                assert not (folder / "out").exists()
            for command in commands:
                start = time.monotonic()
                shell, text = shell_of(command)
                outcome = run(text, folder, shell)
                count += 1
                word = "passed" if outcome.returncode == 0 else "FAILED"
                print(f"{word} ({time.monotonic() - start:.1f} s): {command}", flush=True)
                if outcome.returncode != 0:
                    failed += 1
                    print(f"exit code {outcome.returncode}\n{outcome.stdout[-3000:]}", flush=True)
    print(f"{count} examples, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
