"""The transformer of posbench as a PyTorch module, for position encodings written in PyTorch.

    class Recency(posbench.torch.Encoding):
        def __init__(self, config):
            super().__init__(config)
            self.rate = torch.nn.Parameter(torch.full((config.heads, 1, 1), 0.1))

        def score(self, a):
            return super().score(a) - self.rate * a.distance

    report = posbench.torch.run(Recency, tasks=["flip_flop"])

`posbench.torch.encodings` has encodings of the program, written the same way.
"""

from . import encodings
from .encoding import Attention, Encoding, ModelConfig
from .files import load_parameters, save_parameters
from .model import Transformer
from .runs import estimate, run
from .training import Training, initial_model, train
from .twin import Differences, twin

__all__ = [
    "Attention",
    "Differences",
    "Encoding",
    "ModelConfig",
    "Training",
    "Transformer",
    "encodings",
    "estimate",
    "initial_model",
    "load_parameters",
    "run",
    "save_parameters",
    "train",
    "twin",
]
