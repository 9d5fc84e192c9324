"""Samples and results as tables: Parquet files and Hugging Face data sets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import InputError, ProgramError
from .samples import Samples, Task
from .samples import task as make_task

if TYPE_CHECKING:
    import datasets as hugging_face

_CHUNK = 4096  # samples that are in memory at a time
_NUMBERS = {"index": "int64", "length": "int32"}  # the columns of numbers; the others are lists of int32


def samples_to_parquet(task: Task, path: str | Path, purpose: str, seed: int, first: int, count: int) -> None:
    """Writes samples as a Parquet file, a row for each, without padding."""
    arrow, parquet = _pyarrow()
    about = dict(task.samples(purpose, seed=seed, first=first, count=1).manifest, count=count)
    schema = arrow.schema(
        [arrow.field(name, _arrow_type(arrow, name)) for name in _names(task)],
        metadata={"posbench": json.dumps(about)},
    )

    def write(temporary: Path) -> None:
        with parquet.ParquetWriter(temporary, schema) as writer:
            for start, size in _chunks(first, count):
                samples = task.samples(purpose, seed=seed, first=start, count=size)
                columns = _columns(samples)
                arrays = [
                    flat if offsets is None else arrow.ListArray.from_arrays(arrow.array(offsets, arrow.int32()), flat)
                    for offsets, flat in (columns[name] for name in schema.names)
                ]
                writer.write_table(arrow.Table.from_arrays([arrow.array(a) for a in arrays], schema=schema))

    _write(Path(path), write)


def rows_to_parquet(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any], path: str | Path) -> None:
    """Writes the rows of a report as a Parquet file. `about` becomes its metadata `posbench`."""
    arrow, parquet = _pyarrow()
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    types = {name: _column_type(arrow, name, values) for name, values in columns.items()}
    texts = {name for name, type_ in types.items() if type_ == arrow.string()}
    arrays = [
        arrow.array([str(v) if name in texts and v is not None else v for v in values], types[name])
        for name, values in columns.items()
    ]
    table = arrow.Table.from_arrays(arrays, names=names).replace_schema_metadata({"posbench": json.dumps(about)})
    _write(Path(path), lambda temporary: parquet.write_table(table, temporary))


def datasets(
    task: str | Task, split: str = "train", n: int = 1000, *, seed: int = 0, first: int = 0
) -> hugging_face.IterableDataset:
    """Returns the samples first .. first + n - 1 of a split as a streaming data set of Hugging Face `datasets`.

    `split` is "train", "validation" or a test split of the task. The samples are drawn while they are read, in chunks that
    the workers of a DataLoader share. Rows are lists without padding. Needs pip install 'posbench[data]'.
    """
    try:
        import datasets as hugging_face
    except ImportError as error:
        raise ProgramError(f"datasets is missing ({error}); run \"pip install 'posbench[data]'\"") from None
    made = make_task(task) if isinstance(task, str) else task
    made.samples(split, seed=seed, first=first, count=1)  # raises InputError for a split that the task does not have
    features = {
        name: hugging_face.Value(_NUMBERS[name])
        if name in _NUMBERS
        else hugging_face.Sequence(hugging_face.Value("int32"))
        for name in _names(made)
    }
    return hugging_face.IterableDataset.from_generator(
        _generate,
        features=hugging_face.Features(features),
        gen_kwargs={"task": made, "purpose": split, "seed": seed, "chunks": list(_chunks(first, n))},
        split=hugging_face.NamedSplit(re.sub(r"\W", "_", split.replace("test:", ""))),
    )


def _generate(task: Task, purpose: str, seed: int, chunks: Iterable[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    for first, count in chunks:
        columns = _columns(task.samples(purpose, seed=seed, first=first, count=count))
        for row in range(count):
            yield {
                name: flat[row].item() if offsets is None else flat[offsets[row] : offsets[row + 1]].tolist()
                for name, (offsets, flat) in columns.items()
            }


def _chunks(first: int, count: int) -> Iterator[tuple[int, int]]:
    if first < 0 or count < 1:
        raise InputError(f"samples from {first} on, {count} of them; expected a first one from 0 on and at least one")
    for start in range(first, first + count, _CHUNK):
        yield start, min(_CHUNK, first + count - start)


def _names(task: Task) -> list[str]:
    """Returns the names of the columns of a task's samples."""
    return [name for name in _arrays(task.samples("train", count=1)) if name != "mask"]


def _arrays(samples: Samples) -> dict[str, np.ndarray]:
    """Returns the arrays by name. Each coordinate of positions has its own array, `coordinate_0` and so on."""
    arrays = samples.arrays()
    coordinates = arrays.pop("coordinates", None)
    if coordinates is not None:
        arrays.update({f"coordinate_{n}": coordinates[:, n] for n in range(coordinates.shape[1])})
    return arrays


def _columns(samples: Samples) -> dict[str, tuple[np.ndarray | None, np.ndarray]]:
    """Returns each array as the offsets of its rows and its values without padding, or as None and a value for each row."""
    columns: dict[str, tuple[np.ndarray | None, np.ndarray]] = {}
    for name, array in _arrays(samples).items():
        if name in _NUMBERS:
            columns[name] = None, array
        elif name != "mask":
            kept = samples.mask
            if name in ("scored_positions", "distances"):
                kept = samples.scored_positions >= 0
            elif name == "candidates":
                kept = array >= 0
            columns[name] = np.concatenate([[0], np.cumsum(kept.sum(1))]), array[kept]
    return columns


def _arrow_type(arrow: Any, name: str) -> Any:
    return arrow.type_for_alias(_NUMBERS[name]) if name in _NUMBERS else arrow.list_(arrow.int32())


def _column_type(arrow: Any, name: str, values: Iterable[Any]) -> Any:
    """Returns the type of a column of rows: a fixed one, or for a swept setting the one that its values have."""
    if name == "seed":
        return arrow.uint64()
    if name in ("value", "low", "high"):
        return arrow.float64()
    if name in ("parameters", "steps", "correct", "total", "further_steps"):
        return arrow.int64()
    kinds = {type(value) for value in values if value is not None}
    known = {frozenset([bool]): arrow.bool_(), frozenset([int]): arrow.int64()}
    if kinds and kinds <= {int, float}:
        return known.get(frozenset(kinds), arrow.float64())
    return known.get(frozenset(kinds), arrow.string())


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ProgramError(f"pyarrow is missing ({error}); run \"pip install 'posbench[data]'\"") from None
    return pyarrow, pyarrow.parquet


def _write(path: Path, write: Any) -> None:
    """Writes a file under another name first, so that an error leaves no half of it and keeps what was there."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)
