"""posbench for Python: its samples as NumPy arrays, reports of any model's answers, and its program.

    samples = posbench.task("flip_flop:length=32").samples("train", seed=0, first=0, count=32)
    report = posbench.run(tasks=["flip_flop"], encodings=["cope", "rope"], profile="smoke")
    report.to_pandas()

`posbench.torch` has the same transformer as a PyTorch module, for position encodings written in PyTorch.
"""

from . import log
from ._program import InputError, PosbenchError, ProgramError, program_path
from ._safetensors import read_arrays, write_arrays
from .data import datasets
from .plots import Plot, Plots
from .report import Report, board, compare, table
from .runs import run, score
from .samples import Batches, Samples, Task, task
from .views import View

__all__ = [
    "Batches",
    "InputError",
    "Plot",
    "Plots",
    "PosbenchError",
    "ProgramError",
    "Report",
    "Samples",
    "Task",
    "View",
    "board",
    "compare",
    "datasets",
    "log",
    "program_path",
    "read_arrays",
    "run",
    "score",
    "table",
    "task",
    "write_arrays",
]
__version__ = "0.2.0"
