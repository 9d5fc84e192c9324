"""Reads and writes parameters in .safetensors files in the format of `posbench run --save-models`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .._program import InputError
from .model import Transformer

_TYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8")}


def read_safetensors(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Returns the arrays and the metadata of a file."""
    path = Path(path)
    try:
        bytes_ = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    size = int.from_bytes(bytes_[:8], "little")
    if len(bytes_) < 8 or size > len(bytes_) - 8:
        raise InputError(f"{path} is no .safetensors file, or truncated")
    try:
        header, numbers = json.loads(bytes_[8 : 8 + size]), bytes_[8 + size :]
    except ValueError:
        raise InputError(f"{path} is no .safetensors file, or truncated") from None
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, about in header.items():
        first, last = about["data_offsets"]
        if about["dtype"] not in _TYPES or last > len(numbers):
            raise InputError(f"{path}: {name} is truncated, or neither F32 nor F64")
        arrays[name] = np.frombuffer(numbers[first:last], _TYPES[about["dtype"]]).reshape(about["shape"])
    return arrays, metadata


def write_safetensors(path: str | Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """Writes float32 arrays and texts."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    pieces, end = [], 0
    for name, array in arrays.items():
        piece = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [end, end + len(piece)]}
        pieces.append(piece)
        end += len(piece)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(pieces))


def load_parameters(model: Transformer, path: str | Path, only_shared: bool = False) -> dict[str, str]:
    """Sets the parameters of a model to those of a file of the program; returns its metadata. With `only_shared` those
    of the encoding are not changed. Raises InputError if one is missing or has another shape."""
    arrays, metadata = read_safetensors(path)
    own = {id(parameter) for parameter in model.encoding.parameters()}
    with torch.no_grad():
        for name, (parameter, transposed) in model.file_parameters().items():
            if only_shared and id(parameter) in own:
                continue
            if name not in arrays:
                raise InputError(f"{path}: {name} is missing")
            values = arrays[name].T if transposed else arrays[name]
            if values.size != parameter.numel() or (parameter.dim() == 2 and values.shape != tuple(parameter.shape)):
                raise InputError(f"{path}: {name} is {values.shape}, expected {tuple(parameter.shape)}")
            parameter.copy_(torch.from_numpy(np.array(values)).reshape(parameter.shape))
    return metadata


def save_parameters(
    model: Transformer, path: str | Path, manifest: Mapping[str, Any], encoding: str | None = None, seed: int = 0
) -> None:
    """Writes a model in the program's format. If the program has the encoding, `posbench forward` and
    `posbench inspect` read it. `manifest` is that of its task; `encoding` a spec, the encoding's own without it."""
    if model.mixer_name:
        raise InputError(
            f"the program has no mixer '{model.mixer_name}', so that it cannot read such a file; "
            "torch.save(model.state_dict(), path) writes one for PyTorch"
        )
    arrays = {}
    for name, (parameter, transposed) in model.file_parameters().items():
        values = parameter.detach().cpu().float().numpy()
        values = values.T if transposed else values
        arrays[name] = values if values.ndim == 2 else values.reshape(1 if values.ndim < 2 else values.shape[0], -1)
    config = manifest["config"]
    write_safetensors(
        path,
        arrays,
        {
            "format": "posbench model 2",
            "task": manifest["task"],
            "encoding": encoding or model.encoding.spec,
            "seed": str(seed),
            "model": json.dumps(manifest["settings"]["model"]),
            "config": json.dumps(config),
        },
    )
