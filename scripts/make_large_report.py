#!/usr/bin/env python3
"""Writes a large report for measurements of time and memory.

It repeats the experiments of a report under other names of encodings. If the output is a run directory without results, it writes a
result for each experiment that the run lists instead.

Examples:
    scripts/make_large_report.py results/data/reference/report.json large.json --copies 20
    scripts/make_large_report.py results/data/reference/report.json runs/1    # the lines of a run that was stopped
"""

import argparse
import itertools
import json
import zlib
from pathlib import Path


def finish_run(run: Path, experiments: list[dict], listed: list[tuple[str, str, int]]) -> None:
    """Writes experiments.jsonl of a run directory. Each of its experiments, given as task, encoding and seed, gets the result
    of an experiment with the same task and encoding."""
    copies = {}
    for key, group in itertools.groupby(experiments, lambda one: (one["task"], one["encoding"])):
        copies[key] = itertools.cycle(list(group))
    lines = []
    for task, encoding, seed in listed:
        result = next(copies[task, encoding]) | {"seed": seed, "seconds": 1.0}
        line = json.dumps(result, separators=(",", ":"))[:-1]
        lines.append(f'{line},"crc32":"{zlib.crc32(line.encode()):08x}"}}\n')
    (run / "experiments.jsonl").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="report whose experiments are repeated")
    parser.add_argument(
        "output", type=Path, help="file to write, or a run directory with the tasks and encodings of the report"
    )
    parser.add_argument("--copies", type=int, default=20, help="number of copies, with the original (default: 20)")
    options = parser.parse_args()

    try:
        report = json.loads(options.report.read_text(encoding="utf-8"))
        experiments = report.pop("experiments")
        repeated = {(one["task"], one["encoding"]) for one in experiments}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        parser.error(f"{options.report} is no report in JSON ({error!r})")
    if options.output.is_dir():
        if options.copies != parser.get_default("copies"):
            parser.error("a run directory excludes --copies")
        results = options.output / "experiments.jsonl"
        if results.exists() and results.stat().st_size > 0:
            parser.error(f"{results} has results, which would be lost; expected a run without results")
        try:
            manifest = json.loads((options.output / "manifest.json").read_text(encoding="utf-8"))
            listed = [(one["task"], one["encoding"], one["seed"]) for one in manifest["experiments"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            parser.error(f"{options.output} is no run directory ({error!r})")
        missing = [pair for pair in (one[:2] for one in listed) if pair not in repeated]
        if missing:
            parser.error(f"{options.report} has no experiment of {missing[0]}, which {options.output} lists")
        finish_run(options.output, experiments, listed)
        print(f"{options.output}: {len(listed)} experiments")
        return
    report.pop("crc32", None)
    report |= {"experiments": [], "summary": [], "ranking": [], "timing": {}}  # summary and ranking are not read
    head, tail = json.dumps(report).split('"experiments": []')

    with options.output.open("w", encoding="utf-8") as file:
        file.write(head + '"experiments": [\n')
        for copy, experiment in itertools.product(range(options.copies), experiments):
            file.write(",\n" if copy or experiment is not experiments[0] else "")
            file.write(json.dumps(experiment | {"encoding": f"{experiment['encoding']}{f'-{copy}' if copy else ''}"}))
        file.write("\n]" + tail)
    print(
        f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB, {options.copies * len(experiments)} experiments"
    )


if __name__ == "__main__":
    main()
