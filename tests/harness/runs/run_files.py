"""Reads everything of a folder of runs that must not depend on interruptions, and splits command lines."""

import json


def arguments_of(line):
    return line.split()


def line_without_times(line):
    return {key: value for key, value in json.loads(line).items() if key not in ("seconds", "crc32")}


def files(root):
    """Returns all files by name, without the times in reports and lines. The order of the lines depends on the times, too."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_dir():
            found[name] = None
        elif path.name == "report.json":
            report = json.loads(path.read_bytes())
            found[name] = {key: value for key, value in report.items() if key not in ("context", "timing", "crc32")}
        elif path.name == "experiments.jsonl":
            lines = [line_without_times(line) for line in path.read_text().splitlines()]
            found[name] = sorted(lines, key=lambda line: (line["task"], line["encoding"], line["seed"]))
        elif path.name in ("report.html", "manifest.json"):
            found[name] = path.stat().st_size > 0
        else:
            found[name] = path.read_bytes()
    return found
