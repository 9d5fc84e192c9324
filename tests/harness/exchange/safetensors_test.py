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

try:
    import numpy
except ImportError:
    debian = "/usr/bin/python3"  # where the package python3-numpy goes
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    print("skipped: no Python module numpy (Debian: python3-numpy)")
    sys.exit(77)


def by_format(path):
    """Reads the format by its specification: 8 bytes of header size, JSON, one block without gaps."""
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert size % 8 == 0 and data[8:9] == b"{"
    block = data[8 + size :]
    metadata = header.pop("__metadata__")
    tensors, end = {}, 0
    for name, entry in header.items():
        begin, stop = entry["data_offsets"]
        assert begin == end and entry["dtype"] == "F32", (name, entry)
        tensors[name] = numpy.frombuffer(block[begin:stop], "<f4").reshape(entry["shape"])
        end = stop
    assert end == len(block)
    return metadata, tensors


def by_library(path):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def readers():
    try:
        import safetensors  # noqa: F401
    except ImportError:
        return [by_format]
    return [by_format, by_library]


def check(directory, read):
    with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
        experiments = {e["encoding"]: e for e in json.load(file)["experiments"]}
    models = {}
    for name in sorted(os.listdir(os.path.join(directory, "models"))):
        metadata, tensors = read(os.path.join(directory, "models", name))
        assert all(type(value) is str for value in metadata.values())
        models[metadata["encoding"]] = (metadata, tensors)
        experiment = experiments[metadata["encoding"]]
        assert metadata["task"] == experiment["task"] and metadata["seed"] == str(experiment["seed"])
        assert sum(t.size for t in tensors.values()) == experiment["parameters"]
        for tensor in tensors.values():
            assert tensor.dtype == numpy.float32 and tensor.ndim == 2 and numpy.isfinite(tensor).all()
    width = json.loads(models["none"][0]["model"])["width"]
    none, learned = models["none"][1], models["learned_abs"][1]
    assert none["embedding.weight"].shape[1] == width
    assert none["output.weight"].shape == none["embedding.weight"].shape[::-1]
    assert set(learned) - set(none) == {"learned_abs.table"} and set(none) < set(learned)
    assert learned["learned_abs.table"].shape[1] == width
    # One seed starts both from the same embedding; four steps at this learning rate move it by no more than this.
    difference = numpy.abs(none["embedding.weight"] - learned["embedding.weight"]).max()
    assert 0 < difference <= 0.0081, difference
    assert 0.5 < none["embedding.weight"].std() < 1.5


def main(posbench):
    with tempfile.TemporaryDirectory() as temporary:
        directory = os.path.join(temporary, "run")
        command = [
            posbench,
            "run",
            "--profile",
            "smoke",
            "-t",
            "flip_flop",
            "-e",
            "none,learned_abs",
            "--save-models",
            "--set",
            "training.steps=4",
            "-q",
            "-o",
            directory,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for read in readers():
            check(directory, read)
            print(f"read {read.__name__}")


main(*sys.argv[1:])
