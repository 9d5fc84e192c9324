"""Opens saved models with readers of other projects.

    safetensors_test.py POSBENCH

Runs two small experiments with --save-models. Reads the models with NumPy by the description of the format, and with
Python's safetensors if it is installed. Compares names, shapes and values with the counts of the report. Exit code 77:
skipped, because NumPy is not installed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy
except ImportError:
    debian = "/usr/bin/python3"  # where the package python3-numpy goes
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    print("skipped: no Python module numpy (Debian: python3-numpy)")
    sys.exit(77)

RUN = ["run", "--profile", "smoke", "-t", "flip_flop", "-e", "none,learned_abs", "--set", "training.steps=4", "-q"]


def by_format(path):
    """Reads the format by its specification: 8 bytes of header size, JSON, one block without gaps."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, block = json.loads(data[8 : 8 + size]), data[8 + size :]
    metadata, arrays, end = header.pop("__metadata__"), {}, 0
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        assert begin == end and entry["dtype"] == "F32", (name, entry)
        arrays[name] = numpy.frombuffer(block[begin:stop], "<f4").reshape(entry["shape"])
        end = stop
    assert end == len(block) and size % 8 == 0
    return metadata, arrays


def by_library(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def check(run, read):
    experiments = {e["encoding"]: e for e in json.loads((run / "report.json").read_text())["experiments"]}
    models = {}
    for path in sorted((run / "models").iterdir()):
        metadata, arrays = read(path)
        experiment = experiments[metadata["encoding"]]
        assert metadata["task"] == experiment["task"] and metadata["seed"] == str(experiment["seed"])
        assert sum(array.size for array in arrays.values()) == experiment["parameters"]
        assert all(array.dtype == numpy.float32 and numpy.isfinite(array).all() for array in arrays.values())
        models[metadata["encoding"]] = arrays
    none, learned = models["none"], models["learned_abs"]
    assert set(learned) - set(none) == {"learned_abs.table"} and set(none) < set(learned)
    assert none["output.weight"].shape == none["embedding.weight"].shape[::-1]
    assert learned["learned_abs.table"].shape[1] == none["embedding.weight"].shape[1]
    # One seed starts both from the same embedding; four steps at this learning rate move it by no more than this.
    assert 0 < numpy.abs(none["embedding.weight"] - learned["embedding.weight"]).max() <= 0.0081


def main(posbench):
    try:
        import safetensors  # noqa: F401

        readers = [by_format, by_library]
    except ImportError:
        readers = [by_format]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        subprocess.run([posbench, *RUN, "--save-models", "-o", run], check=True, stdout=subprocess.DEVNULL)
        for read in readers:
            check(run, read)
            print(f"read {read.__name__}")


main(*sys.argv[1:])
