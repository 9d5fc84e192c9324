"""Reads and writes models as the program does: `posbench run --save-models`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .._program import Argument, InputError, call
from .._safetensors import read_arrays, write_arrays
from ..samples import Task
from .model import Transformer


def load_parameters(model: Transformer, path: str | Path, only_shared: bool = False) -> dict[str, str]:
    """Sets the parameters of a model to those of a file of the program; returns its metadata. With `only_shared` those
    of the encoding are not changed. Raises InputError if one is missing or has another shape."""
    arrays, metadata = read_arrays(path)
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
    """Writes a model in the program's format. If the program has the encoding, `posbench export` and
    `posbench inspect` read it. `manifest` is that of its task; `encoding` a spec, the encoding's own without it."""
    if model.mixer_name:
        raise InputError(
            f"the program has no mixer '{model.mixer_name}', so that it cannot read such a file; "
            "torch.save(model.state_dict(), path) writes one for PyTorch"
        )
    arrays = {}
    for name, (parameter, transposed) in model.file_parameters().items():
        values = parameter.detach().cpu().float().numpy()
        values = values.T if transposed else np.squeeze(values) if values.ndim > 2 else values  # (H, 1, 1) is (1, H)
        arrays[name] = values if values.ndim == 2 else values.reshape(1 if values.ndim < 2 else values.shape[0], -1)
    about = {
        "format": "posbench model 2",
        "task": manifest["task"],
        "encoding": encoding or model.encoding.spec,
        "seed": str(seed),
        "model": json.dumps(manifest["settings"]["model"]),
        "config": json.dumps(manifest["config"]),
    }
    write_arrays(path, arrays, about)


def forward(model: str | Path, task: Task, spec: str, seed: int, options: list[Argument]) -> None:
    """Runs `posbench export` on a saved model or a run directory."""
    call(["export", model, task.spec, spec, "--seed", seed, *options])


def save_initial(task: Task, spec: str, seed: int, path: Path) -> None:
    """Writes the program's model before training."""
    with tempfile.TemporaryDirectory(prefix="posbench-") as folder:
        config = Path(folder) / "config.json"
        config.write_text(call(["run", "--show-config", *task.flags]), encoding="utf-8")
        forward(config, task, spec, seed, ["--initial", "--model-output", path])
