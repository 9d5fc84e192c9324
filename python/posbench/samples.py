"""Provides the samples on which `posbench run` trains, validates and tests."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Callable

import numpy as np

from ._program import InputError, Settings, call, configuration


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
    flags: tuple[str, ...] = ()  # of the configuration

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """Returns the manifest of its samples: version, options, vocabulary, words, splits, lengths, settings."""
        return self._export("train", 0, 0, 1, "jsonl", lambda path: {})[1]

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

        def read(path: Path) -> dict[str, np.ndarray]:
            with np.load(path) as arrays:
                return dict(arrays)

        arrays, about = self._export(purpose, seed, first, count, "npz", read)
        return Samples(**arrays, manifest=about)

    def batches(self, size: int, count: int, purpose: str = "train", *, seed: int = 0) -> Batches:
        """Returns `count` batches of `size` samples, from the beginning of the stream."""
        return Batches(self, purpose, seed, size, count)

    def to_parquet(
        self, path: str | Path, purpose: str = "train", *, seed: int = 0, first: int = 0, count: int = 1000
    ) -> None:
        """Writes the same samples as a Parquet file: a row for each, lists without padding, and the manifest as the metadata
        `posbench`. Needs pip install 'posbench[data]'."""
        from .data import samples_to_parquet

        samples_to_parquet(self, path, purpose, seed, first, count)

    def _export(
        self, purpose: str, seed: int, first: int, count: int, form: str, read: Callable[[Path], dict[str, np.ndarray]]
    ) -> tuple[dict[str, np.ndarray], Mapping[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
            path, manifest = Path(folder) / f"samples.{form}", Path(folder) / "manifest.json"
            call(
                [
                    "export",
                    self.spec,
                    "--split",
                    purpose,
                    "--seed",
                    seed,
                    "--first",
                    first,
                    "--count",
                    count,
                    "-o",
                    path,
                    "--manifest",
                    manifest,
                    *self.flags,
                ]
            )
            return read(path), json.loads(manifest.read_text())


def task(spec: str, *, profile: str | None = None, settings: Settings = (), config: str | Path | None = None) -> Task:
    """Returns the task of a spec, such as "flip_flop:length=32". Raises InputError for an unknown task or option."""
    made = Task(spec, tuple(configuration(profile, settings, config)))
    _ = made.manifest  # raises InputError for an invalid spec
    return made
