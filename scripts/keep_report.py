#!/usr/bin/env python3
"""A report with a line for each experiment, its counts by length and distance as bare integers, and without those by
position in the answer: a fifth of the size, small enough for a repository. Everything that reads reports reads it.

    scripts/keep_report.py runs/mine/report.json > results/reference/report.json
"""
import json
import sys


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def integers(item, place, *counts):
    """[length or distance, right, total, ...], as results/report.schema.json describes it."""
    if isinstance(item, list):
        return item
    return [item[place], *(item[count][key] for count in counts for key in ("correct", "total"))]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            report = json.load(file)
        for experiment in report["experiments"]:
            for split in experiment["splits"]:
                split["by_length"] = [integers(item, "length", "token", "sequence") for item in split["by_length"]]
                split["by_distance"] = [integers(item, "distance", "token") for item in split["by_distance"]]
                split.pop("by_position", None)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{sys.argv[1]}: expected the report.json of a run ({error!r})", file=sys.stderr)
        sys.exit(2)
    members = []
    for key, value in report.items():
        text = compact(value) if not isinstance(value, list) else "[\n" + ",\n".join(map(compact, value)) + "\n]"
        members.append(f"{compact(key)}: {text}")
    print("{\n" + ",\n".join(members) + "\n}")


if __name__ == "__main__":
    main()
