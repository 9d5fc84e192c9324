"""Checks that the plots of the page of a report show the numbers of the report."""

from page_checks import check, close, two_digits

EFFECTIVE = {
    "Effective length": "effective_length",
    "Effective length, far": "effective_far",
    "Effective distance": "effective_distance",
}
MULTIPLES = "Accuracy against the multiple of the trained length"


def accuracy_at(experiment, option, multiple):
    """The accuracy at a multiple: 0 if the experiment did not finish or its tests ended before, None if it was not tested."""
    if experiment["status"] != "ok":
        return 0
    for grid in experiment.get("grid", []):
        if grid["option"] == option:
            found = [p["sequence"]["accuracy"] for p in grid["points"] if p["multiple"] == multiple]
            ended = grid["end"] == "accuracy" and multiple > grid["points"][-1]["multiple"]
            return found[0] if found else 0 if ended else None
    return None


def check_summary(name, plots, report):
    """The maps and the ranking agree with the summary of the report."""
    kinds = [
        ("in_distribution", "sequence"),
        ("out_of_distribution", "sequence"),
        ("in_distribution", "above_trivial"),
        ("out_of_distribution", "above_trivial"),
    ]
    maps = [plot for plot in plots if plot["kind"] == "heat" and plot["title"] not in EFFECTIVE]
    check(len(maps) == len(kinds), f"{name}: {len(maps)} maps")
    for title, key in EFFECTIVE.items():
        shown = {(*row[:3], row[5]) for plot in plots if plot["title"] == title for row in plot["rows"]}
        cells = [(row["encoding"], row["task"], row[key]) for row in report["summary"] if key in row]
        expected = {(encoding, task, cell["multiple"], cell["tested_to"]) for encoding, task, cell in cells}
        check(shown == expected, f"{name}: {title}: {shown}, expected {expected}")
    for plot, (kind, metric) in zip(maps, kinds):
        rows = {(row["encoding"], row["task"]): row for row in report["summary"] if row[kind]}
        check(
            len(plot["rows"]) == len(rows), f"{name}: {plot['title']}: {len(plot['rows'])} cells, expected {len(rows)}"
        )
        for encoding, task, value, least, greatest, low, high, solved, seeds, mark, _, note in plot["rows"]:
            row = rows[encoding, task]
            gain, hidden = (
                row["learned"]["late_gain"],
                kind.startswith("out") and 2 * row["learned"]["seeds"] < row["learned"]["of"],
            )
            expected = "" if not hidden else "not learned" if gain is None else f"not learned ({gain:+.2f})"
            check(
                note == expected,
                f"{name}: {plot['title']}: the cell of {encoding}, {task} says '{note}', expected '{expected}'",
            )
            check(
                close(least, min(row[kind][metric]["values"])) and close(greatest, max(row[kind][metric]["values"])),
                f"{name}: {plot['title']}: the seeds of {encoding}, {task}",
            )
            spread, interval = row[kind][metric], row[kind][metric]["interval"] or {"low": None, "high": None}
            check(
                close(value, spread["mean"])
                and close(low, interval["low"])
                and close(high, interval["high"])
                and close(solved, row[kind]["solved"])
                and seeds == len(row["seeds"])
                and mark == "d" * (row["diverged"] > 0) + "f" * (row["failed"] > 0),
                f"{name}: {plot['title']}: the cell of {encoding}, {task}",
            )
    ranking = {row["encoding"]: row for row in report["ranking"]}
    for encoding, kind, mean, low, high, tasks in next(p for p in plots if p["title"] == "Mean rank")["rows"]:
        rank = ranking[encoding][kind.replace(" ", "_")]
        check(
            close(mean, rank["mean"])
            and close(low, rank["interval"]["low"])
            and close(high, rank["interval"]["high"])
            and tasks == rank["tasks"],
            f"{name}: the rank of {encoding}",
        )


def mean(values):
    return sum(values) / len(values)


def check_curves(name, section, plots, report):
    """Curves are means over the experiments of the report, computed here again."""
    for plot in plots:
        for row in plot["rows"]:
            encoding, x, y, *rest, seeds = row
            experiments = [
                e for e in report["experiments"] if (e["task"], e["encoding"]) == (plot["details"]["task"], encoding)
            ]
            if section == "Learning curves":
                points = [p for e in experiments for p in e["learning_curve"] if p["step"] == x]
                values = [p["validation_sequence"] for p in points]
                check(
                    close(rest[0], mean([p["validation_token"] for p in points])),
                    f"{name}: {section}: {plot['title']}: {row}",
                )
            elif section == MULTIPLES:
                option = {"far evidence": "far", "distance": "distance"}.get(
                    plot["title"].rpartition(", ")[2], "length"
                )
                values = [accuracy_at(experiment, option, x) for experiment in experiments]
                values = [value for value in values if value is not None]
            else:
                unit = section.split()[-1]
                first, last, cases = rest
                values, total = [], 0
                for experiment in experiments:
                    places = {}
                    for split in experiment["splits"]:
                        if split["name"] not in plot["details"]["splits"]:
                            continue
                        for item in split[f"by_{unit}"]:
                            if isinstance(item, list):
                                item = {unit: item[0], "token": {"correct": item[1], "total": item[2]}}
                            places.setdefault(item[unit], item["token"])
                    chosen = [places[place] for place in places if first <= place <= last]
                    total += sum(count["total"] for count in chosen)
                    if experiment["status"] != "ok":
                        values.append(0)
                    elif sum(count["total"] for count in chosen):
                        values.append(
                            sum(count["correct"] for count in chosen) / sum(count["total"] for count in chosen)
                        )
                check(cases == total and x == (first + last) / 2, f"{name}: {section}: {plot['title']}: {row}")
            check(
                len(seeds) == len(values) and all(map(close, seeds, values)),
                f"{name}: {section}: {plot['title']}: the seeds {row}",
            )
            check(
                close(y, mean(values)),
                f"{name}: {section}: {plot['title']}: {y} at {x} of {encoding}, expected {mean(values)}",
            )


def check_cells(name, plot):
    """The cells of a map have the expected texts, if there is room for them."""
    if len({row[1] for row in plot["rows"]}) > 12:
        return
    for row, text in zip(plot["rows"], plot["texts"]):
        if row[-1]:
            expected = ["notlearned"]
        elif plot["title"] in EFFECTIVE:
            expected = [row[8] + row[7]]
        else:
            expected = {two_digits(row[2]) + row[9], two_digits(row[2] + 1e-9) + row[9]}
        check(text in expected, f"{name}: {plot['title']}: the cell of {row[:3]} says {text}, expected {expected}")
