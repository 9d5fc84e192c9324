"""Reads and writes arrays in .safetensors files, the format in which the program and this package exchange them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._program import InputError

_TYPES = {"BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
_TYPES |= {f"{kind}{8 * width}": f"<{kind.lower()}{width}" for kind in "IU" for width in (1, 2, 4, 8)}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def _checksum(metadata: Mapping[str, str], numbers: bytes) -> str:
    """Returns what the program writes as `crc32` of the metadata."""
    crc = 0
    for key in sorted(metadata.keys() - {"crc32"}, key=str.encode):
        crc = zlib.crc32(f"{key}\0{metadata[key]}\0".encode(), crc)
    return f"{zlib.crc32(numbers, crc):08x}"


def read_arrays(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Returns the arrays and the metadata of a file. Raises InputError if it is truncated or of another format."""
    path = Path(path)
    try:
        bytes_ = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    end = 8 + int.from_bytes(bytes_[:8], "little")
    try:
        header, numbers = json.loads(bytes_[8:end]), bytes_[end:]
    except ValueError:
        raise InputError(f"{path} is no .safetensors file, or truncated") from None
    metadata: dict[str, str] = header.pop("__metadata__", {})
    if metadata.get("crc32", _checksum(metadata, numbers)) != _checksum(metadata, numbers):
        raise InputError(f"{path} is damaged: its contents have the checksum {_checksum(metadata, numbers)}")
    arrays = {}
    for name, about in header.items():
        first, last = about["data_offsets"]
        if about["dtype"] not in _TYPES or last > len(numbers):
            raise InputError(f"{path}: {name} is truncated, or has another type than {', '.join(_TYPES)}")
        arrays[name] = np.frombuffer(numbers[first:last], _TYPES[about["dtype"]]).reshape(about["shape"]).copy()
    return arrays, metadata


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """Writes arrays, such as those of numpy.load, and texts. Raises InputError for a type that is no number."""
    about = dict(metadata or {})
    header: dict[str, Any] = {"__metadata__": about}
    pieces, end = [], 0
    for name, array in arrays.items():
        array = np.asarray(array)
        array = array.astype(array.dtype.newbyteorder("<"), order="C")
        if array.dtype not in _NAMES:
            raise InputError(f"{path}: {name} has the type {array.dtype}, expected one of {', '.join(_TYPES)}")
        piece = array.tobytes()
        offsets = [end, end + len(piece)]
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
        pieces.append(piece)
        end += len(piece)
    about["crc32"] = _checksum(about, b"".join(pieces))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(pieces))
