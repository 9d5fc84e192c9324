"""The command `python -m posbench.log`."""

from __future__ import annotations

import argparse
import sys

from .._program import PosbenchError, ProgramError
from . import follow


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m posbench.log", description="Log a run until it ends.")
    parser.add_argument("run", help="run directory, that of 'posbench run -o'")
    parser.add_argument("--to", required=True, help="tensorboard, wandb, mlflow or trackio")
    parser.add_argument("--project", help="project of W&B and Trackio, experiment of MLflow [default: posbench]")
    parser.add_argument("--directory", help="directory of TensorBoard [default: log/tensorboard in the run directory]")
    parser.add_argument("--once", action="store_true", help="log what there is, and do not wait for more")
    parser.add_argument("--every", type=float, default=5, help="seconds between two looks at the run [default: 5]")
    given = parser.parse_args()
    if not 0 < given.every < float("inf"):
        parser.error(f"--every is {given.every:g}, expected a number of seconds above 0")
    try:
        options = {"project": given.project, "directory": given.directory, "once": given.once, "every": given.every}
        complete = follow(given.run, given.to, **options)
    except PosbenchError as error:
        print(f"posbench.log: {error}", file=sys.stderr)
        return 1 if isinstance(error, ProgramError) else 2
    except KeyboardInterrupt:
        return 130
    if not complete and not given.once:
        print(
            f"posbench.log: {given.run} is not running and is not complete; after 'posbench run --resume -o {given.run}' "
            "the same command continues this log",
            file=sys.stderr,
        )
    return 0 if complete or given.once else 1


if __name__ == "__main__":
    sys.exit(main())
