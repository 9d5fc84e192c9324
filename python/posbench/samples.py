"""Provides the samples on which `posbench run` trains, validates and tests."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ._program import Argument, InputError, Settings, call, configuration
from ._safetensors import read_arrays
from .parquet import NUMBERS, Column, samples_to_parquet

_CHUNK = 4096  # samples that are in memory at a time


@dataclass(frozen=True)
class Samples:
    """N samples of at most T tokens with at most S scored positions, padded at the end.

    `targets` are -1 where there is no target; the training loss is over all targets. Accuracy counts the scored
    positions only. `digit_positions`, `coordinates`, `distances` and `candidates` are None if the task does not define
    them.
    """

    index: np.ndarray  # (N) number in the stream
    length: np.ndarray  # (N) in the task's unit
    tokens: np.ndarray  # (N, T) ids; 0 in the padding
    mask: np.ndarray  # (N, T) whether there is a token
    targets: np.ndarray  # (N, T) the id to learn at each position, or -1
    scored_positions: np.ndarray  # (N, S) ascending; -1 in the padding
    segments: np.ndarray  # (N, T) the word, item, operand or line of a token
    digit_positions: np.ndarray | None = None  # (N, T) decimal position of a digit, 1 the least significant
    coordinates: np.ndarray | None = None  # (N, A, T) the A coordinates of a position, from 1; 0: none
    distances: np.ndarray | None = None  # (N, S) how far back the evidence lies; -1 in the padding
    candidates: np.ndarray | None = None  # (N, K) ids that answers are chosen among; -1 in the padding
    manifest: Mapping[str, Any] = field(default_factory=dict, repr=False)  # which samples these are

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, rows: slice) -> Samples:
        """Returns a subset, with no more padding than necessary."""
        first, last, step = rows.indices(len(self))
        if step != 1:
            raise InputError(f"a slice of samples has step {step}, expected 1")
        part = {name: array[first:last] for name, array in self.arrays().items()}
        longest = int(part["mask"].sum(1).max(initial=0))
        for name in ("tokens", "mask", "targets", "segments", "digit_positions", "coordinates"):
            if name in part:
                part[name] = part[name][..., :longest]
        most_scored = int((part["scored_positions"] >= 0).sum(1).max(initial=0))
        for name in ("scored_positions", "distances"):
            if name in part:
                part[name] = part[name][:, :most_scored]
        about = dict(self.manifest, first=int(self.manifest.get("first", 0)) + first, count=max(0, last - first))
        return Samples(**part, manifest=about)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the arrays that are not None, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "manifest"}
        return {name: array for name, array in values.items() if array is not None}

    def columns(self) -> dict[str, Column]:
        """Returns the arrays without padding, for tables. Each coordinate of positions has a column, `coordinate_0` and so on."""
        arrays = self.arrays()
        coordinates = arrays.pop("coordinates", np.empty((0, 0)))
        arrays.update({f"coordinate_{n}": coordinates[:, n] for n in range(coordinates.shape[1])})
        columns: dict[str, Column] = {name: (None, arrays.pop(name)) for name in NUMBERS}
        scored = self.scored_positions >= 0
        kept = {"scored_positions": scored, "distances": scored, "candidates": arrays.get("candidates", scored) >= 0}
        mask = arrays.pop("mask")
        for name, array in arrays.items():
            of_array = kept.get(name, mask)
            columns[name] = np.concatenate([[0], np.cumsum(of_array.sum(1))]), array[of_array]
        return columns

    def at_scored(self, values: np.ndarray) -> np.ndarray:
        """Gathers the values (N, S, ...) at the scored positions from values (N, T, ...) for every position."""
        rows = np.arange(len(self))[:, None]
        gathered: np.ndarray = values[rows, np.maximum(self.scored_positions, 0)]
        return gathered


class Batches(Sequence[Mapping[str, np.ndarray]]):
    """The batches of a stream of samples, as a sequence of dictionaries of arrays.

    It is what `torch.utils.data.DataLoader(batches, batch_size=None)` takes. Batch n holds the samples n * size to
    (n + 1) * size - 1, those of step n of `posbench run`, in any order and any process.
    """

    _CHUNK = 64  # batches that are drawn at a time

    def __init__(self, task: Task, purpose: str, seed: int, size: int, count: int):
        self.task, self.purpose, self.seed, self.size, self.batches = task, purpose, seed, size, count
        self._number = -1  # of the chunk that is held
        self._chunk: Samples | None = None

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, n: int) -> Mapping[str, np.ndarray]:  # type: ignore[override]
        if not 0 <= n < self.batches:
            raise IndexError(n)
        return self.samples(n).arrays()

    def samples(self, n: int) -> Samples:
        """Returns batch n."""
        chunk, row = divmod(n, self._CHUNK)
        if self._chunk is None or chunk != self._number:
            batches = min(self._CHUNK, self.batches - chunk * self._CHUNK)
            first = chunk * self._CHUNK * self.size
            self._chunk = self.task.samples(self.purpose, seed=self.seed, first=first, count=batches * self.size)
            self._number = chunk
        return self._chunk[row * self.size : (row + 1) * self.size]


@dataclass(frozen=True)
class Task:
    """A task with its options, under a configuration (which may change its splits and its answer layout)."""

    spec: str
    flags: tuple[Argument, ...] = ()  # of the configuration

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """Returns the manifest of its samples: version, options, vocabulary, words, splits, lengths, settings."""
        return self.samples(count=1).manifest

    @property
    def vocabulary(self) -> int:
        return int(self.manifest["vocabulary"])

    @property
    def words(self) -> list[str]:
        """Returns the text of each token."""
        return list(self.manifest["words"])

    @property
    def splits(self) -> list[str]:
        """Returns the names of its test splits, `in_distribution` first."""
        return [split["name"] for split in self.manifest["splits"]]

    def samples(self, purpose: str = "train", *, seed: int = 0, first: int = 0, count: int = 1000) -> Samples:
        """Returns the samples first .. first + count - 1 of a purpose: "train", "validation" or "test:SPLIT"."""

        with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
            path = Path(folder) / "samples.safetensors"
            selection: list[Argument] = ["--split", purpose, "--seed", seed, "--first", first, "--count", count]
            call(["export", self.spec, *selection, "-o", path, *self.flags])
            arrays, about = read_arrays(path)
        return Samples(**arrays, manifest=json.loads(about["manifest"]))

    def batches(self, size: int, count: int, purpose: str = "train", *, seed: int = 0) -> Batches:
        """Returns `count` batches of `size` samples, from the beginning of the stream."""
        return Batches(self, purpose, seed, size, count)

    def to_parquet(
        self, path: str | Path, purpose: str = "train", *, seed: int = 0, first: int = 0, count: int = 1000
    ) -> None:
        """Writes the same samples as a Parquet file: a row for each, lists without padding, and the manifest as the metadata
        `posbench`. Needs pip install 'posbench[data]'."""
        chunks = list(chunks_of(first, count))
        some = self.samples(purpose, seed=seed, first=first, count=1)
        samples = (self.samples(purpose, seed=seed, first=start, count=size) for start, size in chunks)
        about = dict(some.manifest, count=count)
        samples_to_parquet(path, list(some.columns()), about, (part.columns() for part in samples))


def chunks_of(first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yields the first number and the count of samples that are in memory at a time."""
    if first < 0 or count < 1:
        raise InputError(f"samples from {first} on, {count} of them; expected a first one from 0 on and at least one")
    for start in range(first, first + count, _CHUNK):
        yield start, min(_CHUNK, first + count - start)


def task(spec: str, *, profile: str | None = None, settings: Settings = (), config: str | Path | None = None) -> Task:
    """Returns the task of a spec, such as "flip_flop:length=32". Raises InputError for an unknown task or option."""
    made = Task(spec, tuple(configuration(profile, settings, config)))
    _ = made.manifest  # raises InputError for an invalid spec
    return made
