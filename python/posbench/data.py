"""Samples as streaming data sets of Hugging Face `datasets`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ._program import ProgramError
from .parquet import NUMBERS
from .samples import Task, chunks_of
from .samples import task as make_task

if TYPE_CHECKING:
    import datasets as hugging_face


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
    columns = made.samples(split, seed=seed, first=first, count=1).columns()
    features = {
        name: hugging_face.Value(NUMBERS[name])
        if name in NUMBERS
        else hugging_face.Sequence(hugging_face.Value("int32"))
        for name in columns
    }
    return hugging_face.IterableDataset.from_generator(
        _generate,
        features=hugging_face.Features(features),
        gen_kwargs={"task": made, "purpose": split, "seed": seed, "chunks": list(chunks_of(first, n))},
        split=hugging_face.NamedSplit(re.sub(r"\W", "_", split.replace("test:", ""))),
    )


def _generate(task: Task, purpose: str, seed: int, chunks: Iterable[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    for first, count in chunks:
        columns = task.samples(purpose, seed=seed, first=first, count=count).columns()
        for row in range(count):
            yield {
                name: flat[row].item() if offsets is None else flat[offsets[row] : offsets[row + 1]].tolist()
                for name, (offsets, flat) in columns.items()
            }
