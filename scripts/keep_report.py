#!/usr/bin/env python3
"""Writes a report for the repository with a fifth of the size. It has one line for each experiment, stores counts by
length and distance as integers, and omits counts by position in the answer. Its command has no folders of the machine. If the
output file ends in .gz, the script compresses it and rounds the losses of learning curves to five digits. All commands that
read reports accept it.

    scripts/keep_report.py runs/mine/report.json > results/data/reference/report.json
    scripts/keep_report.py runs/mine/report.json results/data/board/mine.json.gz
"""

import gzip
import json
import re
import sys
import zlib


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def integers(item, place, *counts):
    """[length or distance, right, total, ...], as results/reports/report.schema.json describes it."""
    if isinstance(item, list):
        return item
    return [item[place], *(item[count][key] for count in counts for key in ("correct", "total"))]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


def shorten_losses(report):
    for experiment in report["experiments"]:
        for point in experiment["learning_curve"]:
            if point["loss"] is not None:
                point["loss"] = float(f"{point['loss']:.5g}")


def kept(report):
    if "command" in report.get("context", {}):
        report["context"]["command"] = re.sub(r"(?<![^\s=])/(?:\S*/)?", "", report["context"]["command"])
    for experiment in report["experiments"]:
        for split in experiment["splits"]:
            split["by_length"] = [integers(item, "length", "token", "sequence") for item in split["by_length"]]
            split["by_distance"] = [integers(item, "distance", "token") for item in split["by_distance"]]
            split.pop("by_position", None)
    members = []
    report.pop("crc32", None)  # of the file as it was
    for key, value in report.items():
        text = compact(value) if not isinstance(value, list) else "[\n" + ",\n".join(map(compact, value)) + "\n]"
        members.append(f"{compact(key)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    compress = len(sys.argv) == 3 and sys.argv[2].endswith(".gz")
    try:
        report = read(sys.argv[1])
        if compress:
            shorten_losses(report)
        text = kept(report).encode()
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        print(f"{sys.argv[1]}: expected the report.json of a run ({error!r})", file=sys.stderr)
        sys.exit(2)
    if len(sys.argv) == 2:
        sys.stdout.buffer.write(text)
        return
    if compress:
        text = gzip.compress(text, mtime=0)  # the same bytes at any time
    try:
        with open(sys.argv[2], "wb") as file:
            file.write(text)
    except OSError as error:
        print(f"{sys.argv[2]}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
