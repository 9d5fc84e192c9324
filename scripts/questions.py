#!/usr/bin/env python3
"""Writes docs/questions.md, and the tables of results/data/questions/answers.json, from the stored reports. The commands and
the comparisons are those of questions.json, which was written before the runs.

    scripts/questions.py build/release/posbench            # writes both files
    scripts/questions.py --check build/release/posbench    # changes nothing; exit code 1 if one differs
"""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "results/data/questions"


def printed(program, folder, *words):
    done = subprocess.run([program, *words, "-q"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"'posbench {shlex.join(words)}' ends with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def compared(program, folder, text):
    """Yields the cells of a comparison: baseline, candidate, what is compared; the split; its text. Without a run, none."""
    words = shlex.split(text)
    names = words[: next(n for n, word in enumerate(words) if word.startswith("-"))]
    files = [name if (folder / name).exists() else f"{name}.json.gz" for name in names]
    if not all((folder / file).exists() for file in files):
        return
    options = [*words[len(names) :], "--allow-different-budget", "--format", "json"]
    for row in json.loads(printed(program, folder, "compare", *files, *options))["rows"]:
        sides = names if len(names) == 2 else [row["encoding"], row["candidate_encoding"]]
        about = row["task"] if len(names) == 1 else f"{row['task']}, {row['encoding']}"
        before, after = (f"{row[side]['mean']:.2f}" for side in ("before", "after"))
        means = after if before == after else f"{before} -> {after}"
        interval = f"{row['interval']['low']:+.2f} to {row['interval']['high']:+.2f}" if row["interval"] else "-"
        if interval == "-0.00 to +0.00":
            interval = "±0.00"
        yield (*sides, about), row["split"], f"{means} ({interval}) {row['verdict']}"


def table_of(program, question):
    """Has a line for each pair that is compared, and a column for each split. The first line has the headers."""
    if "boards" in question:
        boards = [printed(program, DATA, *shlex.split(board), "--format", "csv") for board in question["boards"]]
        lines = [[line.split(",") for line in board.splitlines()] for board in boards]
        return [lines[0][0], *(row for board in lines for row in board[1:])]
    lines = {}
    for folder, text in [(DATA, row) for row in question["rows"]] + [(ROOT, row) for row in question.get("stored", [])]:
        for key, split, cell in compared(program, folder, text):
            lines.setdefault(key, {})[split] = cell
    splits = list(dict.fromkeys(split for cells in lines.values() for split in cells))
    rows = [[*key, *(cells.get(split, "-") for split in splits)] for key, cells in lines.items()]
    return [["baseline", "candidate", "of", *splits], *rows] if rows else []


def commands_of(question):
    """Returns one command for the stored runs of a task, and a line for each with what it adds; without any, for all."""
    groups, lines = {}, ["posbench " + board for board in question.get("boards", [])]
    lines += ["posbench compare " + text for text in question.get("stored", [])]
    made = {name: text for name, text in question["runs"].items() if (DATA / f"{name}.json.gz").exists()}
    for name, text in (made or question["runs"]).items():
        words = shlex.split(text)
        groups.setdefault(tuple(words[:4]), []).append((name, words))  # -t TASKS -e ENCODINGS
    for runs in groups.values():
        shared = os.path.commonprefix([words for _, words in runs])
        if len(shared) < max(len(words) for _, words in runs) and shared[-1] == "--set":
            shared.pop()
        lines.append(f"posbench run {shlex.join(shared)} $REST -o {runs[0][0] if len(runs) == 1 else 'NAME'}")
        added = [f"  {name}: {shlex.join(words[len(shared) :])}".rstrip(": ") for name, words in runs]
        lines += added if len(runs) > 1 else []
    return lines


def page_of(answers):
    parts = ["# Questions of people who train and serve models"]
    parts += [textwrap.fill(text, 140) for text in answers["introduction"]]
    for question in answers["questions"]:
        parts += [
            f"## {question['id']}. {question['question']}",
            f"Asked in {question['sources']}.",
            textwrap.fill(f"**{question['answer']}** {question['limits']}".strip(), 140),
            "\n".join("    " + line for line in question["commands"]),
        ]
        if question["table"]:
            head, *rows = question["table"]
            parts.append("\n".join("| " + " | ".join(line) + " |" for line in [head, [":--"] * len(head), *rows]))
    return "\n\n".join(parts) + "\n"


def renewed(program):
    """Yields the text of each file. The figures of an answer must be in its table. The last questions may lack answers."""
    questions = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))["questions"]
    answers = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))
    for question, stored in zip(questions, answers["questions"], strict=False):
        sources = "; ".join(question["sources"]).replace("(unread)", "(not read)")
        stored.update(id=question["id"], question=question["question"], sources=sources)
        whole = {**question, **stored}
        stored.update(commands=commands_of(whole), table=table_of(program, whole))
        unknown = set(re.findall(r"\d\.\d+", stored["answer"])) - set(re.findall(r"\d\.\d+", f"{stored['table']}"))
        if unknown:
            raise RuntimeError(f"the answer of question {question['id']} has {unknown}, which its table has not")
    yield DATA / "answers.json", json.dumps(answers, indent=1, ensure_ascii=False) + "\n"
    yield ROOT / "docs/questions.md", page_of(answers)


def main():
    check = sys.argv[1:2] == ["--check"]
    if len(sys.argv) != 2 + check:
        sys.exit(__doc__)
    code = 0
    for file, text in renewed(Path(sys.argv[-1]).resolve()):
        if check and file.read_text(encoding="utf-8") != text:
            print(f"{file} is not current; renew it: scripts/questions.py {sys.argv[-1]}")
            code = 1
        elif not check:
            file.write_text(text, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
