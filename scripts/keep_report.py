#!/usr/bin/env python3
"""Writes a report for the repository with a fifth of the size. It has one line for each experiment, stores counts by
length and distance as integers, and omits counts by position in the answer. Its command has no folders of the machine. If the
output file ends in .gz, the script compresses it and rounds the losses of learning curves to five digits. All commands that
read reports accept it.

    scripts/keep_report.py runs/mine/report.json > results/data/reference/report.json
    scripts/keep_report.py runs/mine/report.json results/data/board/mine.json.gz
    scripts/keep_report.py mine.json results/data/submissions/mine.json.gz --verified-by NAME    # after 'check --source'
"""

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", help="report.json of a run")
    parser.add_argument("output", nargs="?", help="file to write [default: standard output]")
    parser.add_argument("--verified-by", metavar="NAME", help="who trained some of its models again, for the board")
    given = parser.parse_args()
    compress = given.output is not None and given.output.endswith(".gz")
    try:
        report = read(given.report)
        if given.verified_by:
            report["context"]["verified_by"] = given.verified_by
        if compress:
            shorten_losses(report)
        text = kept(report).encode()
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        print(f"{given.report}: expected the report.json of a run ({error!r})", file=sys.stderr)
        sys.exit(2)
    if given.output is None:
        sys.stdout.buffer.write(text)
        return
    if compress:
        text = gzip.compress(text, mtime=0)  # the same bytes at any time
    try:
        with open(given.output, "wb") as file:
            file.write(text)
    except OSError as error:
        print(f"{given.output}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
