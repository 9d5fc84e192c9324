#!/usr/bin/env python3
"""Writes a large report for measurements of time and memory. It repeats the experiments of a report under other seeds.

Example: scripts/make_large_report.py results/data/reference/report.json large.json --megabytes 100
"""

import argparse
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="report whose experiments are repeated")
    parser.add_argument("output", type=Path, help="file to write")
    parser.add_argument(
        "--megabytes", type=float, default=100, help="smallest size of the output in units of 10^6 bytes (default: 100)"
    )
    options = parser.parse_args()

    report = json.loads(options.report.read_text(encoding="utf-8"))
    experiments = report.pop("experiments")
    seeds = max(experiment["seed"] for experiment in experiments) + 1
    report |= {
        "experiments": [],
        "summary": [],
        "ranking": [],
        "timing": {},
    }  # the summary and the ranking are not read
    head, tail = json.dumps(report).split('"experiments": []')

    with options.output.open("w", encoding="utf-8") as file:
        size = file.write(head + '"experiments": [\n')
        copy = 0
        while size + len(tail) < options.megabytes * 1e6:
            for number, experiment in enumerate(experiments):
                repeated = experiment | {"seed": experiment["seed"] + copy * seeds}
                separator = "" if copy == 0 and number == 0 else ",\n"
                size += file.write(separator + json.dumps(repeated, ensure_ascii=True))
            copy += 1
        file.write("\n]" + tail)
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB, {copy * len(experiments)} experiments")


if __name__ == "__main__":
    main()
