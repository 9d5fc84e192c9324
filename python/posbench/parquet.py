"""Writes samples and the rows of reports as Parquet files. Needs pip install 'posbench[data]'."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, Optional

import numpy as np

from ._program import InputError, ProgramError

Column = tuple[Optional[np.ndarray], np.ndarray]  # the offsets of its rows, or None for a value in each row; its values
NUMBERS = {"index": "int64", "length": "int32"}  # the columns of numbers; the others are lists of int32


def samples_to_parquet(
    path: str | Path, names: Sequence[str], about: Mapping[str, Any], chunks: Iterable[Mapping[str, Column]]
) -> None:
    """Writes the columns of chunks of samples, a row for each sample. `about` becomes the metadata `posbench`."""
    arrow, parquet = _pyarrow()
    types = {name: arrow.type_for_alias(NUMBERS.get(name, "int32")) for name in names}
    fields = [arrow.field(name, type_ if name in NUMBERS else arrow.list_(type_)) for name, type_ in types.items()]
    schema = arrow.schema(fields, metadata={"posbench": json.dumps(about)})

    def write(temporary: Path) -> None:
        with parquet.ParquetWriter(temporary, schema) as writer:
            for columns in chunks:
                arrays = [
                    flat if offsets is None else arrow.ListArray.from_arrays(arrow.array(offsets, arrow.int32()), flat)
                    for offsets, flat in (columns[name] for name in names)
                ]
                writer.write_table(arrow.Table.from_arrays([arrow.array(a) for a in arrays], schema=schema))

    _write(Path(path), write)


def rows_to_parquet(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any], path: str | Path) -> None:
    """Writes the rows of a report. `about` becomes the metadata `posbench`."""
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


def _column_type(arrow: Any, name: str, values: Iterable[Any]) -> Any:
    """Returns the type of a column of rows: a fixed one, or for a swept setting the one that its values have."""
    if name == "seed":
        return arrow.uint64()
    if name in ("value", "low", "high", "multiple"):
        return arrow.float64()
    if name in ("parameters", "steps", "correct", "total", "further_steps"):
        return arrow.int64()
    kinds = {type(value) for value in values if value is not None}
    if kinds in ({bool}, {int}):
        return arrow.bool_() if kinds == {bool} else arrow.int64()
    return arrow.float64() if kinds and kinds <= {int, float} else arrow.string()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ProgramError(f"pyarrow is missing ({error}); run \"pip install 'posbench[data]'\"") from None
    return pyarrow, pyarrow.parquet


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a file in a new folder beside it first, so that an error leaves no half of it and keeps what was there."""
    try:
        with tempfile.TemporaryDirectory(prefix=".posbench-", dir=path.parent) as folder:
            temporary = Path(folder) / path.name
            write(temporary)
            os.replace(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error})") from None
