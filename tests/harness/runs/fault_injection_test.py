"""Kills posbench at each system call that changes a file, and lets each such call fail, in a run, a resumed run, a
replaced run, a merge and a report. No finished result is lost, and a repetition gives the bytes of an undisturbed run.

    fault_injection_test.py POSBENCH

Skipped, with exit code 77, if strace is missing or may not trace, and under sanitizers, which make more system calls.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from run_files import arguments_of, files
from sanitized import sanitized

PROGRAM = os.path.abspath(sys.argv[1])
CALLS = ["mkdir", "openat", "write", "ftruncate", "fsync", "rename", "unlink", "rmdir", "flock"]
FAULTS = ["signal=KILL", "error=ENOSPC"]
RUN = arguments_of(
    "run --profile smoke -t parity_check -e none --set training.steps=2 --set training.validate_every=2 --save-models "
    "--checkpoint-every 0 -q -j 1 -o run"
)
OTHER = [word.replace("none", "rope") for word in RUN]


def strace(folder, options, words):
    log = folder.parent / (folder.name + ".strace")
    code, message = posbench(folder, words, ["strace", "-f", "-o", log, *options])
    return code, message, log.read_text(errors="replace")


def posbench(folder, words, tracer=()):
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    done = subprocess.run([*tracer, PROGRAM, *words], cwd=folder, timeout=300, **quiet)
    return done.returncode, done.stderr.decode(errors="replace")


class Scenario:
    """A situation, the command in which the fault happens, and the condition that must hold after it."""

    def __init__(self, name, words, prepare, check):
        self.name, self.words, self.prepare, self.check = name, words, prepare, check

    def calls(self, base):
        """Returns the calls of the undisturbed command, from the first that can change a file of the run."""
        folder = base / f"{self.name}-undisturbed"
        shutil.copytree(self.prepare, folder)
        code, message, log = strace(folder, ["-e", "trace=" + ",".join(CALLS)], self.words)
        assert code == 0, message
        counts, wanted = collections.Counter(), []
        for line in log.splitlines():
            call = re.match(r"\d+ +(\w+)\((.*)", line)
            if not call or call[1] not in CALLS:
                continue
            counts[call[1]] += 1
            reads = call[1] == "openat" and not re.search(r"O_CREAT|O_WRONLY|O_RDWR", call[2])
            if not reads:
                wanted.append((call[1], counts[call[1]]))
        return wanted

    def inject(self, base, call, number, fault):
        folder = base / f"{self.name}-{call}-{number}-{fault.replace('=', '-')}"
        shutil.copytree(self.prepare, folder)
        code, message, _ = strace(
            folder, ["-e", f"trace={call}", "-e", f"inject={call}:{fault}:when={number}"], self.words
        )
        case = f"{self.name}: {fault} at {call} {number}: "
        if fault.startswith("error") and code not in (0, 1):
            return f"{case}exit code {code}: {message}"
        wrong = self.check(folder, code)
        if wrong:
            return case + wrong
        shutil.rmtree(folder)
        return ""


def main():
    if shutil.which("strace") is None:
        print("skipped: no strace (Debian: strace)")
        return 77
    if subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: strace may not trace here")
        return 77
    if sanitized(PROGRAM):
        print("skipped: faults would hit the system calls of the sanitizer")
        return 77
    base = Path(tempfile.mkdtemp(prefix="posbench-test-")).resolve()  # strace prints resolved paths
    try:
        return test(base)
    finally:
        shutil.rmtree(base)


def test(base):
    nothing, whole, begun, shards, merged = (base / name for name in ("nothing", "whole", "begun", "shards", "merged"))
    nothing.mkdir()
    for folder, commands in (
        (whole, [RUN]),
        (shards, [[w if w != "run" or i == 0 else "one" for i, w in enumerate(RUN)] + ["--trace-loss"]]),
    ):
        folder.mkdir()
        for words in commands:
            code, message = posbench(folder, words)
            assert code == 0, message
    shutil.copytree(shards, merged)
    code, message = posbench(merged, ["merge", "one", "-o", "all"])
    assert code == 0, message
    # Begun: killed when its line is to be written.
    begun.mkdir()
    other = base / "other"
    other.mkdir()
    code, message = posbench(other, OTHER)
    assert code == 0, message
    expected, expected_other = files(whole / "run"), files(other / "run")
    expected_merged = files(merged / "all")
    code, _, log = strace(begun, ["-y", "-e", "trace=write", "-e", "inject=write:signal=KILL:when=4"], RUN)
    assert code != 0 and (begun / "run/manifest.json").exists()

    def resumes(folder, code):
        code, message = posbench(folder, RUN + ["--resume"])
        if code != 0:
            return f"--resume ended with {code}: {message}"
        return "" if files(folder / "run") == expected else "--resume left something else"

    def old_or_new(folder, code):
        """The old run is complete, or the new one has replaced it and can be resumed."""
        code, message = posbench(folder, RUN + ["--resume"])
        if code == 0:
            return "" if files(folder / "run") == expected else "the old run is incomplete"
        if "holds another configuration" not in message:
            return f"--resume of the old run ended with {code}: {message}"
        code, message = posbench(folder, OTHER + ["--resume"])
        if code != 0:
            return f"--resume of the new run ended with {code}: {message}"
        return "" if files(folder / "run") == expected_other else "--resume of the new run left something else"

    def merges(folder, code, name="merge"):
        before = files(shards / "one")
        if files(folder / "one") != before:
            return "what was merged has changed"
        # A merge whose summary cannot be printed is complete.
        is_left = (folder / "all").exists() and files(folder / "all") != expected_merged
        if is_left and code == 1 and name == "merge":
            return f"left {[p.name for p in (folder / 'all').iterdir()]}"
        words = ["merge", "one", "-o", "all"]
        replaces = (folder / "all/manifest.json").exists() or (folder / "all/manifest.json.replaced").exists()
        if replaces and name == "merge" and files(folder / "all") != expected_merged:
            return "left part of a run"
        code, message = posbench(folder, words + ["--force"] if replaces else words)
        if code != 0:
            return f"a second merge ended with {code}: {message}"
        return "" if files(folder / "all") == expected_merged else "a second merge left something else"

    def reports(folder, code):
        text = (folder / "report.csv").read_bytes()
        left = [p.name for p in folder.iterdir() if p.name not in ("run", "report.csv")]
        if left and code == 1:
            return f"left {left}"
        new = posbench(folder, ["report", "run", "-o", "new.csv"])[0] == 0 and (folder / "new.csv").read_bytes()
        return "" if text in (b"old\n", new) else "the file is neither the old nor the new one"

    reported = base / "reported"
    shutil.copytree(whole, reported)
    (reported / "report.csv").write_text("old\n")
    scenarios = [
        Scenario("run", RUN, nothing, resumes),
        Scenario("resume", RUN + ["--resume"], begun, resumes),
        Scenario("force", OTHER + ["--force"], whole, old_or_new),
        Scenario("merge", ["merge", "one", "-o", "all"], shards, merges),
        Scenario("merge-force", ["merge", "one", "-o", "all", "--force"], merged, partial(merges, name="merge-force")),
        Scenario("report", ["report", "run", "-o", "report.csv"], reported, reports),
    ]
    work = [(scenario, *call, fault) for scenario in scenarios for call in scenario.calls(base) for fault in FAULTS]
    if "--all" not in sys.argv:
        work = work[::3]  # a third of them; an odd stride takes both faults in turn
    injected = {(scenario.name, fault) for scenario, _, _, fault in work}
    assert injected == {(scenario.name, fault) for scenario in scenarios for fault in FAULTS}, injected
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = list(filter(None, pool.map(lambda w: w[0].inject(base, *w[1:]), work)))
    wrong += synced(base) + fewer_threads(base) + ended(whole) + lesser_file_systems(base, reported)
    counts = collections.Counter(w[0].name for w in work)
    print(", ".join(f"{count} faults in {name}" for name, count in counts.items()))
    print("\n".join(wrong))
    return 1 if wrong else 0


def ended(whole):
    """A signal that ends a command while it writes a file leaves the old file and no temporary one."""
    wrong = []
    for words in (
        ["report", "run", "-o", "x.html"],
        ["report", "run", "-o", "x.csv"],
        ["compare", "run", "run", "-o", "x.md"],
        ["export", "rope", "-o", "x.json"],
        ["export", "rope", "-o", "x.safetensors"],
        ["export", "parity_check", "-n", "9", "-o", "x.safetensors"],
        ["export", "parity_check", "-n", "9", "-o", "x.jsonl"],
        ["export", "run", "parity_check", "none", "-n", "9", "-o", "x.safetensors"],
        ["inspect", "run", "parity_check", "none", "-o", "x.html"],
    ):
        (whole / words[-1]).write_text("old\n")
        before = files(whole)
        for signal in ("TERM", "INT", "HUP"):
            code, message, _ = strace(whole, ["-e", "trace=fsync", "-e", f"inject=fsync:signal={signal}:when=1"], words)
            if code == 0 or files(whole) != before:
                wrong.append(
                    f"{' '.join(words)} that SIG{signal} ended: exit code {code}, {set(files(whole)) - set(before)}"
                )
    return wrong


def synced(base):
    """Every folder in which something was created is flushed to disk."""
    folder = base / "synced"
    folder.mkdir()
    words = [word if i == 0 or word != "run" else "deep/er/run" for i, word in enumerate(RUN)]
    code, message, log = strace(folder, ["-y", "-e", "trace=mkdir,fsync"], words)
    assert code == 0, message
    wrong = []
    for made in ("deep", "deep/er", "deep/er/run", "deep/er/run/checkpoints", "deep/er/run/models"):
        parent = str((folder / made).parent)
        lines = log.splitlines()
        at = [i for i, line in enumerate(lines) if f'mkdir("{made}"' in line]
        if not at or not any(f"<{parent}>" in line for line in lines[at[0] : at[0] + 2]):
            wrong.append(f"{made} was created, and {parent} not flushed after it")
    return wrong


def lesser_file_systems(base, reported):
    """A file system that cannot flush, lock or rename loses nothing: its files are written all the same."""
    wrong = []
    cases = [("fsync", error, RUN, "run/report.json") for error in ("EINVAL", "ENOSYS", "EOPNOTSUPP")]
    cases += [("flock", error, RUN, "run/report.json") for error in ("ENOLCK", "EOPNOTSUPP", "ENOSYS")]
    report = ["report", "run", "-o", "report.csv"]
    cases += [("rename", error, report, "report.csv") for error in ("EBUSY", "EACCES", "EPERM", "EXDEV")]
    for call, error, words, file in cases:
        folder = base / f"lesser-{call}-{error}"
        shutil.copytree(reported, folder)
        if words == RUN:
            shutil.rmtree(folder / "run")
        fault = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}"]
        code, message, _ = strace(folder, fault, words)
        if code != 0 or (folder / file).read_bytes() in (b"", b"old\n"):
            wrong.append(f"{call} returned {error}: exit code {code}: {message}")
        left = [path.name for path in folder.iterdir() if path.name not in ("run", "report.csv")]
        wrong += [f"{call} returned {error}: {left} is left"] if left else []
    full = ["-e", "trace=rename,fallocate", "-e", "inject=rename:error=EBUSY", "-e", "inject=fallocate:error=ENOSPC"]
    code, message, _ = strace(reported, full, report)
    if code != 1 or (reported / "report.csv").read_bytes() != b"old\n":
        wrong.append(f"a full disk damaged a file that was written in place: exit code {code}: {message}")
    return wrong


def fewer_threads(base):
    """A machine that starts no second thread runs a suite with one."""
    folder = base / "threads"
    folder.mkdir()
    words = RUN + ["-s", "3"]
    words[words.index("-j") + 1] = "8"
    code, message, _ = strace(folder, ["-e", "trace=clone,clone3", "-e", "inject=clone,clone3:error=EAGAIN"], words)
    lines = (folder / "run/experiments.jsonl").read_text().count("\n") if code == 0 else 0
    if code == 0 and lines == 3 and "the system starts too few threads (ulimit -u)" in message and "with 1" in message:
        return []
    return [f"without threads: exit code {code}, {lines} of 3 experiments: {message}"]


if __name__ == "__main__":
    sys.exit(main())
