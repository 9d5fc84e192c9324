#!/usr/bin/env python3
"""Compares the speed of two builds of posbench.

Runs `posbench bench` of both builds at the same time on one core, several times, so that other load of the machine affects
both equally. Prints the median over these rounds of the ratio of the median times of a training step, for each size and
encoding. Exit code 1 if the second build is slower by more than --most in any row.

    scripts/compare_speed.py build/before/posbench build/release/posbench -e none,cope,dape --sizes quick,che
    scripts/compare_speed.py build/release/posbench build/release/posbench --isa v3,v4     one build, with and without AVX-512

Two runs of one build differ by a few percent, because the speed depends on the addresses of its memory. Compare a build with
itself to see the differences, and use other lists of encodings to average over them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys


def start(program, instruction_set, arguments):
    environment = {**os.environ, "POSBENCH_ISA": instruction_set} if instruction_set else None
    return subprocess.Popen(
        [program, "bench", "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )


def seconds(process):
    """Returns the median seconds of a training step by (size, length, encoding), from the output of a benchmark."""
    output, _ = process.communicate()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return {
        (row["size"], row["length"], row["encoding"]): row["spread"]["step_seconds"]["median"]
        for row in json.loads(output)["benchmarks"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a posbench program")
    parser.add_argument("after", help="another one")
    parser.add_argument("-e", "--encodings", default="none,alibi,rope,shaw_k,cope,dape")
    parser.add_argument("--sizes", default="quick,che")
    parser.add_argument("--rounds", type=int, default=5, help="runs of both builds")
    parser.add_argument("--isa", default=",", metavar="BEFORE,AFTER", help="instruction sets, if they differ")
    parser.add_argument("--most", type=float, default=1.05, help="largest ratio of times that passes")
    request = parser.parse_args()
    arguments = ["-e", request.encodings, "--sizes", request.sizes, "--repetitions", "9"]
    isa_before, isa_after = request.isa.split(",")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rounds = []
    for _ in range(request.rounds):
        both = [start(request.before, isa_before, arguments), start(request.after, isa_after, arguments)]
        rounds.append([seconds(process) for process in both])
    slower = 0
    print(f"{'size':<8}{'length':>7}  {'encoding':<24}{'after / before':>15}   lowest .. highest of {request.rounds}")
    for row in rounds[0][0]:
        ratios = sorted(after[row] / before[row] for before, after in rounds)
        ratio = statistics.median(ratios)
        slower += ratio > request.most
        print(
            f"{row[0]:<8}{row[1]:>7}  {row[2]:<24}{ratio:>15.3f}   {ratios[0]:.3f} .. {ratios[-1]:.3f}"
            + ("   SLOWER" if ratio > request.most else "")
        )
    return 1 if slower else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"compare_speed.py: {error}", file=sys.stderr)
        sys.exit(2)
