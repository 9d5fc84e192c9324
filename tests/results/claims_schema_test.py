"""Validates verdicts about claims against results/reports/claims.schema.json, with Python's jsonschema.

    claims_schema_test.py SCHEMA CLAIMS.JSON...

It also breaks the first file in ways that the schema must notice. Exit code 77: skipped, no validator.
"""

import json
import sys

from validator import DELETE, broken, jsonschema

BROKEN = [
    ("kind", DELETE),
    ("kind", "fact"),
    ("read_from", DELETE),
    ("read_from", "memory"),
    ("read_where", DELETE),
    ("read_where", ""),
    ("source", DELETE),
    ("verdict", "true"),
    ("rules", []),
]


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = []
    verdicts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            verdicts.append(json.load(file))
        failures += [f"{path}: {error.json_path}: {error.message}" for error in validator.iter_errors(verdicts[-1])]
    for key, value in BROKEN:
        if validator.is_valid(broken(verdicts[0], ["claims", 0, key], value)):
            failures.append(f"the schema does not notice {key} = {'nothing' if value is DELETE else repr(value)}")
    for failure in failures[:20]:
        print(failure)
    print(f"{len(paths)} files and {len(BROKEN)} broken copies, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
