"""Tests Parquet files with pyarrow, and data sets with Hugging Face `datasets`.

data_test.py PROGRAM pyarrow|datasets     skipped if the library is missing
"""

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

from checks import raised

try:
    import numpy  # noqa: F401

    importlib.import_module(sys.argv[2])
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

work = tempfile.TemporaryDirectory(prefix="posbench-data-")
FOLDER = Path(work.name)
os.environ.update(POSBENCH_PROGRAM=str(Path(sys.argv[1]).resolve()), HF_HOME=str(FOLDER / "hf"), HF_HUB_OFFLINE="1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import posbench  # noqa: E402


def exported(task, split, seed, first, count):
    """Returns the samples as `posbench export` writes them as jsonl, without keys that the task does not define."""
    path = FOLDER / "samples.jsonl"
    arguments = ["export", task, "--split", split, "--seed", seed, "--first", first, "-n", count, "-o", path]
    posbench._program.call(arguments)
    rows = list(map(json.loads, path.read_text().splitlines()))
    defined = {key for row in rows for key, value in row.items() if not isinstance(value, list) or value}
    for row in rows:
        row.update({f"coordinate_{n}": values for n, values in enumerate(row.pop("coordinates", []))})
    defined |= {key for row in rows for key in row if key.startswith("coordinate_")}
    return [{key: value for key, value in row.items() if key in defined} for row in rows]


def test_pyarrow_reads_the_samples_of_the_program():
    import pyarrow.parquet

    for name in ("flip_flop:length=32", "addition", "last_x_retrieval", "minesweeper"):
        task, path = posbench.task(name), FOLDER / "samples.parquet"
        task.to_parquet(path, "validation", seed=3, first=5, count=5000)  # more than a chunk
        table = pyarrow.parquet.read_table(path)
        assert table.to_pylist() == exported(name, "validation", 3, 5, 5000)
        manifest = json.loads(table.schema.metadata[b"posbench"])
        assert (manifest["purpose"], manifest["seed"], manifest["first"], manifest["count"]) == (
            "validation",
            3,
            5,
            5000,
        )
        assert manifest["words"] == task.words


def test_pyarrow_reads_the_rows_of_a_report():
    import pyarrow.parquet

    sweep = {"model.width": [8, 16], "training.learning_rate": [1, 0.001], "model.norm": ["pre", "post"]}
    settings = {"training.steps": 2}
    about = {"tasks": ["flip_flop"], "encodings": ["rope"], "profile": "smoke", "progress": False}
    report = posbench.run(**about, sweep=sweep, settings=settings)
    path = FOLDER / "report.parquet"
    report.to_parquet(path)
    table = pyarrow.parquet.read_table(path)
    rows = report.rows()
    names = set().union(*rows)
    assert set(table.column_names) == names and {"model.width", "swept_task"} <= names
    assert table.to_pylist() == [{name: row.get(name) for name in table.column_names} for row in rows]
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["value"], types["correct"], types["split"]) == ("double", "int64", "string")
    assert (types["model.width"], types["training.learning_rate"], types["model.norm"]) == ("int64", "double", "string")
    assert json.loads(table.schema.metadata[b"posbench"])["config"]["training"]["steps"] == 2


def test_pyarrow_reads_experiments_without_results():
    import pyarrow.parquet

    diverged = {
        "task": "flip_flop",
        "encoding": "rope",
        "seed": 2**63,
        "status": "diverged",
        "parameters": 1,
        "steps": 3,
    }
    posbench.Report({"experiments": [dict(diverged, splits=[])]}).to_parquet(FOLDER / "diverged.parquet")
    [row] = pyarrow.parquet.read_table(FOLDER / "diverged.parquet").to_pylist()
    assert row["status"] == "diverged" and row["seed"] == 2**63 and row["value"] is None
    schema = pyarrow.parquet.read_schema(FOLDER / "diverged.parquet")
    assert str(schema.field("value").type) == "double"


def test_pyarrow_errors_keep_the_old_file():
    task, path = posbench.task("flip_flop"), FOLDER / "old.parquet"
    path.write_text("old")
    assert "no stream or split" in raised(posbench.InputError, task.to_parquet, path, "test:x")
    assert "at least one" in raised(posbench.InputError, task.to_parquet, path, count=-1)
    assert path.read_text() == "old"
    others = [path.with_name(path.name + ending) for ending in (".tmp", "~", ".part")]
    for other in others:
        other.write_text("of the user")
    before = sorted(FOLDER.iterdir())
    task.to_parquet(path, count=1)
    assert {other.read_text() for other in others} == {"of the user"} and sorted(FOLDER.iterdir()) == before
    assert "cannot be written" in raised(posbench.InputError, task.to_parquet, FOLDER / "none" / "x.parquet", count=1)


def test_datasets_stream_the_samples_of_the_program():
    for name, split in (("flip_flop:length=32", "train"), ("addition", posbench.task("addition").splits[1])):
        samples = posbench.datasets(name, split, 5000, seed=2, first=3)
        expected = exported(name, split, 2, 3, 5000)
        assert list(samples.take(3)) == expected[:3]
        assert list(samples) == expected
        assert list(samples) == expected, "the second pass differs"


def test_datasets_are_shared_by_workers_without_doubles():
    from datasets.distributed import split_dataset_by_node

    samples = posbench.datasets("flip_flop", "train", 10000)
    parts = [[row["index"] for row in split_dataset_by_node(samples, rank, 3)] for rank in range(3)]
    assert all(parts) and sorted(sum(parts, [])) == list(range(10000))


def test_datasets_have_the_usual_functions():
    samples = posbench.datasets(posbench.task("flip_flop:length=32"), "validation", 64)
    lengths = samples.map(lambda row: {"size": len(row["tokens"])}).filter(lambda row: row["index"] % 2 == 0)
    rows = list(lengths.shuffle(seed=0, buffer_size=8))
    assert sorted(row["index"] for row in rows) == list(range(0, 64, 2))
    assert all(row["size"] == len(row["targets"]) for row in rows)
    assert str(samples.split) == "validation" and samples.features["tokens"].feature.dtype == "int32"


for name, test in list(globals().items()):
    if name.startswith(f"test_{sys.argv[2]}"):
        test()
        print(f"passed: {name}")
