"""Runs every command of docs/questions.md with one seed and two steps, and compares the runs as the page does.

questions_test.py POSBENCH
"""

import json
import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from questions import DATA, commands_of, compared, page_of, printed  # noqa: E402

program = str(Path(sys.argv[1]).resolve())
questions = json.loads((DATA / "questions.json").read_text())["questions"]
page = (ROOT / "docs/questions.md").read_text()
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for question in questions:
        for run, text in question["runs"].items():
            short, count = re.subn(r"training\.steps=\d+", "training.steps=2", text)
            assert count == 1, f"{run} sets no steps"
            settings = ["-s", "1", "--set", "evaluation.grid=0", "--set", "evaluation.sequences=4"]
            printed(program, folder, "run", *shlex.split(short), *settings, "-o", run)
        for row in question["rows"]:
            assert list(compared(program, folder, row)), f"{row} compares nothing"
        is_answered = f"## {question['id']}. " in page
        assert not is_answered or all(f"    {line}\n" in page for line in commands_of(question)), question["id"]

text = {"introduction": ["a"], "questions": [{"id": 1, "question": "b", "sources": "c", "answer": "d", "limits": ""}]}
text["questions"][0].update(commands=["e", "f"], table=[["g", "h"], ["i", "j"]])
assert page_of(text).endswith("b\n\nAsked in c.\n\n**d**\n\n    e\n    f\n\n| g | h |\n| :-- | :-- |\n| i | j |\n")
