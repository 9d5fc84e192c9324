"""Validates reports against results/reports/report.schema.json, with Python's jsonschema.

    report_schema_test.py SCHEMA RESULTS_TESTS [REPORT...]

The first report is what to_json writes of the report of the unit tests, as it is and as scripts/keep_report.py shortens
it; others may follow, of which it validates one seed of each task and encoding, and all experiments that did not
finish: other seeds have other numbers in the same form. Then it breaks that report in ways that the schema must notice, lest an empty schema pass. Exit
code 77: skipped, no validator.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

from validator import DELETE, broken, jsonschema

# A path into the report, and what to put there.
BROKEN = [
    (["schema_version"], 2),
    (["experiments"], DELETE),
    (["context"], "fast"),
    (["tasks", 0, "splits", 0, "chance"], 1.5),
    (["experiments", 0, "seed"], -1),
    (["experiments", 0, "status"], "great"),
    (["experiments", 0, "final_loss"], None),
    (["experiments", 0, "encoding"], "two\nlines"),
    (["experiments", 0, "learning_curve", 0, "validation_token"], None),
    (["experiments", 0, "splits", 0, "kind"], "odd"),
    (["experiments", 0, "splits", 0, "token", "accuracy"], None),
    (["experiments", 0, "splits", 0, "by_distance", 0, "token", "total"], "many"),
    (["experiments", 0, "splits", 0, "by_distance", 0], [4, 80]),
    (["experiments", 0, "splits", 0, "by_length", 0], [4, 80, 80, 0.5, 1]),
    (["experiments", 4, "learning_rate"], DELETE),
    (["experiments", 4, "learning_rates"], []),
    (["experiments", 4, "learning_rates", 0, "validation_token"], None),
    (["experiments", 4, "learning_rates", 2, "diverged_step"], DELETE),
    (["experiments", 5, "reason"], DELETE),
    (["experiments", 5, "diverged_step"], DELETE),
    (["experiments", 5, "splits"], [{}]),
    (["summary", 0, "in_distribution", "solved"], 2),
    (["summary", 0, "falls_below_0.9", "length", "at"], 0.5),
    (["experiments", 0, "grid", 0, "end"], "tired"),
    (["experiments", 0, "grid", 1, "reason"], DELETE),
    (["experiments", 0, "grid", 0, "points", 0, "multiple"], 0.5),
    (["experiments", 0, "grid", 0, "points", 0, "sequence"], DELETE),
    (["experiments", 5, "grid"], [{}]),
    (["summary", 0, "effective_length", "values"], DELETE),
    (["summary", 0, "effective_distance", "multiple"], "4x"),
    (["ranking", 0, "out_of_distribution", "mean"], 0),
]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


def one_seed_each(report):
    """The report with the first experiment of each task and encoding, and those that did not finish."""
    chosen = {}
    for experiment in report["experiments"]:
        seed = "" if experiment["status"] == "ok" else experiment["seed"]
        chosen.setdefault((experiment["task"], experiment["encoding"], seed), experiment)
    return {**report, "experiments": list(chosen.values())}


def kept(schema_path, report, directory):
    """The report as scripts/keep_report.py writes it."""
    script = os.path.join(os.path.dirname(schema_path), os.pardir, os.pardir, "scripts", "keep_report.py")
    before, after = (os.path.join(directory, name) for name in ("before.json", "after.json.gz"))
    with open(before, "w", encoding="utf-8") as file:
        json.dump(report, file)
    subprocess.run([sys.executable, script, before, after], check=True)
    return read(after)


def main(schema_path, results_tests, *reports):
    schema = read(schema_path)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "report.json")
        environment = {**os.environ, "POSBENCH_WRITE_REPORT": path}
        subprocess.run([results_tests, "[.write_report]"], env=environment, check=True, stdout=subprocess.DEVNULL)
        written = read(path)
        command = "/a/posbench run --config=/a/b.json -t and/or -o /c"
        short = kept(schema_path, broken(written, ["context", "command"], command), directory)
    failures = []
    if short["context"]["command"] != "posbench run --config=b.json -t and/or -o c":
        failures.append(f"a stored report has the command {short['context']['command']!r}")
    of_files = [(path, one_seed_each(read(path))) for path in reports]
    for name, report in [("the written report", written), ("the kept one", short), *of_files]:
        for error in validator.iter_errors(report):
            failures.append(f"{name}: {error.json_path}: {error.message}")
    for name, report in of_files:
        if re.search(r"(?<![^\s=])/", report["context"].get("command", "")):
            failures.append(f"{name}: its command has folders; write it by scripts/keep_report.py")
    for path, value in BROKEN:
        if validator.is_valid(broken(written, path, value)):
            failures.append(f"the schema does not notice {path} = {'nothing' if value is DELETE else value!r}")
    extended = broken(written, ["experiments", 0, "extends"], {"parent": "rope", "encoding": "none", "steps": 0})
    if not validator.is_valid(extended):
        failures.append("the schema refuses an extension")
    for key, value in [("parent", DELETE), ("steps", -1), ("length", 4)]:
        if validator.is_valid(broken(extended, ["experiments", 0, "extends", key], value)):
            failures.append(f"the schema does not notice {key} of an extension")
    print("\n".join(failures) or f"{2 + len(reports)} valid, {len(BROKEN)} broken ones refused")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
